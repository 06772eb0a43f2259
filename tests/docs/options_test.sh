#!/usr/bin/env bash
# options_test.sh SOURCE FOLDER: options.sh finds an option that is not told, and one that is not there.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
rm -rf "$2"
mkdir -p "$2"
sed 's/^| `XS_BENCH` |/| `XS_BENCHES` |/' "$1/docs/building.md" > "$2/building.md"
code=0
bash "$here/options.sh" "$1" "$2/building.md" > "$2/said" || code=$?
printf '%s\n' "XS_BENCH: an option without a row in $2/building.md" "XS_BENCHES: $2/building.md tells of an option that is not there" | diff - "$2/said"
[ $code -eq 1 ]
echo PASS
