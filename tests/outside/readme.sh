#!/bin/sh
# readme.sh README FOLDER: writes the files that the README shows. A line that begins with `NAME` names the block behind it.
mkdir -p "$2" && awk -v folder="$2" '
    /^```/ { inside = !inside; if (!inside && name) { close(name); name = "" }; next }
    inside && name { print > name }
    !inside && match($0, /^`[A-Za-z.]+`[,:]/) { name = folder "/" substr($0, 2, RLENGTH - 3) }
' "$1"
