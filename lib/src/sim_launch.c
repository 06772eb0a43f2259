/* Orders, and which of their blocks run. An order is one part a rank; the parts of a rank run one behind the other
 * (its stream), those of different ranks together. Of all parts whose turn it is, the block with the lowest index
 * inside its rank starts first, so that a residency smaller than the grid gives every rank its share. */
#include "sim.h"

#include <string.h>

#define START_SPREAD 511u /* ns: blocks do not start in step */
#define END_SPREAD 2047u  /* ns */

int xs_sim_queue(xs_sim *sim, xs_launch_order *order) {
    const xs_launch_config *config = &order->config;
    uint32_t ranks = config->ranks ? config->ranks : sim->local_ranks;
    uint32_t first = order->handle.rank - sim->world->config.first_rank;
    if (!order->kernel || !order->kernel->host || config->grid == 0 || config->block == 0)
        return XS_E_ARGUMENT;
    if (first >= sim->local_ranks || ranks > sim->local_ranks - first || config->grid > UINT32_MAX / ranks)
        return XS_E_ARGUMENT;
    xs_sim_order *queued = calloc(1, sizeof *queued + ranks * sizeof queued->part[0]);
    if (!queued)
        return XS_E_MEMORY;
    queued->order = order;
    queued->parts = queued->parts_left = ranks;
    for (uint32_t r = 0; r < ranks; r++) {
        xs_sim_rank *rank = &sim->ranks[first + r];
        queued->part[r] = (xs_sim_part){NULL, queued, first + r, r * config->grid, config->grid, 0, 0};
        *rank->tail = &queued->part[r];
        rank->tail = &queued->part[r].next;
    }
    xs_sim_order **last = &sim->orders;
    while (*last)
        last = &(*last)->next;
    *last = queued;
    return 0;
}

static void order_ended(xs_sim *sim, xs_sim_order *ended) {
    xs_sim_order **link = &sim->orders;
    while (*link != ended)
        link = &(*link)->next;
    *link = ended->next;
    if (ended->result < 0 && sim->result == 0)
        sim->result = ended->result;
    ended->order->result = ended->result;
    xs_launch_ended(ended->order);
    free(ended);
}

static void part_ended(xs_sim *sim, xs_sim_part *part) {
    xs_sim_rank *rank = &sim->ranks[part->rank];
    xs_sim_held_flush(sim, &rank->held);
    rank->head = part->next;
    if (!rank->head)
        rank->tail = &rank->head;
    if (--part->order->parts_left == 0)
        order_ended(sim, part->order);
}

/* A fibre's end lets go what it holds, but not at once: else a kernel that ends behind its signal could not be
 * wrong. */
static void linger(xs_sim_fibre *f) {
    if (f->sim->held == 0)
        return;
    uint64_t bits = sim_random(&f->sim->random);
    xs_sim_point(f, (bits >> 12) & END_SPREAD, bits);
}

static void fibre_main(void *argument) {
    xs_sim_fibre *f = argument;
    for (;;) {
        const xs_launch_order *order = f->block->part->order->order;
        order->kernel->host(order->args, &order->handle);
        linger(f);
        f->sim->ended = f;
        xs_sim_context_switch(&f->context, &f->sim->main);
    }
}

static xs_sim_fibre *fibre_get(xs_sim *sim) {
    xs_sim_fibre *f = sim->pool;
    if (f) {
        sim->pool = f->next;
        return f;
    }
    f = calloc(1, sizeof *f);
    if (f && xs_sim_context_make(&f->context, &sim->stacks, fibre_main, f) != 0) {
        free(f);
        f = NULL;
    }
    return f;
}

static void fibre_free(xs_sim_fibre *f, xs_sim_stacks *stacks) {
    xs_sim_context_free(&f->context, stacks);
    free(f->polls.at);
    free(f->held.at);
    free(f);
}

static void fibre_put(xs_sim *sim, xs_sim_fibre *f) {
    if (f->broken) {
        fibre_free(f, &sim->stacks);
        return;
    }
    f->next = sim->pool;
    sim->pool = f;
}

void xs_sim_free_fibres(xs_sim *sim) {
    while (sim->pool) {
        xs_sim_fibre *f = sim->pool;
        sim->pool = f->next;
        fibre_free(f, NULL); /* all stacks go at once: a system call for each would be 7 % of a short run */
    }
    xs_sim_stacks_free(&sim->stacks);
}

static void block_free(xs_sim *sim, xs_sim_block *block) {
    xs_sim_held_block_ended(block, sim);
    xs_sim_shared_free(block);
    free(block);
}

static void fibre_start(xs_sim_fibre *f, xs_sim_block *block, uint32_t warp) {
    xs_sim *sim = block->fibre[0]->sim;
    const xs_sim_part *part = block->part;
    f->self.block = part->first + part->started;
    f->self.blocks = part->order->parts * part->blocks;
    f->self.warp = warp;
    f->self.warps = block->warps;
    f->self.scheduler = f;
    f->serial = sim->serials++;
    xs_sim_stale_start(f);
    f->ops = f->reads = 0;
    f->polls.count = f->polls.cursor = 0;
    f->polls.round = 0;
    xs_sim_ready(f, 1 + (sim_random(&sim->random) & START_SPREAD));
}

/* NULL: no memory. */
static xs_sim_block *block_get(xs_sim *sim, xs_sim_part *part) {
    uint32_t threads = part->order->order->config.block, warps = threads / 32 + (threads % 32 != 0);
    xs_sim_block *block = calloc(1, sizeof *block + warps * sizeof block->fibre[0]);
    if (!block)
        return NULL;
    block->part = part;
    block->warps = block->live = warps;
    int ok = sim_heap_reserve(&sim->heap, sim->live + warps + 1) == 0;
    for (uint32_t w = 0; ok && w < warps; w++) {
        xs_sim_fibre *f = block->fibre[w] = fibre_get(sim);
        ok = f != NULL;
        if (ok) {
            f->sim = sim;
            f->block = block;
        }
    }
    if (ok)
        return block;
    for (uint32_t w = 0; w < warps && block->fibre[w]; w++)
        fibre_put(sim, block->fibre[w]);
    block_free(sim, block);
    return NULL;
}

static int block_start(xs_sim *sim, xs_sim_part *part) {
    xs_sim_block *block = block_get(sim, part);
    if (!block)
        return XS_E_MEMORY;
    if (part->order->begin == 0) {
        part->order->begin = sim->now;
        xs_launch_begun(part->order->order);
    }
    block->next = sim->blocks;
    block->link = &sim->blocks;
    if (block->next)
        block->next->link = &block->next;
    sim->blocks = block;
    sim->resident++;
    sim->live += block->warps;
    xs_sim_watch_progress(sim);
    for (uint32_t w = 0; w < block->warps; w++)
        fibre_start(block->fibre[w], block, w);
    part->started++;
    part->live++;
    return 0;
}

static xs_sim_part *next_part(const xs_sim *sim) {
    xs_sim_part *best = NULL;
    for (uint32_t r = 0; r < sim->local_ranks; r++) {
        xs_sim_part *part = sim->ranks[r].head;
        if (part && part->started < part->blocks && (!best || part->started < best->started))
            best = part;
    }
    return best;
}

/* Nothing more of this part starts. */
static void part_cut(xs_sim *sim, xs_sim_part *part, int error) {
    part->blocks = part->started;
    part->order->result = error;
    if (part->order->begin == 0) {
        part->order->begin = sim->now;
        xs_launch_begun(part->order->order);
    }
    if (part->live == 0)
        part_ended(sim, part);
}

void xs_sim_start_blocks(xs_sim *sim) {
    uint32_t residency = sim->world->config.residency ? sim->world->config.residency : UINT32_MAX;
    xs_sim_part *part;
    while (sim->resident < residency && (part = next_part(sim)) != NULL) {
        if (block_start(sim, part) == 0)
            continue;
        xs_sim_abort(sim, XS_E_MEMORY);
        part_cut(sim, part, XS_E_MEMORY);
    }
}

static void block_ended(xs_sim *sim, xs_sim_block *block) {
    xs_sim_part *part = block->part;
    *block->link = block->next;
    if (block->next)
        block->next->link = block->link;
    sim->resident--;
    block_free(sim, block);
    if (--part->live == 0 && part->started == part->blocks)
        part_ended(sim, part);
}

void xs_sim_fibre_ended(xs_sim_fibre *f) {
    xs_sim *sim = f->sim;
    xs_sim_block *block = f->block;
    xs_sim_release(f, XS_SCOPE_CTA);
    block->fibre[f->self.warp] = NULL;
    sim->live--;
    xs_sim_watch_progress(sim);
    fibre_put(sim, f);
    if (--block->live == 0)
        block_ended(sim, block);
}

void xs_sim_abandon(xs_sim *sim) {
    xs_sim_held_flush_all(sim);
    sim->heap.count = 0;
    sim->waiting = 0;
    for (xs_sim_block *block = sim->blocks, *next; block; block = next) {
        next = block->next;
        for (uint32_t w = 0, warps = block->warps; w < warps; w++) {
            xs_sim_fibre *f = block->fibre[w];
            int last = f && block->live == 1;
            if (f) {
                f->broken = 1;
                xs_sim_fibre_ended(f);
            }
            if (last)
                break; /* the block is gone */
        }
    }
}

uint64_t xs_sim_deadline(const xs_sim *sim) {
    uint64_t bound = sim->world->config.wait_ns, first = UINT64_MAX;
    for (const xs_sim_order *o = sim->orders; bound && o; o = o->next)
        if (o->begin && o->result == 0 && bound < first - o->begin)
            first = o->begin + bound;
    return first;
}

void xs_sim_orders_result(xs_sim *sim, int result) {
    for (xs_sim_order *o = sim->orders; o; o = o->next)
        if (o->begin && o->result == 0)
            o->result = result;
}
