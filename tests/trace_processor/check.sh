#!/bin/bash
# check.sh CASE MAKE_TRACE SQL_PACKAGE XS [SCRIPT]: writes the trace of a counted run, or of what a script describes, and asks
# trace_processor about it.
# Exit 77: there is no trace_processor.
set -u
case=$1 make=$2 package=$3 xs=$4 script=${5:-}
tp=${XS_TRACE_PROCESSOR:-}
[ -n "$tp" ] || tp=$(command -v trace_processor_shell || command -v trace_processor) || tp=
[ -x "$tp" ] || { echo "no trace_processor (XS_TRACE_PROCESSOR)"; exit 77; }
dir=$(mktemp -d) || exit 70
trap 'rm -rf "$dir"' EXIT
failed=0

"$make" "$dir" ${script:+script} "${script:-$case}" >"$dir/counts" || { echo "the trace was not made"; exit 1; }
count() { awk -v name="$1" '$1 == name {print $2}' "$dir/counts"; }

# query TRACE SQL: rows without the heading, or the error itself, so that no expectation is met by silence
query() { "$tp" query --add-sql-package "$package" "$1" "$2" 2>"$dir/errors" >"$dir/rows" && sed 1d "$dir/rows" || cat "$dir/errors"; }

expect() { # TRACE WHAT EXPECTED SQL
    local got
    got=$(query "$1" "$4")
    [ "$got" = "$3" ] && return
    printf '%s: %s\n  expected: %s\n  got:      %s\n' "$(basename "$1")" "$2" "$3" "$got"
    failed=1
}

bad_stats="select name, value from stats where value != 0 and (severity in ('error', 'data_loss', 'notice') or name glob 'flow_*' or
  name in ('track_event_parser_errors', 'track_event_tokenizer_errors', 'interned_data_tokenizer_errors',
  'tokenizer_skipped_packets', 'track_hierarchy_missing_uuid'))"
edges="select (select count(*) from flow f join slice s on s.id = f.slice_in + f.slice_out - w.id
  where w.id in (f.slice_in, f.slice_out) and s.category = 'signal') n
  from slice w where category = 'wait' and dur >= 0 and extract_arg(arg_set_id, 'debug.supplier') not glob '* gemm'"
pairs="from slice w join flow f on w.id in (f.slice_in, f.slice_out) join slice s on s.id = f.slice_in + f.slice_out - w.id
  where w.category = 'wait' and s.category = 'signal'"

# What holds in every trace, windows and overview too.
sound() { # TRACE
    if [ "$case" != loss ]; then
        expect "$1" "import statistics" "" "$bad_stats"
        expect "$1" "import log" "0" "select count(*) from _trace_import_logs where severity != 'info'"
    fi
    expect "$1" "flat waits" "0" "select count(*) from slice where category = 'wait' and depth > 0"
    expect "$1" "nothing inside a wait" "0" "select count(*) from slice c join slice p on c.parent_id = p.id where p.category = 'wait'"
    expect "$1" "no slice of no length" "0" "select count(*) from slice s join track t on t.id = s.track_id
      where s.dur = 0 and t.name != 'arrive, pass' and s.category not in ('signal', 'mark')"
    expect "$1" "colours" "0" "select count(*) from slice where category in ('wait', 'pass', 'signal', 'blame', 'critical path')
      and extract_arg(arg_set_id, 'correlation_id') is null"
    expect "$1" "ends of edges" "0,0" "select count(*), 0 $pairs and extract_arg(w.arg_set_id, 'debug.slot') != extract_arg(s.arg_set_id, 'debug.slot')"
    expect "$1" "observed" "0" "select count(*) from slice where category = 'wait' and extract_arg(arg_set_id, 'debug.result') = 'OK'
      and extract_arg(arg_set_id, 'debug.observed') < extract_arg(arg_set_id, 'debug.need')"
    # The viewer puts one without into a group of its own, and the rows behind it too.
    expect "$1" "every row at the top has one below" "" "include perfetto module viz.summary.track_event; select name from
      _track_event_tracks_ordered_groups where parent_id is null and upid is null and utid is null and has_data and not has_children"
    expect "$1" "complete" "1" "select int_value from metadata where name = 'trace_attribute.xs.complete'"
}

whole() { # TRACE
    local remote rows r open='' i
    rows=$'"epochs"\n"findings"'
    [ "$case" = options ] && rows=$'"critical path"\n'$rows # `xs export` judges, the others draw only
    for ((r = 0; r < $(count ranks); r++)); do
        rows+=$'\n'"\"rank $r waits for\""
        ((i = $(count open$r))) && open+="${open:+$'\n'}\"rank $r · CPU\",$i"
        expect "$1" "last of the counter of rank $r" "$(count open$r)" "select cast(value as int) from counter c join track t on t.id = c.track_id
          join track p on p.id = t.parent_id where t.name = 'open waits' and p.name = 'rank $r waits for' order by ts desc, c.id desc limit 1"
    done
    local groups="include perfetto module viz.summary.track_event; select name from _track_event_tracks_ordered_groups
      where parent_id is null and upid is null and utid is null"
    expect "$1" "rows at the top" "$rows" "$groups and has_data and has_children order by order_id"
    expect "$1" "no other row at the top" "$rows" "$groups order by order_id"
    expect "$1" "open waits" "$open" "select p.name, count(*) from slice s join process_track t on t.id = s.track_id join process p using (upid)
      where s.category = 'wait' and s.dur = -1 group by 1 order by 1"
    expect "$1" "order of processes" "4" "select count(*) from process where pid >= 5000000"
    [ "$case" = loss ] && return
    remote=$(($(count waits) - $(count gate_waits)))
    expect "$1" "one edge a wait" "$remote,$remote" "select count(*), sum(n = 1) from ($edges)"
    expect "$1" "waits" "$(count waits)" "select count(*) from slice where category = 'wait' and dur >= 0"
    expect "$1" "passes and signals" "$(count passes),$(count signals)" "select sum(category = 'pass'), sum(category = 'signal') from slice"
    expect "$1" "bounded names" "1" "select count(distinct name) <= $(count slots) from slice where category = 'wait' and dur >= 0"
    [ "$case" = away ] || expect "$1" "who is to blame" '"rank 2"' "select name from slice where category = 'blame' and dur > 0 group by 1 order by sum(dur) desc limit 1"
    expect "$1" "package: waits" "$(count waits),$(count passes)" "include perfetto module xs.waits;
      select sum(kind = 'wait' and dur >= 0), sum(kind = 'pass') from xs_waits"
    expect "$1" "package: latency" "$(count waits)" "include perfetto module xs.waits; select sum(waits) from xs_wait_latency"
    expect "$1" "package: every slot has a class" '"bar","done","gate"' "include perfetto module xs.waits;
      select min(class), (select class from xs_wait_latency where class = 'done' limit 1), max(class) from xs_wait_latency"
    expect "$1" "package: signals" "$(count signals)" "include perfetto module xs.waits; select count(*) from xs_signals"
}

case $case in
loss)
    sound "$dir/run.perfetto"
    whole "$dir/run.perfetto"
    expect "$dir/run.perfetto" "loss in the statistics" "$(count lost)" "select sum(value) from stats where name = 'traced_buf_trace_writer_packet_loss'"
    expect "$dir/run.perfetto" "only declared loss" $'"traced_buf_data_loss_overwrite"\n"traced_buf_sequence_packet_loss"\n"traced_buf_trace_writer_packet_loss"' \
        "select name from ($bad_stats) order by 1"
    expect "$dir/run.perfetto" "loss on the rows" "$(count lost)" "select sum(extract_arg(arg_set_id, 'debug.lost')) from slice where category = 'loss'"
    ;;
windows)
    [ "$(count files)" -gt 3 ] || { echo "only $(count files) files"; failed=1; }
    for trace in "$dir"/*.perfetto; do
        sound "$trace"
    done
    expect "$dir/run.overview.perfetto" "epochs of the overview" "$(count epochs)" "select count(*) from slice where category = 'epoch'"
    ;;
options) # of `xs export`
    # Packed it is the same trace.
    "$xs" export "$dir/run" --perfetto -q -o "$dir/plain" && "$xs" export "$dir/run" --perfetto -q -o "$dir/packed" --compress || failed=1
    sums="select count(*), sum(ts), sum(dur), sum(length(name)) from slice union all select count(*), sum(slice_in), sum(slice_out), 0 from flow
      union all select count(*), sum(ts), sum(value), 0 from counter union all select count(*), sum(int_value), sum(length(flat_key)),
      sum(length(string_value)) from args"
    sound "$dir/packed.perfetto"
    expect "$dir/packed.perfetto" "packed: slices, flows, counters, arguments" "$(query "$dir/plain.perfetto" "$sums")" "$sums"
    [ "$(wc -c <"$dir/packed.perfetto")" -lt "$(($(wc -c <"$dir/plain.perfetto") / 2))" ] || { echo "packed: no smaller"; failed=1; }
    "$xs" export "$dir/run" --perfetto -q -o "$dir/opt" --merge-roles --slots 'rank 0 done[src=2*' --gpu-events --compress || failed=1
    trace=$dir/opt.perfetto
    sound "$trace"
    whole "$trace"
    expect "$trace" "slots" "$(count chunks),$(count chunks)" "select count(distinct t.id), count(distinct t.name) from state s join track t on t.id = s.track_id"
    expect "$trace" "states" "$(($(count chunks) * $(count epochs))),$(($(count chunks) * $(count epochs)))" \
        "select sum(value = 'signalled, not seen'), sum(value = 'seen') from state"
    expect "$trace" "GPU events" "$(count ranks),1" "select count(*), count(distinct name) from gpu_slice"
    expect "$trace" "GPU events end with the rows" "0" "select count(*) from gpu_slice g where not exists (select 1 from slice s
      where s.category = 'kernel' and s.ts = g.ts and s.dur = g.dur and s.name = g.name)"
    expect "$trace" "one row set a role" "$((3 * $(count ranks)))" "include perfetto module viz.summary.track_event;
      select count(*) from _track_event_tracks_ordered_groups where name = 'all writers'"
    expect "$trace" "who wrote what" "0" "select count(*) from slice s join track t on t.id = s.track_id where t.name = 'all writers'
      and extract_arg(s.arg_set_id, 'debug.writer') is null"
    ;;
kernels) # what CUPTI tells of
    trace=$dir/run.perfetto
    sound "$trace"
    expect "$trace" "kernels, copies, calls" $'"call","cuLaunchCooperativeKernel",1\n"copy","host to device",1\n"kernel","stamps",3' \
        "select category, name, count(*) from slice where category in ('kernel', 'copy', 'call') group by 1, 2 order by 1"
    expect "$trace" "GPU events" "3" "select count(*) from gpu_slice where name = 'stamps'"
    ;;
findings)
    trace=$dir/run.perfetto
    sound "$trace"
    expect "$trace" "findings" "3,0" "select count(*), sum(depth > 0) from slice where category = 'finding'"
    lasted=$("$xs" query "$dir/run" --csv "select key, iif(end_ns is null, -1, max(end_ns - begin_ns, 1)) from findings order by 1" | sed '1d; s/\r$//; s/^\([^",]*\),/"\1",/')
    expect "$trace" "as long as the database says" "$lasted" "select extract_arg(arg_set_id, 'debug.id'), dur from slice where category = 'finding' order by 1"
    expect "$trace" "one row of findings" "1" "include perfetto module viz.summary.track_event;
      select count(*) from _track_event_tracks_ordered_groups where name = 'findings'"
    expect "$trace" "critical path" "1,0,1" "select count(distinct t.id), sum(s.depth), sum(s.dur = -1) from slice s join track t on t.id = s.track_id
      where s.category = 'critical path' and t.name = 'critical path'"
    expect "$trace" "critical path without a hole" "0" "select count(*) from (select ts, dur, lead(ts) over (order by ts, s.id) n from slice s
      join track t on t.id = s.track_id where t.name = 'critical path') where n is not null and n != ts + dur"
    expect "$trace" "every piece on a rank's row, too" "0" "select sum(iif(t.name = 'critical path', 1, -1)) from slice s
      join track t on t.id = s.track_id where s.category = 'critical path'"
    expect "$trace" "labels of ranks" "1" "select count(*) > 0 from process p join args a using (arg_set_id) where a.key glob 'chrome.process_label*'
      and a.string_value glob '*finding*'"
    expect "$trace" "arrows to all of the evidence" "0" "select count(*) from slice f where category = 'finding' and
      (select count(*) from flow e where f.id in (e.slice_in, e.slice_out)) !=
      1 + length(extract_arg(arg_set_id, 'debug.evidence')) - length(replace(extract_arg(arg_set_id, 'debug.evidence'), ' ', ''))"
    expect "$trace" "arrows from signals" "2,3" "select count(distinct f.id), count(*) from slice f join flow e on f.id in (e.slice_in, e.slice_out)
      join slice s on s.id = e.slice_in + e.slice_out - f.id where f.category = 'finding' and s.category = 'signal'"
    expect "$trace" "an arrow from the wait that proves it" "2" "select count(*) from slice f join flow e on f.id in (e.slice_in, e.slice_out)
      join slice w on w.id = e.slice_in + e.slice_out - f.id where f.name glob 'ERROR lost-supplier: *' and w.category = 'wait'"
    ;;
*)
    sound "$dir/run.perfetto"
    whole "$dir/run.perfetto"
    ;;
esac
[ $failed = 0 ] && echo "$case: as expected"
exit $failed
