/* Grows an array so that index `at` fits; new bytes are `fill`. `array` points to the pointer. 0 or XS_E_MEMORY. */
#ifndef XSV_ROOM_H
#define XSV_ROOM_H

#include <stddef.h>
#include <stdint.h>

int xsv_room(void *array, uint32_t *room, uint32_t at, size_t element, int fill);

#endif
