/* Who runs next, what time it is, and the main loop. */
#include "sim.h"

#define CANDIDATES 16u

void xs_sim_abort(xs_sim *sim, int error) {
    xs_world_set_abort(sim->world, (uint32_t)-error);
}

static sim_heap_entry entry_of(xs_sim_fibre *f) { return (sim_heap_entry){f->ready, f->serial, f}; }

void xs_sim_ready(xs_sim_fibre *f, uint64_t delay) {
    f->ready = f->sim->now + delay;
    sim_heap_push(&f->sim->heap, entry_of(f));
}

/* One of those ready within the window, found by walking down from the earliest. */
static uint32_t overtake(const sim_heap *h, uint32_t bits) {
    uint32_t found[CANDIDATES], count = 1, looked = 0;
    uint64_t limit = h->at[0].ready + SIM_WINDOW;
    found[0] = 0;
    while (looked < count) {
        uint32_t child = 2 * found[looked++] + 1;
        for (uint32_t c = child; c < child + 2 && c < h->count && count < CANDIDATES; c++)
            if (h->at[c].ready <= limit)
                found[count++] = c;
    }
    return found[sim_scale(bits, count)];
}

/* Puts f back, if there is one, and takes who runs next; NULL: nobody is ready. */
static xs_sim_fibre *choose(xs_sim *sim, xs_sim_fibre *f, uint64_t bits) {
    sim_heap *h = &sim->heap;
    if (((bits >> 6) & 7) == 0) {
        if (f)
            sim_heap_push(h, entry_of(f));
        return h->count ? sim_heap_take(h, overtake(h, (uint32_t)(bits >> 32))) : NULL;
    }
    if (!f)
        return h->count ? sim_heap_take(h, 0) : NULL;
    sim_heap_entry e = entry_of(f);
    return h->count && sim_heap_before(&h->at[0], &e) ? sim_heap_swap(h, e) : f;
}

static uint64_t time_of(const xs_sim *sim, const xs_sim_fibre *f) { return f->ready > sim->now ? f->ready : sim->now; }

static void begin(xs_sim *sim, xs_sim_fibre *f) {
    sim->now = time_of(sim, f);
    sim->points++;
    sim->trace = (sim->trace ^ (f->serial + sim->now * 0x9e3779b97f4a7c15ull)) * 0xff51afd7ed558ccdull;
    sim->trace ^= sim->trace >> 32;
    sim->running = f;
    xs_host_set_self(&f->self, &xs_scheduler_sim);
}

static int main_is_due(const xs_sim *sim, const xs_sim_fibre *next) {
    return !next || sim->attention || time_of(sim, next) >= sim->next_event ||
           (!sim->aborted && __atomic_load_n(sim->world->abort_word, __ATOMIC_RELAXED));
}

/* From the running fibre to the next one: at once, or by way of the main loop. Returns when `from` runs again. */
static void hand_over(xs_sim_fibre *from, xs_sim_fibre *next) {
    xs_sim *sim = from->sim;
    if (main_is_due(sim, next)) {
        sim->chosen = next;
        xs_sim_context_switch(&from->context, &sim->main);
        return;
    }
    begin(sim, next);
    if (next != from)
        xs_sim_context_switch(&from->context, &next->context);
}

void xs_sim_point(xs_sim_fibre *f, uint64_t cost, uint64_t bits) {
    xs_sim *sim = f->sim;
    f->reads = 0;
    f->ready = sim->now + cost;
    if (sim->held && ((bits >> 9) & 7) == 0)
        xs_sim_held_drain(f, bits);
    hand_over(f, choose(sim, f, bits));
}

void xs_sim_block_fibre(xs_sim_fibre *f) { hand_over(f, choose(f->sim, NULL, sim_random(&f->sim->random))); }

void xs_sim_leave(xs_sim_fibre *f) {
    f->broken = 1;
    f->sim->ended = f;
    xs_sim_context_switch(&f->context, &f->sim->main);
    __builtin_trap(); /* nobody switches to a fibre that has ended */
}

static void pass(xs_sim *sim) {
    if (sim->world->collect_state)
        xs_collect.pass(sim->world->collect_state);
}

static void plan_events(xs_sim *sim) {
    uint64_t deadline = xs_sim_deadline(sim);
    sim->next_event = sim->next_pass < deadline ? sim->next_pass : deadline;
}

/* All that is due before `until`. While nobody runs, the collector looks more rarely: there is nothing new, but its
 * looks bound the times of 32-bit stamps. */
static void events(xs_sim *sim, uint64_t until) {
    uint64_t period = SIM_PASS_NS;
    for (;;) {
        plan_events(sim);
        if (sim->next_event > until)
            return;
        sim->now = sim->next_event > sim->now ? sim->next_event : sim->now;
        if (xs_sim_deadline(sim) <= sim->now) {
            pass(sim); /* so that the capture shows what was open */
            xs_sim_orders_result(sim, XS_E_TIMEOUT);
            xs_sim_abort(sim, XS_E_TIMEOUT);
        }
        if (sim->next_pass <= sim->now) {
            pass(sim);
            sim->next_pass = sim->now + period;
            period = SIM_IDLE_PASS_NS;
        }
    }
}

static void notice_abort(xs_sim *sim) {
    if (sim->aborted || !__atomic_load_n(sim->world->abort_word, __ATOMIC_RELAXED))
        return;
    sim->aborted = 1;
    xs_sim_watch_progress(sim);
    for (xs_sim_block *block = sim->blocks; block; block = block->next)
        xs_sim_barriers_abort(block);
}

/* Nobody can go on by himself: held stores are let go, else it is a deadlock. */
static void stuck(xs_sim *sim) {
    if (sim->held) {
        xs_sim_held_flush_all(sim);
    } else if (sim->aborted) {
        xs_sim_abandon(sim); /* kernels that do not listen */
    } else {
        pass(sim);
        xs_sim_orders_result(sim, XS_E_DEADLOCK);
        xs_sim_abort(sim, XS_E_DEADLOCK);
    }
    xs_sim_watch_progress(sim);
}

/* Back in the main loop: what a fibre left for it. NULL: look again. */
static xs_sim_fibre *settle(xs_sim *sim) {
    xs_sim_fibre *next = sim->chosen;
    xs_sim_fibre *ended = sim->ended;
    sim->running = NULL;
    sim->chosen = sim->ended = NULL;
    xs_host_set_self(NULL, NULL);
    if (ended)
        xs_sim_fibre_ended(ended);
    xs_sim_start_blocks(sim);
    notice_abort(sim);
    if (!sim->attention)
        return next;
    sim->attention = 0;
    if (next)
        sim_heap_push(&sim->heap, entry_of(next));
    stuck(sim);
    xs_sim_start_blocks(sim);
    notice_abort(sim);
    return NULL;
}

int xs_sim_run(xs_sim *sim) {
    xs_sim_context_adopt(&sim->main);
    sim->syncing = 1;
    sim->aborted = sim->result = sim->attention = 0;
    for (;;) {
        xs_sim_fibre *next = settle(sim);
        if (!next)
            next = choose(sim, NULL, sim_random(&sim->random));
        if (!next && sim->live == 0)
            break;
        if (!next) {
            sim->attention = 1; /* everybody waits in block barriers */
            continue;
        }
        events(sim, time_of(sim, next));
        begin(sim, next);
        xs_sim_context_switch(&sim->main, &next->context);
    }
    sim->syncing = 0;
    return sim->result;
}
