/* A real region, as it stands when its kernels hang. */
#ifndef FUZZ_IMAGE_H
#define FUZZ_IMAGE_H

#include <stddef.h>

unsigned char *image_make(size_t *size); /* the caller's to free; NULL: it could not be made */

#endif
