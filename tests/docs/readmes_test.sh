#!/usr/bin/env bash
# readmes_test.sh SOURCE FOLDER: readmes.sh finds a folder without a README that nobody names, and files that a README leaves out; no others.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rm -rf "$2"
mkdir -p "$2/layer/named" "$2/layer/alone" "$2/trace/include/xs"
cp "$1/trace/include/xs/analyse.h" "$2/trace/include/xs"
cd "$2"
touch layer/wait.c layer/wait.h layer/hang_text.c layer/left.c layer/left.h layer/some_internal.h layer/named/inside.c layer/alone/lonely.c
echo 'Of `wait.c`, `hang_*.c`, and `named/` with `inside`.' > layer/README.md
code=0
bash "$here/readmes.sh" . layer > said || code=$?
printf '%s\n' 'layer/alone: no README, and none above names it' "layer/alone: its README does not name lonely.c" \
    'layer: its README does not name left.c' 'layer: its README does not name left.h' | sort > expected
sort said | diff expected -
[ $code -eq 1 ]
echo PASS
