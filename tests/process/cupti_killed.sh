#!/usr/bin/env bash
# A process that is killed under `xs record` while CUPTI delivered: the capture says until when.
# cupti_killed.sh XS APP FAKE-CUPTI
set -euo pipefail
xs=$1 app=$2 fake=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*" >&2; exit 1; }

XS_CUPTI=1 XS_CUPTI_LIBRARY=$fake "$xs" record --no-export -o "$folder/run" -- "$app" "$folder/counters" 1000000000 20000 "cupti:$folder/run.xs" 2>/dev/null || true
told=$("$xs" query "$folder/run" "SELECT state || ' ' || (until_ns > since_ns) AS told FROM cupti" | tail -n 1)
[ "$told" = "ON 1" ] || fail "the database says '$told' of CUPTI, expected 'ON 1'"
report=$("$xs" report "$folder/run")
[[ $report =~ "CUPTI is missing from "[0-9.]+" s after its start on" ]] || fail "the report does not say from when CUPTI is missing"
"$xs" export "$folder/run" 2>/dev/null
grep -aq "CUPTI no" "$folder/run.perfetto" || fail "the trace does not say that CUPTI went"
echo PASS
