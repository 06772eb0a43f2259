#include "marks.h"

XS_KERNEL(marks_overwrite, struct marks_args) {
    marks_run(&args, &xs);
}
