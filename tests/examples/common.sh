# Shared by the end-to-end tests. Given: $XS (the command), $EXAMPLES (folder of the examples), $1 (a folder of one's own).
set -euo pipefail
work=$1
rm -rf "$work"
mkdir -p "$work"

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
same() { # what, is, must be
    [ "$2" = "$3" ] || fail "$1: $2, must be $3"
    printf 'ok: %s = %s\n' "$1" "$2"
}
ask() { "$XS" query --csv "$1" "$2" | tail -n +2 | tr -d '\r'; } # run, SQL; rows without the header
kept() { # name in the counts file: sum over its lines
    awk -v name="$2" '{for (i = 1; i < NF; i++) if ($i == name) sum += $(i + 1)} END {print sum + 0}' "$1"
}
# The counts in memory of the kernels' own are those of the database; nothing is lost, every wait has a reason.
agrees() { # run, counts file
    same "records lost" "$(ask "$1" 'select coalesce(sum(lost), 0) from ring')" 0
    same "rings with kept + lost <> emitted" "$(ask "$1" 'select count(*) from ring where kept + lost <> emitted')" 0
    same "signals" "$(ask "$1" "select count(*) from events where event in ('signal', 'watermark')")" "$(kept "$2" signals)"
    same "waits" "$(ask "$1" 'select count(*) from wait')" "$(kept "$2" waits)"
    same "skips" "$(ask "$1" "select count(*) from events where event = 'skip'")" "$(kept "$2" skips)"
    same "arrivals" "$(ask "$1" 'select count(*) from arrival where gate = 0')" "$(kept "$2" arrivals)"
    same "elections" "$(ask "$1" 'select count(*) from arrival where elected = 1 and gate = 0')" "$(kept "$2" elections)"
    same "gate arrivals" "$(ask "$1" 'select count(*) from arrival where gate = 1')" "$(kept "$2" gates)"
    same "barriers left" "$(ask "$1" "select count(*) from events where event = 'barrier_leave'")" "$(kept "$2" barriers)"
    same "open waits" "$(ask "$1" 'select count(*) from open_waits')" 0
    same "waits without a reason" "$(ask "$1" "select count(*) from waits where released_by_reason is null or released_by_reason in ('lost', 'ambiguous')")" 0
    same "remote waits released by nobody" "$(ask "$1" "select count(*) from waits where released_by_reason = 'found' and released_by_rank is null")" 0
}
