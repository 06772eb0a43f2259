SELECT * FROM arrivals
SELECT * FROM signals
SELECT rank, slot, peer, latency_ns, lag_ns, reads_from_reason, released_by_reason, released_by_event, released_by_rank FROM waits
SELECT * FROM not_known
