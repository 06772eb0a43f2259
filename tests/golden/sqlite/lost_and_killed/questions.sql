SELECT * FROM loss
SELECT * FROM loss_gaps
SELECT rank, slot, begin_ns, end_ns, latency_ns, result, passed, open, start_lost, end_lost FROM waits
SELECT closed, cut, unclean, lost, torn, emitted FROM run
SELECT bucket, waits FROM wait_tally
SELECT key, value FROM meta WHERE key IN ('starts_lost', 'ends_lost', 'complete', 'closed')
