/* Launches: ids, the copied arguments, the journal, and the end of them. An order belongs to this file from xs_launch
 * until it is reaped, at the next xs_launch or xs_sync after its end. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_form.h"
#include "objects.h"

static uint64_t ranks_word(const xs_launch_config *config) {
    return config->first_rank | (uint64_t)config->ranks << 32;
}

static void journal_begin(xs_world *world, uint32_t id, uint32_t kernel, const xs_launch_config *config,
                          xs_launch_room room) {
    uint64_t word;
    memcpy(&word, &room, sizeof word);
    xs_journal(world, XS_JOURNAL_LAUNCH_BEGIN, id, kernel, xs_world_now(world), config->grid, config->block,
               ranks_word(config), word);
}

static void journal_end(xs_world *world, uint32_t id, int result) {
    xs_journal(world, XS_JOURNAL_LAUNCH_END, id, 0, xs_world_now(world), (uint64_t)(int64_t)result, 0, 0, 0);
}

/* Rings that writers did not give back are freed, once their records are where they can be counted. */
static void end_rings(xs_world *world, uint32_t id) {
    if (!xs_placement_launch_ended(world, id)) xs_region_reclaim(world->region, id, world->given_back);
}

/* Before the caller goes on: what ended launches left in device memory is in the region, if somebody collects. */
static void settle_rings(xs_world *world) {
    if (__atomic_load_n(&xs_region_control(xs_region(world))->image_wish, __ATOMIC_RELAXED) == XS_IMAGE_LIVE)
        xs_placement_flush(world, XS_PLACEMENT_WAIT_NS);
}

xs_launch_order *xs_launch_part(xs_launch_order *order, uint32_t first_rank, uint32_t ranks) {
    xs_launch_order *part = calloc(1, sizeof *part);
    if (!part) return NULL;
    part->kernel = order->kernel; /* one by one: other parts may have begun, and write to the order */
    part->config = order->config;
    part->args = order->args; /* the order's, which outlives its parts */
    part->id = order->id;
    part->world = order->world;
    part->kernel_name = order->kernel_name;
    part->whole = order;
    part->config.first_rank = first_rank;
    part->config.ranks = ranks;
    xs_region_handle(order->world, first_rank, order->config.grid, order->id, &part->handle);
    return part;
}

void xs_launch_part_drop(xs_launch_order *part) { free(part); }

void xs_launch_fail(xs_launch_order *order, int error) {
    int none = 0;
    __atomic_compare_exchange_n(&order->result, &none, error, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void xs_launch_begun(xs_launch_order *order) {
    if (order->whole) order = order->whole;
    if (__atomic_exchange_n(&order->begun, 1, __ATOMIC_RELAXED)) return;
    journal_begin(order->world, order->id, order->kernel_name, &order->config, order->room);
}

void xs_launch_ended(xs_launch_order *order) {
    xs_launch_begun(order);
    if (order->whole) {
        xs_launch_order *part = order;
        order = part->whole;
        if (part->result) xs_launch_fail(order, part->result);
        free(part);
    }
    if (__atomic_sub_fetch(&order->parts, 1, __ATOMIC_ACQ_REL)) return;
    journal_end(order->world, order->id, order->result);
    __atomic_fetch_add(&order->world->launches_over, 1, __ATOMIC_RELAXED);
    end_rings(order->world, order->id);
    __atomic_store_n(&order->ended, 1, __ATOMIC_RELEASE); /* from here on the order may be freed */
}

static void free_order(xs_launch_order *order) {
    free(order->args);
    free(order);
}

void xs_launch_reap(xs_world *world, int all) {
    xs_objects *objects = xs_objects_of(world);
    for (xs_launch_order **link = &objects->orders; *link;) {
        xs_launch_order *order = *link;
        if (!all && !__atomic_load_n(&order->ended, __ATOMIC_ACQUIRE)) {
            link = &order->next_of_world;
            continue;
        }
        if (order->result < 0 && !objects->first_error) objects->first_error = order->result;
        *link = order->next_of_world;
        free_order(order);
    }
}

/* Fills in the defaults of *config. */
static int check_config(const xs_world *world, const xs_launch_config *given, xs_launch_config *config) {
    if (!given || given->size < sizeof *given) return xs_fail(XS_E_ARGUMENT, "xs_launch_config.size is not set");
    *config = *given;
    uint32_t first = world->config.first_rank, count = world->config.local_ranks;
    if (!config->ranks) {
        config->first_rank = first;
        config->ranks = count;
    }
    if (config->first_rank < first || config->ranks > count || config->first_rank - first > count - config->ranks)
        return xs_fail(XS_E_ARGUMENT, "launch on ranks %u to %u: this process has %u to %u", config->first_rank,
                       config->first_rank + config->ranks - 1, first, first + count - 1);
    if (!config->grid || !config->block || config->block > 1024)
        return xs_fail(XS_E_ARGUMENT, "launch of %u blocks of %u threads: out of range", config->grid, config->block);
    if ((uint64_t)config->grid * config->ranks > INT32_MAX)
        return xs_fail(XS_E_ARGUMENT, "launch of %u blocks on %u ranks: too many", config->grid, config->ranks);
    return 0;
}

static xs_launch_order *make_order(const xs_kernel *kernel, const xs_launch_config *config, const void *args,
                                   size_t args_bytes) {
    xs_launch_order *order = calloc(1, sizeof *order);
    if (!order) return NULL;
    order->kernel = kernel;
    order->config = *config;
    order->parts = 1;
    order->args = aligned_alloc(64, (args_bytes + 64) & ~(size_t)63); /* never 0 bytes */
    if (!order->args) {
        free(order);
        return NULL;
    }
    if (args_bytes) memcpy(order->args, args, args_bytes);
    return order;
}

/* world->lock held. */
static int enlist(xs_world *world, xs_launch_order *order, const char *kernel_name) {
    xs_launch_reap(world, 0);
    int name = xs_name_get(world, XS_NAME_KERNEL, kernel_name);
    if (name < 0) return name;
    xs_files_tell(world);
    if (world->next_launch >= INT_MAX) return xs_fail(XS_E_TOO_MANY, "too many launches");
    order->world = world;
    order->kernel_name = (uint32_t)name;
    order->id = ++world->next_launch;
    xs_region_handle(world, order->config.first_rank, order->config.grid, order->id, &order->handle);
    order->next_of_world = xs_objects_of(world)->orders;
    xs_objects_of(world)->orders = order;
    return 0;
}

static void delist(xs_world *world, xs_launch_order *order) {
    xs_launch_order **link = &xs_objects_of(world)->orders;
    while (*link && *link != order) link = &(*link)->next_of_world;
    if (*link) *link = order->next_of_world;
}

/* The lock is kept over the start, so that another thread's xs_launch or xs_sync cannot reap the order meanwhile. */
static int submit(xs_world *world, xs_launch_order *order) {
    pthread_mutex_lock(&world->lock);
    int rc = world->backend->ready ? world->backend->ready(world) : 0;
    if (!rc && xs_world_abort_error(world))
        rc = xs_fail(XS_E_ABORTED, "launch of %s: the world is aborted", order->kernel->name);
    if (!rc) rc = enlist(world, order, order->kernel->name);
    int id = (int)order->id;
    if (!rc) {
        rc = world->backend->launch(world, order);
        if (rc) delist(world, order);
    }
    pthread_mutex_unlock(&world->lock);
    if (rc) free_order(order);
    return rc ? rc : id;
}

int xs_launch(xs_world *world, const xs_kernel *kernel, const xs_launch_config *config, const void *args,
              size_t args_bytes) {
    xs_launch_config resolved;
    int rc = xs_world_check(world);
    if (rc) return rc;
    if (!kernel || !kernel->name || (args_bytes && !args))
        return xs_fail(XS_E_ARGUMENT, "launch: no kernel or no arguments");
    rc = xs_kernel_form_check(kernel);
    if (rc) return rc;
    if (args_bytes != kernel->args_bytes)
        return xs_fail(XS_E_ARGUMENT, "launch of %s: %zu bytes of arguments, the kernel takes %llu", kernel->name,
                       args_bytes, (unsigned long long)kernel->args_bytes);
    uint32_t words = xs_region(world)->record_words == 2 ? 2 : 1;
    if (kernel->traced && kernel->traced != words)
        return xs_fail(XS_E_UNSUPPORTED,
                       "launch of %s: it was compiled with XS_RECORD_WORDS=%u, the records of this world are %s "
                       "(record_words, XS_RECORD_WORDS=%u)",
                       kernel->name, kernel->traced, words == 2 ? "two words" : "one", words);
    rc = check_config(world, config, &resolved);
    if (!rc) rc = xs_name_check(kernel->name, XS_NAME_BYTES);
    if (rc) return rc;
    xs_launch_order *order = make_order(kernel, &resolved, args, args_bytes);
    return order ? submit(world, order) : XS_E_MEMORY;
}

/* What was launched before the call is over after it, whether its scheduler said so or not. */
static int take_error(xs_world *world) {
    xs_objects *objects = xs_objects_of(world);
    pthread_mutex_lock(&world->lock);
    xs_launch_reap(world, 0);
    int error = objects->first_error;
    objects->first_error = 0;
    pthread_mutex_unlock(&world->lock);
    return error;
}

int xs_sync(xs_world *world) {
    int rc = xs_world_check(world);
    if (rc) return rc;
    rc = world->backend->sync(world);
    settle_rings(world);
    xs_journal_clock(world, XS_CLOCK_GAP_NS);
    int error = take_error(world), aborted = xs_world_abort_error(world);
    if (aborted && (rc == aborted || rc == XS_E_SYSTEM)) return rc; /* the backend has said why */
    if (aborted) return xs_fail(aborted, "the world was aborted: %s", xs_strerror(aborted));
    return error ? error : rc;
}

int(xs_handle_begin)(xs_world *world, const char *kernel_name, uint32_t rank, uint32_t grid, uint32_t block,
                     xs_handle *handle) {
    return xs_handle_begin_form(world, kernel_name, rank, grid, block, handle, XS_LAUNCH_FORM);
}

int xs_handle_begin_form(xs_world *world, const char *kernel_name, uint32_t rank, uint32_t grid, uint32_t block,
                         xs_handle *handle, uint32_t form) {
    int rc = xs_world_check(world);
    if (!rc) rc = xs_name_check(kernel_name, XS_NAME_BYTES);
    if (!rc) rc = xs_form_check(kernel_name, form);
    if (rc) return rc;
    xs_launch_config given = {.size = sizeof given, .grid = grid, .block = block, .first_rank = rank, .ranks = 1},
                     config;
    rc = check_config(world, &given, &config);
    if (rc || !handle) return rc ? rc : xs_fail(XS_E_ARGUMENT, "no place for the handle");
    pthread_mutex_lock(&world->lock);
    rc = world->backend->ready ? world->backend->ready(world) : 0;
    if (!rc && world->backend->handle_ready) rc = world->backend->handle_ready(world, rank);
    if (!rc) rc = xs_name_get(world, XS_NAME_KERNEL, kernel_name);
    if (rc > 0) xs_files_tell(world);
    if (rc > 0 && world->next_launch >= INT_MAX) rc = xs_fail(XS_E_TOO_MANY, "too many launches");
    uint32_t id = rc > 0 ? ++world->next_launch : 0;
    pthread_mutex_unlock(&world->lock);
    if (rc < 0) return rc;
    xs_region_handle(world, rank, grid, id, handle);
    journal_begin(world, id, (uint32_t)rc, &config, (xs_launch_room){0});
    return (int)id;
}

static int is_own_control(const xs_world *world, const xs_control *control) {
    const xs_control *first = xs_region_control(xs_region(world));
    return control >= first && control < first + xs_region(world)->ranks;
}

int xs_handle_end(xs_world *world, const xs_handle *handle) {
    int rc = xs_world_check(world);
    if (rc) return rc;
    if (!handle || !is_own_control(world, handle->control) || !handle->launch)
        return xs_fail(XS_E_ARGUMENT, "the handle is not one of this world");
    journal_end(world, handle->launch, xs_world_abort_error(world));
    __atomic_fetch_add(&world->launches_over, 1, __ATOMIC_RELAXED);
    end_rings(world, handle->launch);
    settle_rings(world);
    return 0;
}
