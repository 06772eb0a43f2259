/* Sparse vector clocks: sorted lists of (agent, epoch), shared and never changed while somebody else holds them. */
#ifndef XS_ANALYSIS_VECTOR_H
#define XS_ANALYSIS_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

typedef struct an_stamp { uint32_t agent, epoch; } an_stamp;
typedef struct an_vector {
    uint32_t refs, count, room;
    an_stamp at[];
} an_vector;

an_vector *an_vector_hold(an_vector *v); /* NULL is the empty clock */
void an_vector_drop(an_vector *v);
uint32_t an_vector_epoch(const an_vector *v, uint32_t agent); /* 0: knows nothing of it */
/* *v knows all that `other` and `more` know too. 0 or XS_E_MEMORY. more.epoch 0: nothing more. */
int an_vector_join(an_vector **v, const an_vector *other, an_stamp more);

#endif
