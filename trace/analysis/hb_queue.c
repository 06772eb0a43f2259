/* What waits for its turn: a queue an agent, in the order of its records, and the lists of agents whose head has to
 * wait. */
#include "hb_internal.h"

int hb_push(an *a, uint32_t agent, const xsr_event *e) {
    an_agent *g = &a->hb->agents[agent];
    TRY(RD_CIRCLE(g->items, g->room, g->first, g->count));
    an_item *item = hb_item(g, g->count++);
    item->e = *e;
    item->has_wait = false;
    a->hb->queued++;
    return 0;
}

void hb_pop(an *a, uint32_t agent) {
    an_agent *g = &a->hb->agents[agent];
    g->first = (g->first + 1) & (g->room - 1);
    g->count--;
    a->hb->queued--;
}

static int enter(uint32_t **list, uint32_t *room, uint32_t *count, bool *in, uint32_t agent) {
    if (*in)
        return 0;
    if (RD_ROOM(*list, *room, *count + 1) < 0)
        return XS_E_MEMORY;
    (*list)[(*count)++] = agent;
    *in = true;
    return 0;
}

static void leave(uint32_t *list, uint32_t *count, bool *in, uint32_t agent) {
    for (uint32_t i = 0; *in && i < *count; i++)
        if (list[i] == agent) {
            list[i] = list[--*count];
            break;
        }
    *in = false;
}

int hb_set_blocked(an_hb *hb, uint32_t agent) {
    leave(hb->unsettled, &hb->unsettled_count, &hb->agents[agent].unsettled, agent);
    return enter(&hb->blocked, &hb->blocked_room, &hb->blocked_count, &hb->agents[agent].blocked, agent);
}

int hb_set_unsettled(an_hb *hb, uint32_t agent) {
    leave(hb->blocked, &hb->blocked_count, &hb->agents[agent].blocked, agent);
    return enter(&hb->unsettled, &hb->unsettled_room, &hb->unsettled_count, &hb->agents[agent].unsettled, agent);
}

void hb_set_free(an_hb *hb, uint32_t agent) {
    leave(hb->blocked, &hb->blocked_count, &hb->agents[agent].blocked, agent);
    leave(hb->unsettled, &hb->unsettled_count, &hb->agents[agent].unsettled, agent);
}

void hb_move_to_head(an_agent *g, uint32_t at) {
    an_item item = *hb_item(g, at);
    for (uint32_t i = at; i > 0; i--)
        *hb_item(g, i) = *hb_item(g, i - 1);
    *hb_item(g, 0) = item;
}
