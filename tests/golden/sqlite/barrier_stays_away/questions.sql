SELECT rank, slot, peer, result, begin_ns, end_ns, latency_ns, blocked_ns, lag_ns, released_by_rank, released_by_reason FROM waits
SELECT rank, slot, slot_label, peer, need, observed, polls, open_ns, supplier_known_from FROM open_waits
SELECT * FROM wait_latency_histogram
SELECT waits, passed, failed, open, events, emitted, lost FROM run
SELECT wait, rank, peer, begin_ns, end_ns FROM rank_waits
SELECT rank, peer, local, waits, blocked_ns FROM wait_share
SELECT promise, known_from, pad, a FROM plans
