#!/usr/bin/env bash
# torch.sh FOLDER before|beside|after|none: with torch.profiler in the process both get what they can, and xs says who had CUPTI where it
# had not.
source "$(dirname "$0")/../common/common.sh"
run=$work/run
python=${XS_PYTHON:-python3}
command -v "$python" > /dev/null || { echo "skipped: no python3"; exit 77; }
code=0
"$python" "$(dirname "$0")/beside_torch.py" "$BIN/gpu_in_python.module" "$run.xs" "$2" > "$work/out" 2>&1 || code=$?
cat "$work/out"
[ "$code" != 77 ] || exit 77 # it has said why
same "exit code" "$code" 0
has "$work/out" "numbers right"
state=$(ask "$run" 'select state from cupti')
kernels=$(ask "$run" "select count(*) from kernels where kernel = 'brief'")
said=$(ask "$run" 'select why from cupti')
echo "xs: CUPTI $state, $kernels kernels of its own told, \"$said\""
"$XS" report "$run" > "$work/report"
case $state in
ENDED) at_least "kernels of xs that CUPTI told of" "$kernels" 20 ;;
HELD)
    has "$work/report" "torch.profiler"
    ;;
LOST)
    [ -n "$said" ] || fail "nothing is said"
    has "$work/report" "CUPTI"
    ;;
*) fail "CUPTI $state" ;;
esac
[ "$2" != none ] || same "state" "$state" ENDED
[ "$2" != after ] || [ "$state" != HELD ] || fail "nobody had CUPTI when the world was made"
at_least "writers" "$(ask "$run" 'select count(*) from writer')" 20
