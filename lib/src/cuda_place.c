/* Which rank runs where: CPU ranks by the configuration, the others over the GPUs in contiguous ranges. */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "cuda_state.h"

typedef struct number_list {
    uint32_t *numbers;
    uint32_t count, room;
} number_list;

static int add_number(void *user, uint64_t number) {
    number_list *list = user;
    if (list->count == list->room) return XS_E_TOO_MANY;
    list->numbers[list->count++] = (uint32_t)number;
    return 0;
}

static int mark_cpu(void *user, uint64_t number) {
    ((uint8_t *)user)[number] = 1;
    return 0;
}

static int find_cpu_ranks(xs_world *world, xs_cuda_state *state) {
    const char *text = world->config.cpu_ranks;
    uint32_t ranks = world->config.ranks;
    if (!(state->on_cpu = calloc(ranks, 1))) return XS_E_MEMORY;
    /* checked with the configuration */
    int rc = text && *text ? xs_parse_list(text, ranks - 1, mark_cpu, state->on_cpu) : 0;
    if (rc) return rc;
    for (uint32_t r = 0; r < ranks; r++) state->cpu_ranks += state->on_cpu[r];
    return 0;
}

/* Without a list: all GPUs, if all ranks are here; else one by the launcher's number of this process on its machine,
 * or by the number of its first rank. */
static int default_ordinals(const xs_world *world, uint32_t gpu_ranks, uint32_t count, uint32_t *ordinals,
                            uint32_t *used) {
    uint64_t local = 0;
    *used = gpu_ranks < count ? gpu_ranks : count;
    int several = world->config.local_ranks < world->config.ranks;
    int told = several ? xs_config_local_rank(&local) : 0;
    if (told < 0) return told;
    if (several && !told) local = world->config.first_rank;
    for (uint32_t i = 0; i < *used; i++) ordinals[i] = (uint32_t)((local * (told ? *used : 1u) + i) % count);
    return 0;
}

static int listed_ordinals(const char *text, uint32_t count, uint32_t *ordinals, uint32_t *used) {
    number_list list = {.numbers = ordinals, .room = count};
    int rc = xs_parse_list(text, count - 1, add_number, &list);
    if (rc) return xs_fail(XS_E_ARGUMENT, "devices \"%s\": expected GPUs from 0 to %u, as in 0,2-3", text, count - 1);
    *used = list.count;
    return 0;
}

static int choose_ordinals(xs_world *world, uint32_t gpu_ranks, uint32_t count, uint32_t *ordinals, uint32_t *used) {
    const char *text = world->config.devices;
    int rc = text && *text ? listed_ordinals(text, count, ordinals, used)
                           : default_ordinals(world, gpu_ranks, count, ordinals, used);
    if (*used > gpu_ranks) *used = gpu_ranks;
    return rc;
}

/* GPU ranks over the devices, as evenly as contiguous ranges allow. */
static void spread(xs_world *world, xs_cuda_state *state, uint32_t gpu_ranks) {
    uint32_t device = 0, left = 0;
    for (uint32_t i = 0, seen = 0; i < world->config.local_ranks; i++) {
        xs_cuda_rank *rank = &state->ranks[i];
        rank->device = XS_CUDA_CPU;
        if (state->on_cpu[world->config.first_rank + i]) continue;
        if (seen && !left) device++;
        if (!left) left = gpu_ranks / state->device_count + (device < gpu_ranks % state->device_count);
        rank->device = (int)device;
        state->devices[device].ranks++;
        left--;
        seen++;
    }
}

int xs_cuda_place_ranks(xs_world *world) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    int count = 0, rc = find_cpu_ranks(world, state);
    if (rc) return rc;
    uint32_t gpu_ranks = 0;
    for (uint32_t i = 0; i < world->config.local_ranks; i++) gpu_ranks += !state->on_cpu[world->config.first_rank + i];
    rc = xs_cuda_check(state, state->cuda->device_count(&count), "cuDeviceGetCount");
    if (rc) return rc;
    uint32_t *ordinals = calloc((size_t)count, sizeof *ordinals);
    state->ranks = calloc(world->config.local_ranks, sizeof *state->ranks);
    state->devices = calloc((size_t)count, sizeof *state->devices); /* room for those that other processes use */
    if (ordinals && state->ranks && state->devices)
        rc = choose_ordinals(world, gpu_ranks, (uint32_t)count, ordinals, &state->device_count);
    else rc = XS_E_MEMORY;
    for (uint32_t i = 0; !rc && i < state->device_count; i++) state->devices[i].ordinal = (int)ordinals[i];
    if (!rc) spread(world, state, gpu_ranks);
    else state->device_count = 0;
    free(ordinals);
    return rc;
}
