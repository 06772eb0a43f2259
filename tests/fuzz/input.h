/* Captures in memory, changed and handed to the checks. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <xs/capture.h>

/* Checks these bytes as a capture, and as what xs hang is asked about. Returns what check_capture returns. */
uint32_t input_check(const unsigned char *bytes, size_t size);
/* Makes the checksums right wherever a frame's length fits, so that its contents are reached. */
void input_seal(unsigned char *bytes, size_t size);
/* The frame at or behind `at` whose length fits; where it begins, `size` if there is none. */
size_t input_frame(const unsigned char *bytes, size_t size, size_t at, xs_frame *frame);

#endif
