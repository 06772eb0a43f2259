#!/bin/sh
# tsan_case.sh PROGRAM CASE[.broken]: a clean case ends with 0 and no report; a broken one with ThreadSanitizer's 66 and a
# data race in its report. Nothing of the caller's TSAN_OPTIONS counts: no suppressions.
program=$1 case=$2
report=$(TSAN_OPTIONS="exitcode=66" "$program" "$case" 2>&1)
code=$?
echo "$report" | head -60
races=$(echo "$report" | grep -c "WARNING: ThreadSanitizer: data race")
case $case in
*.*) [ "$code" -eq 66 ] && [ "$races" -gt 0 ] ;;
*) [ "$code" -eq 0 ] && [ "$races" -eq 0 ] ;;
esac
