#!/usr/bin/env bash
# names_test.sh SOURCE FOLDER: names.sh finds a file, a link, a variable and an option that are not there, and nothing else.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rm -rf "$2"
mkdir -p "$2"
cat > "$2/some.md" <<'EOT'
`lib/src/pads.c`, `pads.c`, `lib/src/pad*.c`, [pads](../lib/nowhere.md), `lib/src/no_such.c`, `none.h`, `lib/src/NAME.c`, `build/ci`, `run.xs`,
XS_RINGS, XS_NO_SUCH_VARIABLE, `--max-bytes`, `--no-such-option`
```
lib/src/in_a_block.c
```
EOT
code=0
bash "$here/names.sh" "$1" "$2" > "$2/said" || code=$?
printf "$2/some.md: %s\n" 'no file ../lib/nowhere.md' 'no file lib/src/no_such.c' 'no file none.h' 'nothing knows XS_NO_SUCH_VARIABLE' 'no option --no-such-option' |
    sort > "$2/expected"
sort "$2/said" | diff "$2/expected" -
[ $code -eq 1 ]
echo PASS
