#!/usr/bin/env bash
# Runs the GPU tests of a build: the same list as `ctest -L gpu`, also where the build was carried to another machine or path.
set -uo pipefail
usage() {
    cat <<'EOT'
usage: tests/gpu/run.sh [-b BUILD] [-o FOLDER] [-l LABEL] [-x LABEL] [-s SECONDS] [MODE] [REGEX]

  run        each test in a process of its own, with its time limit (the default)
  sanitizer  the same under compute-sanitizer, memcheck and racecheck, but for label gpu-fault, without CUPTI
  list       only say what there is
  pack       put what travels (stripped, no objects) into BUILD/carry and say its size; run it there with -b BUILD/carry

-b BUILD    the build (build/gpu)      -o FOLDER  logs and files of tests (BUILD/tests/gpu/logs)
-l, -x      only, or not, tests with this label     -s  start no further test after so many seconds in all
REGEX       only tests whose name it matches

Prints PASS, FAIL or SKIP a test and a total. Exit code 1 when a test failed or none passed, 77 when all were skipped.
EOT
}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/gpu logs="" only="" but="" most=100000
while getopts b:o:l:x:s:h option; do
    case $option in
    b) build=$OPTARG ;; o) logs=$OPTARG ;; l) only=$OPTARG ;; x) but=$OPTARG ;; s) most=$OPTARG ;;
    h) usage; exit 0 ;; *) usage >&2; exit 64 ;;
    esac
done
shift $((OPTIND - 1))
mode=run
case "${1:-}" in run | sanitizer | list | pack) mode=$1; shift ;; esac
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
    mkdir -p "$to"
    (cd "$build" && find viewer-export/xs examples tests/gpu/bin tests/bench tests/gpu/tests.list -maxdepth 1 -type f \
        \( -executable -o -name tests.list \) ! -name '*.so*' \( ! -path 'tests/bench/*' -o -name 'bench_gpu_*' -o -name bench_clock_residual \)) | while read -r file; do
        mkdir -p "$to/$(dirname "$file")"
        cp "$build/$file" "$to/$file"
    done
    find "$to" -type f -executable -exec strip {} +
    cupti=$(sed -n 's/^XS_CUPTI_INCLUDE:PATH=//p' "$build/CMakeCache.txt")/../lib/libcupti.so
    [ ! -e "$cupti" ] || cp -L "$cupti" "$to/libcupti.so" # a machine with a driver alone has none
    du -sm "$to"
}

# One test: name, command. Its log holds all that it printed.
start() { # seconds, words...
    local seconds=$1
    shift
    timeout -k 5 "$seconds" "$@"
}

sanitize() { # tool, name, limit, words...: 0, 1 or 77
    local tool=$1 name=$2 limit=$3 log=$logs/$2.$1 code
    shift 3
    rm -f "$log".san.*
    XS_CUPTI=0 XS_GPU_SANITIZED=1 start $((limit * 5)) compute-sanitizer --tool "$tool" --target-processes all \
        --log-file "$log.san.%p" "$@" >"$log" 2>&1
    code=$?
    # A process that the test kills leaves no summary; an error found before is written all the same.
    if grep -hE '=========.*(Invalid|Error|Race|hazard|Illegal)|ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9]' "$log".san.* 2>/dev/null |
        grep -vE 'SUMMARY: 0|0 hazards|Target application|terminated' >"$log.found"; then
        return 1
    fi
    return $code
}

one() { # name, limit, words...
    local name=$1 limit=$2
    shift 2
    if [ "$mode" = sanitizer ]; then
        local tool code worst=77
        for tool in memcheck racecheck; do
            sanitize $tool "$name" "$limit" "$@"
            code=$?
            [ $code -eq 77 ] && continue
            [ $code -ne 0 ] && return $code
            worst=0
        done
        return $worst
    fi
    start "$limit" "$@" >"$logs/$name.log" 2>&1
}

[ "$mode" = pack ] && { pack; exit; }
[ "$mode" = sanitizer ] && { but=gpu-fault; command -v compute-sanitizer >/dev/null || PATH=$PATH:/usr/local/cuda/bin; }
[ "$mode" = list ] || mkdir -p "$logs"
passed=0 failed=0 skipped=0 left=0 names="" begin=$SECONDS
while IFS='|' read -r name limit labels command words; do
    [[ "$name" =~ $pattern ]] || continue
    [ -z "$only" ] || [[ ",$labels," == *",$only,"* ]] || continue
    [ -z "$but" ] || [[ ",$labels," != *",$but,"* ]] || continue
    [ "$mode" != list ] || { printf '%-32s %4s s  %s\n' "$name" "$limit" "${labels%,}"; continue; }
    [ $((SECONDS - begin)) -lt "$most" ] || { left=$((left + 1)); continue; }
    case $command in
    build:*) call=("$build/${command#build:}") ;;
    *) call=(bash "$root/${command#source:}" "$logs/$name.out") ;;
    esac
    read -ra arguments <<<"$words"
    started=$SECONDS
    one "$name" "$limit" "${call[@]}" "${arguments[@]}" </dev/null
    code=$? took=$((SECONDS - started))
    case $code in
    0) passed=$((passed + 1)); printf 'PASS %s (%d s)\n' "$name" $took ;;
    77) skipped=$((skipped + 1)); printf 'SKIP %s\n' "$name" ;;
    *)
        failed=$((failed + 1)) names+=" $name"
        printf 'FAIL %s (exit code %d, %d s)\n' "$name" $code $took
        tail -qn 6 "$logs/$name".log "$logs/$name".memcheck "$logs/$name".racecheck "$logs/$name".*.found 2>/dev/null | sed 's/^/     | /'
        ;;
    esac
    [ $code -ne 0 ] || rm -rf "$logs/$name.out" # captures are large
done <"$list"
[ "$mode" != list ] || exit 0
printf '%d passed, %d failed, %d skipped' $passed $failed $skipped
[ $left -eq 0 ] || printf ', %d not started in time' $left
printf '; logs: %s\n' "$logs"
[ $failed -eq 0 ] || { printf 'failed:%s\n' "$names"; exit 1; }
[ $left -eq 0 ] || exit 1
[ $passed -gt 0 ] || [ $skipped -eq 0 ] || exit 77
[ $passed -gt 0 ]
