#!/usr/bin/env bash
# device.sh FOLDER SCRIPT WORDS...: a script of ../marks, with records in device memory: all that it says of counts holds.
folder=$1 script=$2
shift 2
export XS_PLACEMENT=device
exec bash "$(dirname "$0")/../marks/$script" "$folder" "$@"
