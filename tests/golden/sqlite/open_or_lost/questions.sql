SELECT rank, slot, open, end_lost, result FROM waits
SELECT rank, slot, open_ns, has, end_lost FROM (SELECT *, observed AS has FROM open_waits)
SELECT waits, open, lost FROM run
