#!/usr/bin/env bash
# watch.sh SECONDS COMMAND [ARGUMENT...]
# Runs a test. If it takes longer than SECONDS, each of its processes is asked what it waits for and where, and all are killed: a
# hang costs minutes, and the log says where it was. Exit code 124 then, else the command's. What it leaves running is killed too.
set -u
seconds=$1
shift
export MALLOC_PERTURB_=${MALLOC_PERTURB_-165} # memory that was freed, or never set, is no longer what it was

# The command has a process group of its own: whoever is in it belongs to the test.
members() {
    local stat fields
    for stat in /proc/[0-9]*/stat; do
        read -r fields 2>/dev/null <"$stat" || continue
        fields=${fields##*) } # behind the name, which may hold anything
        set -- $fields
        [ "$3" != "$group" ] || [ "$1" = Z ] || echo "${stat//[^0-9]/}"
    done
}

stacks() { # pid
    if command -v eu-stack >/dev/null; then timeout -s KILL 60 eu-stack -p "$1"
    elif command -v gdb >/dev/null; then timeout -s KILL 60 gdb -p "$1" -batch -ex 'thread apply all backtrace' 2>/dev/null | grep -E '^(#|Thread)'
    else echo "no stacks: neither eu-stack nor gdb is here"; fi
}

describe() { # pid
    local task
    printf '\n== process %s, parent %s: %s\n' "$1" "$(awk '/^PPid/ {print $2}' "/proc/$1/status")" "$(tr '\0' ' ' <"/proc/$1/cmdline")"
    for task in "/proc/$1/task"/*; do
        printf 'thread %s %s: %s, in %s, system call %s\n' "${task##*/}" "$(cat "$task/comm")" \
            "$(awk '/^State/ {print $2, $3}' "$task/status")" "$(cat "$task/wchan")" "$(cat "$task/syscall")"
    done
    stacks "$1"
}

kill_all() { kill -KILL -- "-$group" 2>/dev/null; }

watch() {
    sleep "$seconds" >/dev/null 2>&1
    trap '' TERM # from here on it goes through with it
    {
        printf '\nHANGS: %s has not ended after %s s\n' "$*" "$seconds"
        for pid in $(members); do describe "$pid"; done
    } >&2
    kill_all
    exit 124
}

set -m # each has a group of its own, and does not ignore SIGINT
"$@" </dev/null &
group=$!
watch "$@" &
watch=$!
set +m
trap 'kill_all; kill -- "-$watch"; exit 143' TERM INT HUP
wait "$group"
code=$?
kill -- "-$watch" 2>/dev/null
wait "$watch"
[ $? != 124 ] || code=124
kill_all
exit "$code"
