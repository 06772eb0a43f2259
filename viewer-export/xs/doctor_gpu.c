/* The GPUs of xs doctor: what each can do, and the links between them and to the host. Bounded: what there is no
 * time for is said. */
#include "doctor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xs/xs.h>

#define BOUND_S 8 /* for all of them together */

struct doctor_gpus {
    uint32_t count;
    xs_gpu_probe *gpus;
    xs_peer_probe *pairs; /* from * count + to */
    char (*why)[256];     /* of each GPU; "": measured */
};

static time_t seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static const char *words_of(int rc) { return *xs_error_detail() ? xs_error_detail() : xs_strerror(rc); }

static void measure_gpu(doctor_gpus *g, uint32_t i, int in_time) {
    g->gpus[i] = (xs_gpu_probe){.size = sizeof g->gpus[i], .device = i};
    int rc = in_time ? xs_probe_gpu(i, &g->gpus[i]) : 0;
    snprintf(g->why[i], sizeof g->why[i], "%s", !in_time ? "not measured: no time left" : rc < 0 ? words_of(rc) : "");
}

static void measure_pair(doctor_gpus *g, uint32_t from, uint32_t to, int in_time) {
    xs_peer_probe *p = &g->pairs[from * g->count + to];
    *p = (xs_peer_probe){.size = sizeof *p};
    if (!in_time || from == to || xs_probe_peer(from, to, p) < 0)
        p->size = 0; /* nothing known */
}

doctor_gpus *doctor_gpus_measure(int32_t count) {
    doctor_gpus *g = calloc(1, sizeof *g);
    uint32_t n = count > 0 ? (uint32_t)count : 0;
    if (!g || !n)
        return g;
    g->gpus = calloc(n, sizeof *g->gpus);
    g->pairs = calloc((size_t)n * n, sizeof *g->pairs);
    g->why = calloc(n, sizeof *g->why);
    if (!g->gpus || !g->pairs || !g->why)
        return g;
    g->count = n;
    time_t end = seconds() + BOUND_S;
    for (uint32_t i = 0; i < n; i++)
        measure_gpu(g, i, seconds() < end);
    for (uint32_t i = 0; i < n * n; i++)
        measure_pair(g, i / n, i % n, seconds() < end);
    return g;
}

void doctor_gpus_free(doctor_gpus *g) {
    if (!g)
        return;
    free(g->gpus);
    free(g->pairs);
    free(g->why);
    free(g);
}

static void say_stores(const char *name, const xs_gpu_probe *p) {
    if (p->store16_torn)
        doctor_say(DOCTOR_HALVES, name,
                   "16-byte stores to host memory: %" PRIu64 " of %" PRIu64 " seen in halves: " DOCTOR_CURE,
                   p->store16_torn, p->store16_reads);
    else if (!p->control_torn)
        doctor_say(DOCTOR_TOLD, name,
                   "16-byte stores to host memory: 0 of %" PRIu64 " torn, but neither was the control: not proven",
                   p->store16_reads);
    else
        doctor_say(DOCTOR_GOOD, name,
                   "16-byte stores to host memory: 0 of %" PRIu64 " torn; the control %" PRIu64 " of %" PRIu64,
                   p->store16_reads, p->control_torn, p->control_reads);
}

static void say_gpu(const xs_gpu_probe *p, const char *why) {
    char name[32];
    snprintf(name, sizeof name, "GPU %u", p->device);
    if (*why) {
        doctor_say(DOCTOR_BAD, name, "%s%s%s", p->name, *p->name ? ": " : "", why);
        return;
    }
    doctor_say(p->cooperative ? DOCTOR_GOOD : DOCTOR_BAD, name, "%s, %u processors, driver %u.%u%s", p->name,
               p->processors, p->driver / 1000, p->driver % 1000 / 10,
               p->cooperative ? "" : ": no cooperative launch, so no CUDA backend");
    doctor_say(DOCTOR_TOLD, name,
               "clock steps of %u ns; a record adds %u.%02u cycles to a lone warp in host memory, %u.%02u in its own",
               p->time_step_ns, p->record_mapped_x100 / 100, p->record_mapped_x100 % 100, p->record_device_x100 / 100,
               p->record_device_x100 % 100);
    say_stores(name, p);
    doctor_say(DOCTOR_TOLD, name,
               "atomics over the link to the host: %s; GPU and CPU at once lost %" PRIu64 " of %" PRIu64 " increments",
               p->host_native_atomics ? "native" : "none", p->host_adds_lost, p->host_adds);
}

static void say_pair(const doctor_gpus *g, uint32_t from, uint32_t to) {
    const xs_peer_probe *p = &g->pairs[from * g->count + to];
    char name[48];
    snprintf(name, sizeof name, "GPU %u to GPU %u", from, to);
    if (!p->size)
        doctor_say(DOCTOR_TOLD, name, "not measured");
    else if (!p->access)
        doctor_say(DOCTOR_BAD, name, "no peer access: ranks on these two cannot be in one world");
    else
        doctor_say(DOCTOR_GOOD, name,
                   "peer access; atomics %s; both at once lost %" PRIu64 " of %" PRIu64 " increments",
                   p->native_atomics ? "native" : "none", p->adds_lost, p->adds);
}

void doctor_gpus_text(const doctor_gpus *g) {
    for (uint32_t i = 0; g && i < g->count; i++)
        say_gpu(&g->gpus[i], g->why[i]);
    for (uint32_t i = 0; g && i < g->count * g->count; i++)
        if (i / g->count != i % g->count)
            say_pair(g, i / g->count, i % g->count);
}

static void put_gpu(const xs_gpu_probe *p, const char *why) {
    printf("{\"device\": %u, \"name\": ", p->device);
    doctor_print_string(p->name);
    printf(", \"why_not\": ");
    doctor_print_string(why);
    printf(", \"driver\": %u, \"processors\": %u, \"cooperative_launch\": %s, \"time_step_ns\": %u,\n   "
           "\"record_mapped_cycles\": %u.%02u, "
           "\"record_device_cycles\": %u.%02u, ",
           p->driver, p->processors, p->cooperative ? "true" : "false", p->time_step_ns, p->record_mapped_x100 / 100,
           p->record_mapped_x100 % 100, p->record_device_x100 / 100, p->record_device_x100 % 100);
    printf("\"store16_reads\": %" PRIu64 ", \"store16_torn\": %" PRIu64 ", \"control_reads\": %" PRIu64
           ", \"control_torn\": %" PRIu64 ",\n   \"host_native_atomics\": %s, \"host_adds\": %" PRIu64
           ", \"host_adds_lost\": %" PRIu64 "}",
           p->store16_reads, p->store16_torn, p->control_reads, p->control_torn,
           p->host_native_atomics ? "true" : "false", p->host_adds, p->host_adds_lost);
}

void doctor_gpus_json(const doctor_gpus *g) {
    const char *between = "";
    printf(" \"gpu\": [");
    for (uint32_t i = 0; g && i < g->count; i++, between = ",\n  ") {
        fputs(between, stdout);
        put_gpu(&g->gpus[i], g->why[i]);
    }
    printf("],\n \"links\": [");
    between = "";
    for (uint32_t i = 0; g && i < g->count * g->count; i++) {
        const xs_peer_probe *p = &g->pairs[i];
        if (!p->size)
            continue;
        printf("%s{\"from\": %u, \"to\": %u, \"access\": %s, \"native_atomics\": %s, \"adds\": %" PRIu64
               ", \"adds_lost\": %" PRIu64 "}",
               between, p->from, p->to, p->access ? "true" : "false", p->native_atomics ? "true" : "false", p->adds,
               p->adds_lost);
        between = ",\n  ";
    }
    printf("],\n");
}
