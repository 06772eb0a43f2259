/* Inside libxs: the configuration as the caller gave it, with the environment applied, defaults filled in, checked. */
#ifndef XS_CONFIG_INTERNAL_H
#define XS_CONFIG_INTERNAL_H

#include "world.h"

#define XS_COLLECTORS_MOST 8u
#define XS_CATALOG_LEAST 65536ull /* the process itself takes up to 12 KiB of it */
#define XS_CATALOG_MOST (1ull << 36)

/* Strings of *out are its own, also after a failure: xs_config_free. config NULL: all defaults. */
int xs_config_resolve(const xs_config *given, xs_config *out);
void xs_config_free(xs_config *config);

/* config_ranks.c: ranks, first_rank, local_ranks and world of *config. */
int xs_config_ranks(xs_config *config);

/* backend_default.c: before other defaults are filled in, behind xs_config_ranks. */
const char *xs_backend_default(const xs_config *config);

/* Whole unsigned number within [low, high]; suffixes K, M, G (1024) allowed. */
int xs_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *value);
/* "A-B" or "A". */
int xs_parse_range(const char *text, uint64_t high, uint64_t *first, uint64_t *last);
/* "A-B,C": take is called for each number, in order, and ends the walk with what is not 0. */
int xs_parse_list(const char *text, uint64_t high, int (*take)(void *user, uint64_t number), void *user);
/* config_ranks.c: this process's number on this machine, as the usual launchers say it. 1, 0 not told, or an error. */
int xs_config_local_rank(uint64_t *rank);
/* Reads the environment variable: 1 set and read, 0 not set (or empty), or a negative error that names it. */
int xs_env_number(const char *variable, uint64_t low, uint64_t high, uint64_t *value);
/* Replaces an owned string. text NULL: sets NULL. */
int xs_config_string(const char **field, const char *text);

#endif
