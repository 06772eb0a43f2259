#!/usr/bin/env bash
# calls_test.sh SOURCE FOLDER: calls.sh finds a function that is not there and a call with an argument too few, and nothing else.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rm -rf "$2"
mkdir -p "$2"
cat > "$2/some.md" <<'EOT'
`xs_note_wait_poll(&w, &note, seen)`, `xs_note_wait_poll(&w, &note, seen, stage)`, `xs_note_wait_poll`, `xs_no_such_call`, `xs_thread()`, `xs_thread(1)`
```c
xs_pad_create(world, "a, b", 1, 1, 0, &pad);
xs_pad_create(world, "flag",
              1, 1, 0);
```
EOT
code=0
bash "$here/calls.sh" "$1" "$2" > "$2/said" || code=$?
printf "$2/some.md: %s\n" 'nothing is called xs_no_such_call' 'xs_note_wait_poll does not take 3 arguments' 'xs_pad_create does not take 5 arguments' \
    'xs_thread does not take 1 arguments' | sort > "$2/expected"
sort "$2/said" | diff "$2/expected" -
[ $code -eq 1 ]
echo PASS
