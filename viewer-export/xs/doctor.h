/* Between the files of xs doctor. */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <stdint.h>
#include <stdio.h>
#include <xs/record.h>

/* Where 16-byte stores are seen in halves. */
#if XS_RECORD_WORDS == 2
#define DOCTOR_HALVES DOCTOR_TOLD
#define DOCTOR_CURE "records of this build are two words of 8, which hold (XS_RECORD_WORDS=2)"
#else
#define DOCTOR_HALVES DOCTOR_BAD
#define DOCTOR_CURE "records cannot be trusted here. Build with -DXS_RECORD_WORDS=2: two words of 8, each with a stamp"
#endif

enum doctor_health { DOCTOR_GOOD, DOCTOR_BAD, DOCTOR_TOLD }; /* TOLD: neither, a fact */

/* One line of text. */
void doctor_say(enum doctor_health health, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void doctor_print_string(const char *text); /* as JSON */

/* doctor_gpu.c: measures for some seconds at most. NULL: no memory, and nothing is told. */
typedef struct doctor_gpus doctor_gpus;
doctor_gpus *doctor_gpus_measure(int32_t count);
void doctor_gpus_text(const doctor_gpus *gpus);
void doctor_gpus_json(const doctor_gpus *gpus); /* members of the object, with a comma behind */
void doctor_gpus_free(doctor_gpus *gpus);

#endif
