/* What must hold of anything that the reader accepts. */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <xs/read.h>

/* Aborts: a fuzzer's finding. */
void require(int holds);
/* Opens and reads the capture in one pass, and checks what it is told for balance and range. `whole`: it is one that we
 * wrote ourselves, so it must be readable and undamaged. */
void check_capture(const char *path, int whole);
/* xs hang answers from it, or refuses it. Captures, and images of regions. */
void check_hang(const char *path);

#endif
