#!/bin/sh
# What the shared library exports is what the public headers declare, neither more nor less.
#   exports.sh LIBRARY INCLUDE_DIR
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
nm -D --defined-only "$1" | awk '$2 != "A" {sub(/@.*/, "", $3); print $3}' | grep '^xs' | sort -u >"$folder/exported"
sed -n 's/^XS_API [^(]*[ *]\(xs_[a-z0-9_]*\)(.*/\1/p' "$2"/xs/*.h | sort -u >"$folder/declared"
test -s "$folder/declared"
diff -u "$folder/declared" "$folder/exported"
