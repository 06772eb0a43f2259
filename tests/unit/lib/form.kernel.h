/* Does nothing. Compiled a second time as if with headers of another xs: its sequences have 16 bits. */
#include <xs/kernel.h>

struct form_args { uint32_t nothing; };

#if XS_SEQUENCE_BITS == 16
XS_KERNEL(form_other, struct form_args) { (void)xs_rank(xs); }
#else
XS_KERNEL(form_same, struct form_args) { (void)xs_rank(xs); }
#endif
