/* What must hold of anything that the reader accepts. */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include <xs/analyse.h>

/* Aborts: a fuzzer's finding. */
void require(int holds);
/* Opens and reads the capture in one pass, and checks what it is told for balance and range, and what the detectors say of
 * it. `whole`: it is one that we wrote ourselves, so it must be readable and undamaged. Returns a bit (1 << xsa_detector) for
 * each detector with an error finding. */
uint32_t check_capture(const char *path, int whole);
/* What detectors said must make sense: ranges, words, one verdict each, counts that add up. Returns as check_capture. */
uint32_t check_verdicts(const xsa_result *result, const xsr_model *model);
/* xs hang answers from it, or refuses it. Captures, and images of regions. */
void check_hang(const char *path);

#endif
