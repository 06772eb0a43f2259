/* The `word` table: what the small numbers in other tables are called. */
#include "catalog.h"

#include <string.h>

typedef struct word {
    const char *class;
    int64_t id;
    const char *name, *meaning; /* name NULL: asked from the reader's name function */
} word;

#define EVENT(id, name, shape, object, value, detail, further, text) {"event", id, NULL, text},
#define REASON(name, text) {"reason", XSR_REASON_##name, NULL, text},
#define LOSS(number, name, text) {"loss", number, NULL, text},
#define ERROR(number, name, text) {"error", number, #name, text},
#define PART(name, shown, text) {"part", XSA_PART_##name, shown, text},
#define ORDER(number) {"order", number, NULL, NULL}
#define SCOPE(number) {"scope", number, NULL, NULL}
#define RESULT(number) {"result", number, NULL, NULL}

static const word words[] = {
    XS_EVENTS(EVENT) XSR_REASONS(REASON) XS_LOSS_CAUSES(LOSS) XS_ERRORS(ERROR) XSA_PARTS(PART)
    {"loss", 0, NULL, "the capture does not say why"},
    ORDER(XS_ORDER_NONE), ORDER(XS_RELAXED), ORDER(XS_ACQUIRE), ORDER(XS_RELEASE), ORDER(XS_ACQ_REL), ORDER(XS_SEQ_CST),
    ORDER(XS_VOLATILE), ORDER(XS_WEAK),
    SCOPE(XS_SCOPE_NONE), SCOPE(XS_SCOPE_CTA), SCOPE(XS_SCOPE_GPU), SCOPE(XS_SCOPE_SYS),
    RESULT(XS_RESULT_OK), RESULT(XS_RESULT_TIMEOUT), RESULT(XS_RESULT_PEER_DEAD), RESULT(XS_RESULT_ABORTED),
    {"fence", XS_FENCE_NONE, "none", "no fence stood beside the access"},
    {"fence", XS_FENCE_CTA, "cta", "a fence of this scope before a signal, or after a wait"},
    {"fence", XS_FENCE_GPU, "gpu", "a fence of this scope before a signal, or after a wait"},
    {"fence", XS_FENCE_SYS, "sys", "a fence of this scope before a signal, or after a wait"},
    {"fence", XS_FENCE_UNKNOWN, "unknown", "the note did not say"},
    {"cmp", XS_CMP_GE, ">=", "observed >= need"},
    {"cmp", XS_CMP_EQ, "=", "observed = need"},
    {"cmp", XS_CMP_NE, "!=", "observed != need"},
    {"cmp", XS_CMP_LT, "<", "observed < need"},
    {"cmp", XS_CMP_GT, ">", "observed > need"},
    {"origin", XS_PLAN_DECLARED, "declared", "the host declared it"},
    {"origin", XS_PLAN_REPORTED, "reported", "a kernel reported it"},
    {"origin", XS_PLAN_INFERRED, "inferred", "inferred from the trace"},
    {"plan", XS_PLAN_WRITER, "writer", "a = rank that signals the slot, b = role or 0"},
    {"plan", XS_PLAN_SIGNALS, "signals", "a = signals an epoch"},
    {"plan", XS_PLAN_ARRIVALS, "arrivals", "a = arrivals an epoch that elect"},
    {"plan", XS_PLAN_DEPTH, "depth", "a = depth of the ring"},
    {"plan", XS_PLAN_PARTICIPANTS, "participants", "a = ranks that take part in the barrier"},
    {"plan", XS_PLAN_ROLE_BLOCKS, "role_blocks", "a = role, b = first block and blocks (high half)"},
    {"plan", XS_PLAN_HOST_SUPPLIER, "host_supplier", "the host signals the slot"},
    {"plan", XS_PLAN_NO_ARRIVALS, "no_arrivals", "a = rank that publishes where nothing is expected"},
    {"plan", XS_PLAN_INSIDE, "inside", "the slot lies in a buffer: a = its row of name, + 1, b = byte in it"},
    /* events whose object is a row of `name` */
#define NAMED_ROLE 1
#define NAMED_MARK 1
#define NAMED_NONE 0
#define NAMED_SLOT 0
#define NAMED_BARRIER 0
#define NAMED(id, name, shape, object, value, detail, further, text) \
    {NAMED_##object ? "named" : "unnamed", id, NULL, NULL},
    XS_EVENTS(NAMED)
};

static const char *name_of(const word *w) {
    if (w->name)
        return w->name;
    switch (w->class[0]) {
    case 'e':
    case 'n': return xsr_event_name((uint32_t)w->id);
    case 'o': return xsr_order_name((uint32_t)w->id);
    case 's': return xsr_scope_name((uint32_t)w->id);
    case 'l': return xsr_loss_name((uint32_t)w->id);
    default: return w->class[2] == 's' ? xsr_result_name((uint32_t)w->id) : xsr_reason_name((uint32_t)w->id);
    }
}

int xsv_catalog_words(xsv_catalog *c) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_word);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!strcmp(words[i].class, "unnamed"))
            continue;
        xsv_put_text(&p, words[i].class);
        xsv_put_int(&p, words[i].id);
        xsv_put_text(&p, name_of(&words[i]));
        xsv_put_text(&p, words[i].meaning);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}
