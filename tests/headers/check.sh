#!/bin/sh
# check.sh c|cxx|cuda: compiles each public header alone, plain and traced. Exit 77: no such compiler.
language=$1
includes="-I$XS_ROOT/lib/include -I$XS_ROOT/kernels/include -I$XS_ROOT/trace/include -I$XS_ROOT/viewer-export/include -I${XS_XXHASH:-/usr/include}"
warnings="-Wall -Wextra -Wshadow -Werror"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

case $language in
c) compiler=$XS_CC ;;
cxx) compiler=$XS_CXX ;;
cuda) compiler=$XS_NVCC ;;
*) exit 64 ;;
esac
if [ -z "$compiler" ]; then
    echo "no compiler for $language"
    [ -z "${CI:-}" ] && exit 77
    exit 1
fi

# shellcheck disable=SC2086 # several options in one variable
compile() { # trace source
    case $language in
    c) "$compiler" -std=c11 $warnings -DXS_TRACE="$1" $includes -fsyntax-only "$2" ;;
    cxx) "$compiler" -std=c++17 $warnings -DXS_TRACE="$1" $includes -fsyntax-only -x c++ "$2" ;;
    cuda) "$compiler" -std=c++17 -arch=sm_75 -Werror all-warnings -DXS_TRACE="$1" $includes -cubin -o "$work/out" "$2" ;;
    esac
}

passed=0 failed=0
for header in "$XS_ROOT"/lib/include/xs/*.h "$XS_ROOT"/kernels/include/xs/*.h "$XS_ROOT"/trace/include/xs/*.h \
    "$XS_ROOT"/viewer-export/include/xs/*.h; do
    [ -e "$header" ] || continue
    source=$work/one.$([ "$language" = cuda ] && echo cu || echo c)
    printf '#include <xs/%s>\n#include <xs/%s>\n' "$(basename "$header")" "$(basename "$header")" >"$source"
    traces="0 1"
    case $language:$header in
    cuda:*/kernels/*) ;;
    cuda:*) traces=0 ;; # tracing changes nothing there, and nvcc is slow
    esac
    for trace in $traces; do
        if compile $trace "$source"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "FAILED: $header, XS_TRACE=$trace"
        fi
    done
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
