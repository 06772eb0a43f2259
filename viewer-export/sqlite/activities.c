/* What CUPTI told: kernels, copies, calls; and how CUPTI fared in each process. */
#include "catalog.h"

#define INT(v) xsv_put_int(&p, (int64_t)(v))
#define INDEX(v) xsv_put_index(&p, v)
#define TIME(v) xsv_put_time(&p, v)
#define TEXT(v) xsv_put_text(&p, v)

#define EACH(table, which)                                                            \
    const xsr_model *m = c->model;                                                    \
    xsv_put p;                                                                        \
    xsv_put_begin(&p, c, XSV_T_##table);                                              \
    for (uint32_t i = 0; i < m->activity_count && p.rc == SQLITE_OK; i++) {           \
        const xsr_activity *a = &m->activities[i];                                    \
        if (a->kind != (which))                                                       \
            continue;
#define END              \
        xsv_put_row(&p); \
    }                    \
    return xsv_put_end(&p)

/* NULL: not of a graph. */
static void put_graph(xsv_put *p, const xsr_activity *a) {
    xsv_put_index(p, a->graph_node ? a->graph : XSR_NONE);
    if (a->graph_node)
        xsv_put_int(p, (int64_t)a->graph_node);
    else
        xsv_put_index(p, XSR_NONE);
}

static int kernels(xsv_catalog *c) {
    EACH(gpu_kernel, XS_ACTIVITY_KERNEL)
        INT(i), INDEX(a->process), INT(a->device), INT(a->context), INT(a->stream), INDEX(a->name), TIME(a->begin), TIME(a->end);
        INDEX(a->call), INDEX(a->launch), INT(a->writers), INT(a->correlation);
        put_graph(&p, a);
        INT(a->grid[0]), INT(a->grid[1]), INT(a->grid[2]), INT(a->block[0]), INT(a->block[1]), INT(a->block[2]);
        INT(a->registers), INT(a->shared_static), INT(a->shared_dynamic);
    END;
}

static int copies(xsv_catalog *c) {
    EACH(gpu_copy, XS_ACTIVITY_COPY)
        INT(i), INDEX(a->process), INT(a->device);
        INDEX(a->to_device < 0 ? XSR_NONE : (uint32_t)a->to_device);
        INT(a->context), INT(a->stream), TEXT(xsr_copy_name(a->copy)), INT(a->bytes), TIME(a->begin), TIME(a->end), INDEX(a->call);
        INT(a->correlation);
        put_graph(&p, a);
    END;
}

static int calls(xsv_catalog *c) {
    EACH(cuda_call, XS_ACTIVITY_CALL)
        INT(i), INDEX(a->process), INT(a->thread), TEXT(a->name < m->name_count ? m->names[a->name].text : NULL), TIME(a->begin);
        TIME(a->end), INT(a->correlation), INT(a->result);
    END;
}

static int health(xsv_catalog *c) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_cupti);
    for (uint32_t i = 0; i < c->model->process_count && p.rc == SQLITE_OK; i++) {
        const xsr_cupti *u = &c->model->processes[i].cupti;
        INT(i), TEXT(xsr_cupti_name(u->state)), TEXT(xsr_cupti_meaning(u->state)), TEXT(u->why), INT(u->version), INT(u->built);
        TIME(u->state == XS_CUPTI_NONE ? INT64_MIN : u->since), TIME(u->state == XS_CUPTI_NONE ? INT64_MIN : u->until);
        INT(u->kernels), INT(u->copies), INT(u->calls), INT(u->dropped), INT(u->void_stamps), INT(u->unknown), INT(u->lost);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}

int xsv_catalog_activities(xsv_catalog *c) {
    static int (*const tables[])(xsv_catalog *) = {kernels, copies, calls, health};
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && rc == SQLITE_OK; i++)
        rc = tables[i](c);
    return rc;
}
