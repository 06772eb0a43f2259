# For the scripts of this folder: the loads of ../marks, with records in device memory.
source "$(dirname "${BASH_SOURCE[0]}")/../marks/marks.sh"
export XS_PLACEMENT=device
