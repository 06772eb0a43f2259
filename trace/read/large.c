/* Memory in large pages. */
#include "table.h"

#include <stdlib.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20) /* or a multiple, on every system that has them */

void *rd_large(size_t bytes) {
    size_t whole = (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    void *memory = whole < bytes ? NULL : aligned_alloc(LARGE_PAGE, whole);
    if (memory)
        (void)madvise(memory, whole, MADV_HUGEPAGE); /* where there are none it stays as it is */
    return memory;
}
