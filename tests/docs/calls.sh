#!/usr/bin/env bash
# calls.sh SOURCE [FOLDER...]: what the documents call is there and takes so many arguments: xs_name and xs_name(a, b), between backticks and
# in blocks of C, against what stands in the headers. FOLDERs are looked at instead of SOURCE's documents (calls_test.sh).
set -euo pipefail
cd "$1"
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -eq 0 ]; then
    set -- docs README.md lib kernels trace viewer-export examples
fi
find "$@" -name '*.md' > "$work/documents"
# "name count" of every xs_name(...) without parentheses inside, on however many lines.
counted() { tr '\n' ' ' | grep -oE '\bxs_[a-z0-9_]+\([^()`]*\)' | sed -E 's/"[^"]*"/text/g' |
    awk -F'[(]' '{ n = gsub(/,/, ",", $2); print $1, $2 ~ /^ *(void)? *\)/ ? 0 : n + 1 }'; }
find lib kernels cmake -type f -exec cat {} + | sed 's|//.*||' > "$work/code"
counted < "$work/code" | sort -u > "$work/takes"
grep -oE '\bxs_[a-z0-9_]+' "$work/code" | sort -u > "$work/names"
find trace viewer-export examples tests \( -name '*.[ch]' -o -name '*.sql' \) -exec cat {} + | grep -oE '\bxs_[a-z0-9_]+' | sort -u > "$work/others"
bad=0
say() { echo "$1: $2"; bad=1; }
while read -r document; do
    while read -r name; do
        [[ "$name" == *_ ]] || grep -qxF -- "$name" "$work/names" "$work/others" || say "$document" "nothing is called $name"
    done < <(grep -oE '`[^`]+`' "$document" | grep -oE '\bxs_[a-z0-9_]+' | sort -u)
    while read -r name count; do
        ! grep -q "^$name " "$work/takes" || grep -qx "$name $count" "$work/takes" || say "$document" "$name does not take $count arguments"
    done < <(grep -v 'xs_add_kernels' "$document" | grep -vE '\bxs_[a-z0-9_]+\([^)]*\.\.\.' | counted | sort -u)
done < "$work/documents"
exit $bad
