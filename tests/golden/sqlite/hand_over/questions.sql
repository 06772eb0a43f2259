SELECT * FROM waits
SELECT id, rank, slot, peer, latency_ns, lag_ns, late_ns, result, released_by_rank, released_by_reason FROM slowest_waits
SELECT * FROM wait_latency
SELECT * FROM wait_latency_histogram
SELECT id, time_ns, event, rank, writer, role, epoch, slot, name, object, value, need, detail, a, b, c, ordering, scope, result FROM events
SELECT * FROM signals
SELECT * FROM epochs
SELECT id, begin_ns, end_ns, grid, block, first_rank, ranks, result, (SELECT name FROM kernel WHERE id = kernel) AS kernel FROM launch
SELECT id, rank, ring, role, block, warp, begin_ns, end_ns, name FROM writer
SELECT * FROM not_known
SELECT class, id, name FROM word WHERE class IN ('reason', 'loss', 'result')
