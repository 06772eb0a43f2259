#include "room.h"

#include <string.h>
#include <xs/errors.h>

#include "../../trace/read/table.h"

int xsv_room(void *array, uint32_t *room, uint32_t at, size_t element, int fill) {
    uint32_t had = *room;
    if (at < had)
        return XS_OK;
    if (at == UINT32_MAX || rd_room(array, room, at + 1, element) < 0)
        return XS_E_MEMORY;
    memset(*(char **)array + had * element, fill, (*room - had) * element);
    return XS_OK;
}
