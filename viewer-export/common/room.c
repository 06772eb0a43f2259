#include "room.h"

#include <stdlib.h>
#include <string.h>
#include <xs/errors.h>

int xsv_room(void *array, uint32_t *room, uint32_t at, size_t element, int fill) {
    void **elements = array;
    if (at < *room)
        return XS_OK;
    uint32_t more = *room ? *room : 16;
    while (more <= at)
        more = more <= UINT32_MAX / 2 ? more * 2 : UINT32_MAX;
    char *bigger = realloc(*elements, more * element);
    if (!bigger)
        return XS_E_MEMORY;
    memset(bigger + *room * element, fill, (more - *room) * element);
    *elements = bigger;
    *room = more;
    return XS_OK;
}
