#!/usr/bin/env bash
# options.sh SOURCE [BUILDING.md]: the options that CMake has and those of the table in docs/building.md are the same; what the library
# reads from the environment stands at the top of xs.h or in a document (XS_TEST_*: tests' own).
set -euo pipefail
cd "$1"
document=${2:-docs/building.md}
bad=0
differ() { # what, who has it, who has not
    local line
    while read -r line; do
        [ -z "$line" ] || { echo "$line: $1"; bad=1; }
    done
}
there=$(cat CMakeLists.txt cmake/*.cmake | grep -oE '^ *(option\(XS_[A-Z_]+|set\(XS_[A-Z_]+ .* CACHE )' | grep -oE 'XS_[A-Z_]+' | sort -u)
told=$(grep -oE '^\| `XS_[A-Z_]+` \|' "$document" | grep -oE 'XS_[A-Z_]+' | sort -u)
differ "an option without a row in $document" < <(comm -23 <(echo "$there") <(echo "$told"))
differ "$document tells of an option that is not there" < <(comm -13 <(echo "$there") <(echo "$told"))
read=$(grep -rhoE '"XS_[A-Z_]+"' lib/src trace/collect --include='*.c' --include='*.h' | tr -d '"' | grep -vE '^XS_(TEST_|E_|OK$)' | sort -u)
[ -n "$read" ] && [ -n "$there" ] || { echo "nothing was found"; exit 1; }
head=$(sed '/\*\//q' lib/include/xs/xs.h)
for variable in $read; do
    grep -qw -- "$variable" <<< "$head" || grep -qwr -- "$variable" docs viewer-export/man || differ "read from the environment, and told nowhere" <<< "$variable"
done
exit $bad
