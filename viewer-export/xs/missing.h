#ifndef XS_MISSING_H
#define XS_MISSING_H

/* One line on `out`, a FILE, for each world of a process that this one has started for which ranks have not come. */
void missing_say(void *out);

#endif
