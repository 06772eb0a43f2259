/* The room that a kernel takes on an SM: traced, and as it would be without tracing. Tracing takes registers; where
 * fewer blocks are resident by it, what was measured is not the program as it runs otherwise, and the launch says
 * so. */
#include "cuda_state.h"

#define SHARED_UNIT 128u /* shared memory is given out in units of so many bytes */

enum xs_room_limit xs_cuda_room_limit(const xs_cuda_sm *sm, uint32_t block, uint64_t shared, uint32_t blocks) {
    uint64_t bytes = (shared + sm->shared_a_block + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    uint32_t threads = (block + 31) / 32 * 32;
    if (blocks >= sm->blocks) return XS_ROOM_BLOCKS;
    if (!threads || blocks >= sm->threads / threads) return XS_ROOM_THREADS;
    return shared && blocks >= sm->shared / bytes ? XS_ROOM_SHARED : XS_ROOM_REGISTERS;
}

typedef struct room {
    int blocks, registers, shared, local;
} room;

static int ask(const xs_cuda_state *state, CUfunction function, const xs_launch_config *config, room *r) {
    const xs_cuda_driver *cuda = state->cuda;
    return cuda->occupancy(&r->blocks, function, (int)config->block, config->shared_bytes) == CUDA_SUCCESS &&
           cuda->function_attribute(&r->registers, CU_FUNC_ATTRIBUTE_REGISTERS, function) == CUDA_SUCCESS &&
           cuda->function_attribute(&r->shared, CU_FUNC_ATTRIBUTE_SHARED_BYTES, function) == CUDA_SUCCESS &&
           cuda->function_attribute(&r->local, CU_FUNC_ATTRIBUTE_LOCAL_BYTES, function) == CUDA_SUCCESS &&
           r->blocks > 0 && r->registers > 0;
}

static int ask_plain(const xs_cuda_state *state, const xs_launch_order *order, room *r) {
    const xs_cuda_entry *plain = order->kernel->traced && order->kernel->twin ? order->kernel->plain : NULL;
    CUfunction function = NULL;
    return plain && !plain->resolve(plain->function, (void **)&function) && ask(state, function, &order->config, r);
}

static enum xs_room_limit limit_of(const xs_cuda_state *state, uint32_t device, const xs_launch_config *config,
                                   const room *r) {
    CUdevice d = state->devices[device].device;
    xs_cuda_sm sm = {.threads = (uint32_t)xs_cuda_attribute(state, d, CU_DEVICE_ATTRIBUTE_THREADS_A_PROCESSOR),
                     .blocks = (uint32_t)xs_cuda_attribute(state, d, CU_DEVICE_ATTRIBUTE_BLOCKS_A_PROCESSOR),
                     .shared = (uint32_t)xs_cuda_attribute(state, d, CU_DEVICE_ATTRIBUTE_SHARED_A_PROCESSOR),
                     .shared_a_block =
                         (uint32_t)xs_cuda_attribute(state, d, CU_DEVICE_ATTRIBUTE_SHARED_RESERVED_A_BLOCK)};
    if (!sm.threads || !sm.blocks || !sm.shared) return XS_ROOM_UNKNOWN;
    return xs_cuda_room_limit(&sm, config->block, (uint64_t)r->shared + config->shared_bytes, (uint32_t)r->blocks);
}

static uint32_t most(int value, uint32_t limit) {
    return value < 0 ? 0 : (uint32_t)value < limit ? (uint32_t)value : limit;
}

void xs_cuda_room(const xs_cuda_state *state, uint32_t device, CUfunction function, xs_launch_order *order) {
    room own = {0}, plain = {0};
    if (!ask(state, function, &order->config, &own)) return;
    if (order->room.blocks && (uint32_t)own.blocks >= order->room.blocks) return;
    int known = ask_plain(state, order, &plain);
    order->room = (xs_launch_room){.blocks = (uint8_t)most(own.blocks, UINT8_MAX),
                                   .plain_blocks = (uint8_t)(known ? most(plain.blocks, UINT8_MAX) : 0),
                                   .registers = (uint8_t)most(own.registers, UINT8_MAX),
                                   .plain_registers = (uint8_t)(known ? most(plain.registers, UINT8_MAX) : 0),
                                   .limit = (uint8_t)limit_of(state, device, &order->config, &own),
                                   .local = (uint16_t)most(own.local - (known ? plain.local : 0), UINT16_MAX)};
}
