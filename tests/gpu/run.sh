#!/usr/bin/env bash
# Runs the GPU tests of a build: the same list as `ctest -L gpu`, also where the build was carried to another machine or path.
set -uo pipefail
usage() {
    cat <<'EOT'
usage: tests/gpu/run.sh [-b BUILD] [-o FOLDER] [-l LABEL] [-x LABEL] [-n REGEX] [-s SECONDS] [-j N] [-p K/N] [MODE] [REGEX]

  run        each test in a process of its own, with its time limit (the default)
  sanitizer  the same under compute-sanitizer, memcheck and racecheck, but for label gpu-fault, without CUPTI
  list       only say what there is
  faults     the fault matrix, 50 runs a fault, within -s seconds (840), into FOLDER/faults.K-N.md; here what missed its bar and what was
             found instead, in less than 10 kB; -p K/N the K-th of N parts
  all-in-budget SECONDS [TABLE]  tests and benchmarks, by what matters most, over in so many seconds (budget.sh); a table goes into FOLDER:
             FOLDER/table.txt. TABLE is that of an earlier run: what failed or did not run there comes first
  pack       put what travels (stripped, no objects) into BUILD/carry and say its size; run it there with -b BUILD/carry

-b BUILD    the build (build/gpu)      -o FOLDER  logs and files of tests ($OUT, or BUILD/tests/gpu/logs)
-l, -x      only, or not, tests with this label     -s  start no further test after so many seconds in all
-n REGEX    not the tests whose name it matches
-j N        so many at once (1); tests of times want the GPU for themselves
REGEX       only tests whose name it matches

Prints PASS, FAIL or SKIP a test and a total. Exit code 1 when a test failed or none passed, 77 when all were skipped.
EOT
}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/gpu logs=${OUT:-} only="" but="" never="" most=100000 jobs=1 part=1/1
while getopts b:o:l:x:n:s:j:p:h option; do
    case $option in
    b) build=$OPTARG ;; o) logs=$OPTARG ;; l) only=$OPTARG ;; x) but=$OPTARG ;; n) never=$OPTARG ;; s) most=$OPTARG ;; j) jobs=$OPTARG ;; p) part=$OPTARG ;;
    h) usage; exit 0 ;; *) usage >&2; exit 64 ;;
    esac
done
shift $((OPTIND - 1))
mode=run
case "${1:-}" in run | sanitizer | list | pack | faults | all-in-budget) mode=$1; shift ;; esac
pattern=${1:-.}
build=$(cd "$build" && pwd) || exit 64
logs=${logs:-$build/tests/gpu/logs}
list=$build/tests/gpu/tests.list
[ -s "$list" ] || { echo "no tests in $list" >&2; exit 1; }
export XS_GPU_BUILD=$build
if [ -z "${XS_CUPTI_LIBRARY:-}" ] && [ -e "$build/libcupti.so" ]; then
    export XS_CUPTI_LIBRARY=$build/libcupti.so
fi

pack() {
    local to=$build/carry file cupti
    rm -rf "$to"
    (cd "$build" && find viewer-export/xs examples examples/faults/faults tests/gpu/bin tests/bench tests/gpu/tests.list -maxdepth 1 -type f \
        \( -executable -o -name tests.list \) ! -name '*.so*' \( ! -path 'tests/bench/*' -o -name 'bench_gpu_*' -o -name bench_clock_residual \)) | while read -r file; do
        mkdir -p "$to/$(dirname "$file")"
        cp "$build/$file" "$to/$file"
    done
    find "$to" -type f -executable -exec strip {} +
    cupti=$(sed -n 's/^XS_CUPTI_INCLUDE:PATH=//p' "$build/CMakeCache.txt")/../lib/libcupti.so
    [ ! -e "$cupti" ] || cp -L "$cupti" "$to/libcupti.so" # a machine with a driver alone has none
    du -sm "$to"
}

selected() { # name, labels
    [[ "$1" =~ $pattern ]] || return 1
    [ -z "$never" ] || ! [[ "$1" =~ $never ]] || return 1
    [ -z "$only" ] || [[ ",$2," == *",$only,"* ]] || return 1
    [ -z "$but" ] || [[ ",$2," != *",$but,"* ]]
}

sanitize() { # tool, name, limit, words...
    local tool=$1 log=$logs/$2.$1 limit=$3 code
    shift 3
    rm -f "$log".san.*
    XS_CUPTI=0 XS_GPU_SANITIZED=1 timeout -k 5 $((limit * 5)) compute-sanitizer --tool "$tool" --target-processes all "${lenient[@]}" \
        --log-file "$log.san.%p" "$@" >"$log" 2>&1
    code=$?
    # A process that the test kills leaves no summary; an error found before is written all the same.
    ! grep -hE '========= *(Invalid|Program hit|Race|Error|Warning|Uninitialized|Barrier|Potential|Illegal)|SUMMARY: [1-9]' "$log".san.* \
        2>/dev/null | grep -vE "Target application|didn't terminate successfully" >"$log.found" || return 1
    return $code
}

one() { # name, limit, words...: 0, 77 or what went wrong
    local name=$1 limit=$2 tool code worst=77
    shift 2
    if [ "$mode" = run ]; then
        timeout -k 5 "$limit" "$@" >"$logs/$name.log" 2>&1
        return
    fi
    for tool in memcheck racecheck; do
        sanitize $tool "$name" "$limit" "$@"
        code=$?
        [ $code -eq 77 ] && continue
        [ $code -eq 0 ] || return $code
        worst=0
    done
    return $worst
}

say() { # name, code, seconds
    case $2 in
    0) printf 'PASS %s (%d s)\n' "$1" "$3" ;;
    77) printf 'SKIP %s: %s\n' "$1" "$(grep -hm1 skipped "$logs/$1".log "$logs/$1".memcheck 2>/dev/null)" ;;
    *) printf 'FAIL %s (exit code %d, %d s)\n%s\n' "$1" "$2" "$3" "$(tail -qn 6 "$logs/$1".log "$logs/$1".memcheck "$logs/$1".racecheck \
        "$logs/$1".*.found 2>/dev/null | sed 's/^/     | /')" ;;
    esac
}

whole_test() { # name, limit, command, words
    local name=$1 limit=$2 command=$3 begin=$SECONDS call arguments code
    read -ra arguments <<<"$4"
    case $command in
    build:*) call=("$build/${command#build:}") ;;
    *) call=(bash "$root/${command#source:}" "$logs/$name.out") ;;
    esac
    one "$name" "$limit" "${call[@]}" "${arguments[@]}" </dev/null
    code=$?
    say "$name" $code $((SECONDS - begin))
    echo $code >"$logs/$name.code"
    [ $code -ne 0 ] || rm -rf "$logs/$name.out" # captures are large
}

[ "$mode" != pack ] || { pack; exit; }
if [ "$mode" = faults ]; then
    mkdir -p "$logs"
    [ "$most" -lt 100000 ] || most=840
    exec "$build/tests/gpu/bin/gpu_matrix" --backend cuda --runs 50 --twins 50 --seconds "$most" --part "$part" \
        --brief --table "$logs/faults.$(tr / - <<<"$part").md"
fi
if [ "$mode" = all-in-budget ]; then
    [[ "${1:-}" =~ ^[0-9]+$ ]] || { usage >&2; exit 64; }
    [ $# -lt 2 ] || [ -r "$2" ] || { echo "cannot read the table $2" >&2; exit 66; }
    exec bash "$root/tests/gpu/budget.sh" "$build" "$logs" "$@"
fi
if [ "$mode" = sanitizer ]; then
    but=gpu-fault
    command -v compute-sanitizer >/dev/null || PATH=$PATH:/usr/local/cuda/bin
    command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer" >&2; exit 1; }
    # The shell of a script is no CUDA program, and that is no error.
    lenient=()
    ! compute-sanitizer --help 2>&1 | grep -q -- --require-cuda-init || lenient=(--require-cuda-init no)
fi
if [ "$mode" != list ]; then
    mkdir -p "$logs"
    find "$logs" -maxdepth 1 -type f \( -name '*.code' -o -name '*.log' -o -name '*check' -o -name '*.found' -o -name '*.san.*' \) -delete
fi
left=0 running=0
while IFS='|' read -r name limit labels command words; do
    selected "$name" "$labels" || continue
    [ "$mode" != list ] || { printf '%-32s %4s s  %s\n' "$name" "$limit" "${labels%,}"; continue; }
    [ "$running" -lt "$jobs" ] || { wait -n; running=$((running - 1)); }
    [ $SECONDS -lt "$most" ] || { left=$((left + 1)); continue; }
    whole_test "$name" "$limit" "$command" "$words" &
    running=$((running + 1))
done <"$list"
wait
[ "$mode" != list ] || exit 0
codes() { cat "$logs"/*.code 2>/dev/null | grep -c "$1"; }
passed=$(codes '^0$') skipped=$(codes '^77$')
failed=$(grep -LxE '0|77' "$logs"/*.code 2>/dev/null | sed 's|.*/||; s|\.code$||' | tr '\n' ' ')
printf '%d passed, %d failed, %d skipped' "$passed" "$(wc -w <<<"$failed")" "$skipped"
[ $left -eq 0 ] || printf ', %d not started in time' $left
printf '; logs: %s\n' "$logs"
[ -z "$failed" ] || { printf 'failed: %s\n' "$failed"; exit 1; }
[ $left -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || [ "$skipped" -eq 0 ] || exit 77
[ "$passed" -gt 0 ]
