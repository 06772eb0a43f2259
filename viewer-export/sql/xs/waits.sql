-- Waits and signals of a trace that xs made. Times are nanoseconds.

-- Every wait, passed at its first poll or not, ended or open.
CREATE PERFETTO VIEW xs_waits (
  -- Slice of the wait, or instant of a pass.
  id LONG,
  -- When it began.
  ts TIMESTAMP,
  -- How long it took; 0 for a pass, -1 while it is open.
  dur DURATION,
  -- wait or pass.
  kind STRING,
  -- Slot that it waited on, with its owner: rank 0 done[src=2,chunk=12].
  slot STRING,
  -- The same without the owner.
  slot_name STRING,
  -- Number of the slot, as in the database.
  slot_id LONG,
  -- Process of the waiting rank.
  upid LONG,
  -- Number of the waiting rank.
  rank LONG,
  -- Who waited: role, block and warp.
  writer STRING,
  -- Who owes the signal or made it: rank and role.
  supplier STRING,
  -- Rank of the supplier.
  supplier_rank LONG,
  -- Value that was needed.
  need LONG,
  -- Value that was seen last.
  observed LONG,
  -- OK, TIMEOUT, PEER_DEAD, ABORTED or OPEN; OK for a pass.
  result STRING,
  -- From the signal to the end of the wait.
  lag_ns LONG,
  -- Polls of a wait that had to wait.
  polls LONG,
  -- Sleep between polls that was asked for, at most the latency; 0 for threads of a host, which yield.
  slept_ns LONG,
  -- Epoch of the writer.
  epoch LONG,
  -- Slice of the signal that released it.
  signal_id LONG
) AS
SELECT
  s.id,
  s.ts,
  s.dur,
  s.category AS kind,
  extract_arg(s.arg_set_id, 'debug.slot') AS slot,
  -- behind "rank N "
  substr(
    extract_arg(s.arg_set_id, 'debug.slot'),
    instr(substr(extract_arg(s.arg_set_id, 'debug.slot'), 6), ' ') + 6
  ) AS slot_name,
  extract_arg(s.arg_set_id, 'debug.slot_id') AS slot_id,
  t.upid,
  p.pid - 5000000 AS rank,
  extract_arg(s.arg_set_id, 'debug.writer') AS writer,
  extract_arg(s.arg_set_id, 'debug.supplier') AS supplier,
  cast_int!(substr(extract_arg(s.arg_set_id, 'correlation_id'), 6)) AS supplier_rank,
  extract_arg(s.arg_set_id, 'debug.need') AS need,
  extract_arg(s.arg_set_id, 'debug.observed') AS observed,
  iif(s.category = 'pass', 'OK', extract_arg(s.arg_set_id, 'debug.result')) AS result,
  extract_arg(s.arg_set_id, 'debug.lag_ns') AS lag_ns,
  extract_arg(s.arg_set_id, 'debug.polls') AS polls,
  extract_arg(s.arg_set_id, 'debug.slept_ns') AS slept_ns,
  extract_arg(s.arg_set_id, 'debug.epoch') AS epoch,
  (
    SELECT g.id
    FROM flow AS f
    JOIN slice AS g
      ON g.id = f.slice_in + f.slice_out - s.id
    WHERE s.id IN (f.slice_in, f.slice_out) AND g.category = 'signal'
    LIMIT 1
  ) AS signal_id
FROM slice AS s
JOIN process_track AS t
  ON t.id = s.track_id
JOIN process AS p
  USING (upid)
WHERE s.category IN ('wait', 'pass') AND s.name NOT GLOB '* short wait*';

-- Every signal: a slot stored, or a watermark moved.
CREATE PERFETTO VIEW xs_signals (
  -- Slice or instant of the signal.
  id LONG,
  -- When it was made; of an election's signal, when the writer was elected.
  ts TIMESTAMP,
  -- From the election to the signal; 0 where nobody was elected.
  dur DURATION,
  -- Slot that was stored, with its owner.
  slot STRING,
  -- Number of the slot, as in the database.
  slot_id LONG,
  -- Value that was stored.
  value LONG,
  -- Rank that signalled.
  rank LONG,
  -- Rank that owns the slot.
  dst LONG,
  -- Scope of the store.
  scope STRING,
  -- Fence in front of the store.
  fence STRING,
  -- Counter whose last arrival elected the writer.
  counter STRING,
  -- Epoch of the writer.
  epoch LONG,
  -- How many waits and passes it released.
  released LONG
) AS
SELECT
  s.id,
  s.ts,
  s.dur,
  extract_arg(s.arg_set_id, 'debug.slot') AS slot,
  extract_arg(s.arg_set_id, 'debug.slot_id') AS slot_id,
  extract_arg(s.arg_set_id, 'debug.value') AS value,
  p.pid - 5000000 AS rank,
  extract_arg(s.arg_set_id, 'debug.dst') AS dst,
  extract_arg(s.arg_set_id, 'debug.scope') AS scope,
  extract_arg(s.arg_set_id, 'debug.fence') AS fence,
  extract_arg(s.arg_set_id, 'debug.counter') AS counter,
  extract_arg(s.arg_set_id, 'debug.epoch') AS epoch,
  (
    SELECT count(*)
    FROM flow AS f
    WHERE f.slice_in = s.id
  ) + (
    SELECT count(*)
    FROM flow AS f
    WHERE f.slice_out = s.id
  ) AS released
FROM slice AS s
JOIN process_track AS t
  ON t.id = s.track_id
JOIN process AS p
  USING (upid)
WHERE s.category = 'signal';

-- Latency of waits that had to wait and ended, per waiting rank, supplier and class of slots.
CREATE PERFETTO VIEW xs_wait_latency (
  -- Rank that waited.
  rank LONG,
  -- Rank and role that owed the signals.
  supplier STRING,
  -- Class of slots: the name before the brackets.
  class STRING,
  -- Number of waits.
  waits LONG,
  -- Time waited in all.
  total_dur DURATION,
  -- Half of the waits took no longer.
  p50_dur LONG,
  -- 90 % took no longer.
  p90_dur LONG,
  -- 99 % took no longer.
  p99_dur LONG,
  -- The longest.
  max_dur DURATION
) AS
SELECT
  rank,
  supplier,
  substr(slot_name, 1, instr(slot_name || '[', '[') - 1) AS class,
  count(*) AS waits,
  sum(dur) AS total_dur,
  cast_int!(percentile(dur, 50)) AS p50_dur,
  cast_int!(percentile(dur, 90)) AS p90_dur,
  cast_int!(percentile(dur, 99)) AS p99_dur,
  max(dur) AS max_dur
FROM xs_waits
WHERE kind = 'wait' AND dur >= 0
GROUP BY rank, supplier, class;
