# For the scripts of this folder. Every warp that has a ring writes 3 records at its begin, its marks, and 2 at its end.
source "$(dirname "$0")/../common/common.sh"
export XS_BACKEND=$BACKEND
marks=$BIN/gpu_marks

word() { # file, name: the sum of what follows the name
    kept "$1" "$2"
}
record() { # run, words of marks...
    local run=$1
    shift
    "$XS" record --no-export -o "$run" -- "$marks" "$@" > "$run.out"
}
# Holds for every run, however it ended: everything is counted, and each mark that was kept is the one that was
# written at its place.
sound() { # run
    same "rings that do not add up" "$(ask "$1" 'select count(*) from ring where kept + lost <> emitted')" 0
    same "marks out of place" "$(ask "$1" "select count(*) from event e join writer w on w.id = e.writer where e.kind = (select id from word where class = 'event' and name = 'mark') and e.value <> e.sequence - w.first_sequence - 2")" 0
}
# After a run that came to its end: what the kernels counted elsewhere is what was emitted, exactly.
exact() { # run
    local marks_counted writers
    marks_counted=$(word "$1.out" marks) writers=$(word "$1.out" writers)
    sound "$1"
    same "records emitted" "$(ask "$1" 'select sum(emitted) from ring')" $((marks_counted + 5 * writers))
    same "kept and lost" "$(ask "$1" 'select sum(kept) + sum(lost) from ring')" $((marks_counted + 5 * writers))
    same "writers without a ring" "$(ask "$1" 'select sum(no_ring) from process')" "$(word "$1.out" without)"
    same "counted at least" "$(ask "$1" 'select coalesce(sum(at_least), 0) from ring')" 0
}
