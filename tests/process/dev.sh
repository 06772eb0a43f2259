#!/usr/bin/env bash
# ./dev test was red on a machine without nvcc, whose tests of machine code are skipped; ./dev bench was green with nothing to run, ./dev demo had
# removed the last one's files before it found no build, and ./dev test took any word for all tests.
# dev.sh SOURCES
set -uo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*" >&2; cat "$folder/said" >&2; exit 1; }
mkdir -p "$folder/bin" "$folder/built/quick" "$folder/empty" "$folder/out"
cp "$1/dev" "$folder/dev"
# A ctest with one test, which is labelled $TEST_LABEL and skipped.
cat >"$folder/bin/ctest" <<'EOT'
#!/bin/bash
[[ " $* " == *" -N "* ]] || { echo '1/1 Test #1: the.one ......***Skipped 0.01 sec'; exit 0; }
[[ $TEST_LABEL =~ ${!#} ]] && echo '  Test #1: the.one'
exit 0
EOT
chmod +x "$folder/bin/ctest"
runs() { # code, environment... -- words of dev
    local want=$1 environment=() code=0
    shift
    while [ "$1" != -- ]; do environment+=("$1"); shift; done
    shift
    env -u CI PATH="$folder/bin:$PATH" XS_PREFIX="$folder/built" "${environment[@]}" "$folder/dev" "$@" >"$folder/said" 2>&1 || code=$?
    [ "$code" = "$want" ] || fail "${environment[*]} ./dev $*: $code, not $want"
}
runs 0 TEST_LABEL=nvcc -- test quick
runs 1 TEST_LABEL=nvcc CI=1 -- test quick
runs 0 TEST_LABEL=gpu CI=1 -- test quick
grep -q '^== all test runs passed, in 0 min [0-9]* s$' "$folder/said" || fail "how long it took is not told"
runs 1 TEST_LABEL=unit -- test quick
runs 64 TEST_LABEL=unit -- test frob
runs 66 -- bench
touch "$folder/out/demo.db"
runs 66 XS_PREFIX="$folder/empty" -- demo
[ -e "$folder/out/demo.db" ] || fail "the last demo's files are gone"
# The demo ends by two commands that can be typed.
mkdir -p "$folder/built/trace/viewer-export" "$folder/built/trace/examples"
printf '#!/bin/bash\necho "$1" >>"%s/did.xs"\n' "$folder" >"$folder/built/trace/viewer-export/xs"
touch "$folder/built/trace/examples/combine"
chmod +x "$folder/built/trace/viewer-export/xs"
runs 0 -- demo
sed '1,/ Next:$/d' "$folder/said" >"$folder/next"
[ "$(wc -l <"$folder/next")" = 2 ] || fail "the demo does not end by two commands"
(cd "$folder" && bash -e next) || fail "they cannot be typed"
[ "$(tr '\n' ' ' <"$folder/did.xs")" = "record report query export " ] || fail "what was run: $(cat "$folder/did.xs")"

# Packages that are missing: without root the line to type, and nothing is done; with root they are installed, and told.
for name in id dpkg-query apt-get; do
    printf '#!/bin/bash\necho "$*" >>"%s/did.%s"\n[ %s != id ] || echo "$WHO"\n' "$folder" $name $name >"$folder/bin/$name"
    chmod +x "$folder/bin/$name"
done
runs 1 XS_PREFIX= WHO=1000 -- setup
grep -q '^  sudo apt-get update && sudo apt-get install -y gcc .*libcmocka-dev clang .*procps$' "$folder/said" || fail "the line to type is not there"
[ ! -e "$folder/did.apt-get" ] || fail "without root: apt-get $(cat "$folder/did.apt-get")"
runs 0 XS_PREFIX= WHO=0 -- setup
grep -q '^== installing gcc .*procps$' "$folder/said" || fail "what is installed is not told"
grep -q '^install -y .*gcc .*procps$' "$folder/did.apt-get" || fail "apt-get $(cat "$folder/did.apt-get")"
rm "$folder/did.dpkg-query"
runs 0 WHO=0 -- setup # with XS_PREFIX nothing is even looked for
[ ! -e "$folder/did.dpkg-query" ] || fail "packages were looked for beside what was built before"
rm "$folder/bin/id" "$folder/bin/dpkg-query" "$folder/bin/apt-get"
runs 0 -- --help
runs 64 -- frob
# ./dev test quick was red: its build had examples without tracing, of which process.worlds counts the records.
for preset in $(sed -nE 's/^ *(build|run_tests) ([a-z]+).*/\2/p' "$1/dev" | sort -u); do
    cmake --preset "$preset" -S "$1" -B "$folder/configured" -N >"$folder/said" 2>&1 || fail "./dev uses preset $preset"
    grep -q '^ *XS_TRACE="ON"' "$folder/said" || fail "tests of preset $preset without tracing"
done
echo PASS
