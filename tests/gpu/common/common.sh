# For GPU tests that are scripts. Given: $1, a folder of the test's own; XS_GPU_BUILD, the build. BACKEND=host runs those that
# can on the CPU, to test the test.
build=${XS_GPU_BUILD:?the folder of the build}
export XS=$build/viewer-export/xs EXAMPLES=$build/examples BIN=$build/tests/gpu/bin BACKEND=${BACKEND:-cuda}
if [ "$BACKEND" = cuda ]; then
    gpus=$("$BIN/gpu_count") || { echo "skipped: no GPU"; exit 77; }
else
    gpus=0
fi
source "$(dirname "${BASH_SOURCE[0]}")/../../examples/common.sh"

has() { # file, words
    grep -qF -- "$2" "$1" || { head -n 40 "$1" >&2; fail "'$2' is not in $1"; }
}
at_least() { # what, is, least
    [ "$2" -ge "$3" ] || fail "$1: $2, must be at least $3"
    printf 'ok: %s = %s\n' "$1" "$2"
}
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
# Waits until a command succeeds, at most so many milliseconds; longer where other load decides.
until_so() { # ms, command...
    local end=$(($(milliseconds) + $1 * ($([ "$BACKEND" = host ] && echo 20 || echo 1))))
    shift
    until "$@"; do
        [ "$(milliseconds)" -lt "$end" ] || return 1
        sleep 0.02
    done
}
gone() { ! kill -0 "$1" 2>/dev/null; }
