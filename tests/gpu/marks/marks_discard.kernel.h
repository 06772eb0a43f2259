#define XS_RING_MODE 1 /* XS_DISCARD: picked before anything of xs is included */
#include "marks.h"

XS_KERNEL(marks_discard, struct marks_args) {
    marks_run(&args, &xs);
}
