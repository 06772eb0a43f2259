/* Inside libxs: what a world has made. Guarded by world->lock. */
#ifndef XS_OBJECTS_INTERNAL_H
#define XS_OBJECTS_INTERNAL_H

#include <xs/capture.h>

#include "plan_index.h"
#include "world.h"

#define XS_NAME_BYTES 95u /* longest name, without its zero */

#define XS_CLOCK_GAP_NS 1000000000u /* between clock pairs while a program runs: steps of the wall clock are seen */

typedef struct xs_named_pad {
    char name[XS_NAME_BYTES + 1];
    xs_pad pad;
    uint64_t buffer_bytes; /* not 0: this is a buffer; only pad.base is used */
    struct xs_named_pad *next;
    void *base[]; /* one a rank */
} xs_named_pad;

typedef struct xs_name {
    uint64_t hash; /* compared first */
    char *text;
} xs_name;

typedef struct xs_name_list {
    xs_name *names; /* id - 1 */
    uint32_t count, room;
} xs_name_list;

typedef struct xs_known_file xs_known_file; /* files.c */

typedef struct xs_objects {
    xs_named_pad *pads;
    xs_name_list names[XS_NAME_DEVICE + 1]; /* by xs_name_kind */
    xs_plan_entry *plan;
    uint32_t plan_count, plan_room;
    xs_plan_index plan_index; /* of writers, and of those who supply what nobody arrives for */
    uint64_t catalog_frames;
    const xs_known_file *files_told; /* the newest of which the catalog knows */
    xs_launch_order *orders; /* not yet reaped */
    int first_error;         /* of reaped orders, until the next xs_sync */
} xs_objects;

static inline xs_objects *xs_objects_of(const xs_world *world) { return world->objects; }

int xs_objects_create(xs_world *world);
void xs_objects_destroy(xs_world *world); /* not the orders: launch.c */

/* The array of base pointers that kernels read for the host's, and back. */
static inline int xs_bases_for_kernels(xs_world *world, void *const *host, void *const **kernels) {
    *kernels = host;
    return world->backend->bases_make ? world->backend->bases_make(world, host, kernels) : 0;
}
static inline void *const *xs_bases_for_host(const xs_world *world, void *const *kernels) {
    return world->backend->bases_host ? world->backend->bases_host(world, kernels) : kernels;
}

static inline void xs_bases_drop(xs_world *world, void *const *host) {
    if (world->backend->bases_drop) world->backend->bases_drop(world, host);
}

/* names.c */
int xs_name_check(const char *name, uint32_t longest);
int xs_name_get(xs_world *world, uint32_t kind, const char *name); /* world->lock held; id from 1 */

/* pads.c; world->lock held. shape NULL fields are checked by the caller. */
int xs_pad_make(xs_world *world, const char *name, const xs_pad *shape, xs_pad *pad);
const xs_named_pad *xs_pad_by_first(const xs_world *world, uint32_t first);

/* plan_check.c: the `count` entries behind plan_count against themselves and what is known; they are in plan_index
 * then, also where one is refused. world->lock held. */
int xs_plan_check(xs_world *world, uint32_t count);
/* Of a slot that both entries speak of, who writes it by each: a rank, or XS_PLAN_ROW, COLUMN or OWNER where it
 * still varies. 0: there is no such slot. */
int xs_plan_writers(const xs_pad *pad, uint32_t ranks, const xs_plan_entry *a, const xs_plan_entry *b,
                    uint64_t writer[2]);
/* plan.c; world->lock held. */
int xs_plan_append(xs_world *world, const xs_plan_entry *entries, uint32_t count);

/* files.c: names that the catalog does not have yet. world->lock held. */
void xs_files_tell(xs_world *world);

/* launch.c */
void xs_launch_reap(xs_world *world, int all);

/* worlds.c: the worlds of this process, for the fork handler and for the clock outside kernels. */
void xs_worlds_watch_forks(void); /* from the first world on */
void xs_worlds_add(xs_world *world);
void xs_worlds_remove(xs_world *world);
uint64_t xs_worlds_now(void);

#endif
