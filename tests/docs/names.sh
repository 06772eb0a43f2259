#!/usr/bin/env bash
# names.sh SOURCE [FOLDER...]: what the documents name is there: files between backticks and behind links (but those that the reader is
# given: `NAME`: and a block), variables, options of long form. FOLDERs are looked at instead of SOURCE's documents (names_test.sh).
set -euo pipefail
root=$(cd "$1" && pwd)
shift
cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find lib kernels trace viewer-export examples tests cmake docs README.md CMakeLists.txt CMakePresets.json LICENSE dev .ci -type f > "$work/files"
if [ $# -gt 0 ]; then
    find "$@" -name '*.md'
else
    grep -E '\.md$' "$work/files"
fi > "$work/documents"
grep -E '\.(c|h|cu|sh|cmake|in|fault\.h|py)$|CMakeLists\.txt$|CMakePresets\.json$|^dev$|^\.ci/' "$work/files" | grep -v '^tests/docs/' > "$work/code"
xargs cat < "$work/code" | grep -oE '\bXS_[A-Z0-9_]+|[a-z][a-z0-9]+(-[a-z0-9]+)*' | sort -u > "$work/words"
bad=0
say() { echo "$1: $2"; bad=1; }
written() { # words between backticks and targets of links, without the blocks of code
    sed '/^ *```/,/^ *```/d' "$1" | grep -oE '`[^`]+`|\]\([^)#: ]+\)' | sed -E 's/^\]\(//; s/\)$//; s/`//g' | tr ' ' '\n' | sed -E 's/[,.;:]+$//'
}
is_a_file() { # a name with a folder, or with an ending of ours; not what a program or the reader makes, nor one with a variable part
    [[ "$1" =~ ^(\.\./)*[A-Za-z_][A-Za-z0-9_.*-]*(/[A-Za-z0-9_.*-]*)*$ ]] || return 1
    [[ "$1" == */* || "$1" =~ \.(c|h|cu|md|sh|cmake|proto)$ ]] || return 1
    [[ ! "$1" =~ (^|[/_.])[A-Z]+([/_.]|$) || "$1" =~ README.md|CMake ]] || return 1
    [[ ! "$1" =~ ^(build|out|share|run|include|bin|PREFIX|xs)(/|\.) ]]
}
exists() { # name, folder of the document
    compgen -G "$1" > /dev/null || compgen -G "$2/$1" > /dev/null || grep -qE "(^|/)$(sed 's/[.]/\\./g; s/[*]/[^\/]*/g' <<< "${1%/}")(\$|/)" "$work/files"
}
while read -r document; do
    while read -r word; do
        ! is_a_file "$word" || exists "$word" "$(dirname "$document")" || grep -qE "^\`$word\`[^\`]*:\$" "$document" || say "$document" "no file $word"
    done < <(written "$document" | sort -u)
    while read -r word; do
        grep -qxF -- "$word" "$work/words" || say "$document" "nothing knows $word"
    done < <(grep -oE '\bXS_[A-Z0-9_]+\b' "$document" | sort -u)
    while read -r word; do
        grep -qxF -- "${word#--}" "$work/words" || [[ "$word" =~ ^--(cflags|libs)$ ]] || say "$document" "no option $word"
    done < <(grep -oE '(^|[ `(|])--[a-z][a-z0-9-]+' "$document" | grep -oE -- '--[a-z0-9-]+' | sort -u)
done < "$work/documents"
exit $bad
