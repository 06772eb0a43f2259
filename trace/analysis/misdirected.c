/* A signal that went to another slot of the pad: who owes it has signalled the value that is waited for where that
 * value does not belong. */
#include "analysis.h"

/* The value breaks the steps in which that slot rises; `step`: where these are not known, those of the slot that
 * waits. */
static bool out_of_place(const an_slot *y, const an_touch *t, uint64_t step) {
    if (y->signals < 2)
        return y->waits == 0;
    return y->signal.value - y->before_signal.value != (y->signals > 3 && y->step_lead ? y->step : step) &&
           (t == &y->signal || y->signal.value > y->before_signal.value);
}

static bool comes_behind(const an_touch *t, const an_touch *last) {
    return last->event == XSR_NO_ID || t->event > last->event;
}

static const an_touch *signal_of(const an *a, const an_slot *y, const an_stuck *s) {
    const an_touch *last[2] = {&y->signal, &y->before_signal};
    for (uint32_t i = 0; i < 2; i++)
        if (last[i]->rank == s->supplier && last[i]->value == s->w.need &&
            comes_behind(last[i], &a->slots[s->w.slot].signal) && (s->owes == XSR_NONE || last[i]->writer == s->owes))
            return last[i];
    return NULL;
}

uint32_t an_misdirected(const an *a, const an_stuck *s) {
    const an_slot *x = &a->slots[s->w.slot];
    uint64_t step = s->w.need - x->signal.value;
    uint32_t found = XSR_NONE;
    for (uint32_t i = 0; s->supplier != XSR_NONE && i < a->slot_count; i++) {
        const an_slot *y = &a->slots[i];
        if (i == s->w.slot || a->model->slots[i].pad != a->model->slots[s->w.slot].pad || !y->signals)
            continue;
        const an_touch *t = signal_of(a, y, s);
        if (!t || !out_of_place(y, t, step))
            continue;
        if (found != XSR_NONE)
            return XSR_NONE;
        found = i;
    }
    return found;
}
