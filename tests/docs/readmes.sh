#!/usr/bin/env bash
# readmes.sh SOURCE [FOLDER...]: every folder has a README, or is named by the one above it; in the layers each file is named, by its stem
# ("wait.c", `wait`, `hang_*.c`), by the README of its folder or the nearest one above. A header goes with the .c of its name, a detector's file
# by the detector's name; *internal.h is what files of one folder share. FOLDERs (below SOURCE) instead of the layers (readmes_test.sh).
set -euo pipefail
cd "$1"
shift
layers=(lib kernels trace viewer-export)
all=(lib kernels trace viewer-export examples tests cmake docs)
[ $# -eq 0 ] || { layers=("$@"); all=("$@"); }
bad=0
say() { echo "$1: $2"; bad=1; }
above() { # the nearest folder with a README, from this one on
    local at=$1
    while [ ! -f "$at/README.md" ] && [ "$at" != . ]; do at=$(dirname "$at"); done
    echo "$at"
}
words() { tr -c 'A-Za-z0-9_.*/-' '\n' < "$1/README.md" | sed -E 's|.*/(.)|\1|; s|[./]+$||' | tr '-' '_' | grep . | sort -u; }
detectors=$(grep -oE '"[a-z]+(-[a-z]+)*"' trace/include/xs/analyse.h | tr -d '"' | tr '-' '_')
named() { # file, words on standard input
    local file=${1//-/_} word
    local stem=${file%%.*}
    while read -r word; do
        # shellcheck disable=SC2053 # the word may be a pattern
        [[ "$file" == $word || "$stem" == $word ]] && [ "$word" != '*' ] && return 0
    done
    return 1
}
for folder in $(find "${all[@]}" -type d -not -path '*/golden/*' -not -path '*/corpus*'); do
    compgen -G "$folder/*.[ch]" > /dev/null || compgen -G "$folder/*.sh" > /dev/null || compgen -G "$folder/*.cu" > /dev/null || continue
    up=$(above "$(dirname "$folder")")
    [ -f "$folder/README.md" ] || named "$(basename "$folder")" < <(words "$up") || grep -q "$(basename "$folder")/" "$up/README.md" || say "$folder" "no README, and none above names it"
done
for folder in $(find "${layers[@]}" -type d); do
    known=$(words "$(above "$folder")"; [ "$folder" != trace/analysis ] || echo "$detectors")
    for path in "$folder"/*.c "$folder"/*.h "$folder"/*.proto "$folder"/*.sql; do
        file=$(basename "$path")
        if [ ! -f "$path" ] || [[ "$file" == *internal.h ]]; then continue; fi
        named "$file" <<< "$known" || { [[ "$file" == *.h && -f "${path%.h}.c" ]] && named "${file%.h}.c" <<< "$known"; } || say "$folder" "its README does not name $file"
    done
done
exit $bad
