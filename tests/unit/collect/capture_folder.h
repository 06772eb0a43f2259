/* A folder for captures, and what is recorded into it: for the tests of the capture writer. */
#ifndef XS_TEST_CAPTURE_FOLDER_H
#define XS_TEST_CAPTURE_FOLDER_H

#include "bed.h"

#define MS 1000000u

/* cmocka's tests in a folder of their own, which goes with them. */
#define RUN_IN_FOLDER(tests) (folder_make() ? 1 : folder_remove(cmocka_run_group_tests(tests, NULL, NULL)))
int folder_make(void);
int folder_remove(int failed); /* returns failed, or that it could not */
const char *folder_path(void);
const char *in_folder(const char *name); /* four at a time */

uint64_t folder_bytes(const char *path); /* of the segments in it */
/* A disk of its own in the folder, which must be unmounted; skips the test where nobody may mount. */
void folder_mount(const char *name, const char *size, char disk[128]);
void fill_disk(const char *ballast); /* a file of that name takes all that is left */

/* Takes and gives a ring back, 100 records at a time, so that nothing is overwritten. bound: fails if the capture is ever larger; 0: none. */
uint64_t emit_and_pass(bed *b, uint32_t rounds, uint64_t ns, uint64_t bound);

#endif
