/* The configuration: caller's fields, then the environment (which wins), then defaults, then checks that say what is
 * wrong. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <xs/record_access.h>

#define DEVICES_MOST 1024u

enum field_kind { FIELD_STRING, FIELD_U32, FIELD_U64, FIELD_SWITCH, FIELD_WHEN };

typedef struct config_field {
    const char *variable;
    uint32_t kind;
    uint32_t offset;
    uint64_t low, high;
} config_field;

#define AT(member) offsetof(xs_config, member)
static const config_field fields[] = {
    {"XS_BACKEND", FIELD_STRING, AT(backend), 0, 0},
    {"XS_SCHEDULER", FIELD_STRING, AT(scheduler), 0, 0},
    {"XS_SEED", FIELD_U64, AT(seed), 0, UINT64_MAX},
    {"XS_RESIDENCY", FIELD_U32, AT(residency), 0, UINT32_MAX},
    {"XS_TRACE_START", FIELD_SWITCH, AT(trace_start), 0, 1},
    {"XS_PAYLOAD", FIELD_SWITCH, AT(payload), 0, 1},
    {"XS_PLAIN_STOPPED", FIELD_SWITCH, AT(plain_stopped), 0, 1},
    {"XS_CAPTURE", FIELD_STRING, AT(capture), 0, 0},
    {"XS_CAPTURE_BYTES", FIELD_U64, AT(capture_bytes), 0, UINT64_MAX},
    {"XS_CAPTURE_SECONDS", FIELD_U64, AT(capture_seconds), 0, UINT32_MAX},
    {"XS_CAPTURE_WHEN", FIELD_WHEN, AT(capture_on_trigger), 0, 0},
    {"XS_CUPTI", FIELD_SWITCH, AT(cupti), 0, 1},
    {"XS_CLOCK", FIELD_SWITCH, AT(clock), 0, 1},
    {"XS_RING_RECORDS", FIELD_U32, AT(ring_records), 4, 65536},
    {"XS_RECORD_WORDS", FIELD_U32, AT(record_words), 1, 2},
    {"XS_RINGS", FIELD_U32, AT(rings), 64, 65536},
    {"XS_CATALOG_BYTES", FIELD_U64, AT(catalog_bytes), XS_CATALOG_LEAST, XS_CATALOG_MOST},
    {"XS_PLACEMENT", FIELD_STRING, AT(placement), 0, 0},
    {"XS_COLLECTORS", FIELD_U32, AT(collectors), 1, XS_COLLECTORS_MOST},
    {"XS_WAIT_NS", FIELD_U64, AT(wait_ns), 0, UINT64_MAX},
    {"XS_DEVICES", FIELD_STRING, AT(devices), 0, 0},
    {"XS_CPU_RANKS", FIELD_STRING, AT(cpu_ranks), 0, 0},
    {"XS_GREEN", FIELD_SWITCH, AT(green), 0, 1},
    {"XS_START_NS", FIELD_U64, AT(start_ns), 1, UINT64_MAX},
    {"XS_JOIN_NS", FIELD_U64, AT(join_ns), 1, UINT64_MAX},
};
#undef AT

int xs_config_string(const char **field, const char *text) {
    char *copy = NULL;
    if (text && !(copy = strdup(text))) return XS_E_MEMORY;
    free((void *)*field);
    *field = copy;
    return 0;
}

static int field_when(const char *text, int32_t *value) {
    if (strcmp(text, "always") && strcmp(text, "trigger"))
        return xs_fail(XS_E_ARGUMENT, "XS_CAPTURE_WHEN=%s: expected always or trigger", text);
    *value = text[0] == 't';
    return 0;
}

static int field_apply(const config_field *field, xs_config *config) {
    char *at = (char *)config + field->offset;
    const char *text = getenv(field->variable);
    if (!text || !*text) return 0;
    if (field->kind == FIELD_STRING) return xs_config_string((const char **)at, text);
    if (field->kind == FIELD_WHEN) return field_when(text, (int32_t *)at);
    uint64_t value = 0;
    int rc = xs_env_number(field->variable, field->low, field->high, &value);
    if (rc < 0) return rc;
    if (field->kind == FIELD_U64) *(uint64_t *)at = value;
    if (field->kind == FIELD_U32) *(uint32_t *)at = (uint32_t)value;
    if (field->kind == FIELD_SWITCH) *(int32_t *)at = value ? 1 : -1;
    return 0;
}

/* Takes what this version knows; a caller from a newer one may use fields that are not here only as 0. */
static int copy_given(const xs_config *given, xs_config *out) {
    memset(out, 0, sizeof *out);
    if (given) {
        if (given->size < offsetof(xs_config, backend)) return xs_fail(XS_E_ARGUMENT, "xs_config.size is not set");
        if (given->version > 1)
            return xs_fail(XS_E_VERSION, "xs_config.version %u is newer than this library", given->version);
        const char *bytes = (const char *)given;
        for (size_t i = sizeof *out; i < given->size; i++)
            if (bytes[i]) return xs_fail(XS_E_VERSION, "xs_config uses fields that this library does not know");
        memcpy(out, given, given->size < sizeof *out ? given->size : sizeof *out);
    }
    out->size = sizeof *out;
    out->version = 1;
    return 0;
}

/* From here on the strings are ours. */
static int own_strings(xs_config *config) {
    const char **strings[] = {&config->backend, &config->scheduler, &config->world, &config->capture,
                              &config->placement, &config->devices, &config->cpu_ranks};
    enum { STRINGS = sizeof strings / sizeof strings[0] };
    const char *given[STRINGS];
    for (int i = 0; i < STRINGS; i++) {
        given[i] = *strings[i];
        *strings[i] = NULL;
    }
    for (int i = 0; i < STRINGS; i++) {
        int rc = xs_config_string(strings[i], given[i]);
        if (rc) return rc;
    }
    return 0;
}

static int fill_defaults(xs_config *config) {
    int rc = 0;
    if (!config->backend) rc = xs_config_string(&config->backend, xs_backend_default(config));
    if (!rc && !config->scheduler) rc = xs_config_string(&config->scheduler, "threads");
    if (!rc && !config->placement) rc = xs_config_string(&config->placement, "mapped");
    if (!config->collectors) config->collectors = 1;
    if (!config->shared_bytes) config->shared_bytes = 256ull << 20;
    if (config->shared_bytes <= 1ull << 40) config->shared_bytes = (config->shared_bytes + 4095) & ~4095ull;
    if (!config->catalog_bytes) config->catalog_bytes = 256ull << 20;
    if (config->catalog_bytes <= XS_CATALOG_MOST) config->catalog_bytes = (config->catalog_bytes + 4095) & ~4095ull;
    if (!config->start_ns) config->start_ns = 10000000000u;
    if (!config->join_ns) config->join_ns = 60000000000u;
    if (!config->ring_records)
        for (config->ring_records = 4096; config->ring_records > (XS_SEQUENCE_MASK >> 1);)
            config->ring_records /= 2; /* narrow test builds */
    if (!config->record_words) config->record_words = XS_RECORD_WORDS;
    if (!config->rings) config->rings = 64;
    if (!config->lines) config->lines = config->ranks > 4 ? config->ranks : 4;
    if (!config->trace_start) config->trace_start = 1;
    if (!config->payload) config->payload = 1;
    return rc;
}

static int check_rings(const xs_config *config) {
    uint32_t n = config->ring_records;
    if (n < 4 || n > 65536 || (n & (n - 1)))
        return xs_fail(XS_E_ARGUMENT, "ring_records %u: expected a power of two from 4 to 65536", n);
    if (n > (XS_SEQUENCE_MASK >> 1))
        return xs_fail(XS_E_ARGUMENT, "ring_records %u: this build has %u-bit sequences", n,
                       (unsigned)XS_SEQUENCE_BITS);
    if (config->record_words < 1 || config->record_words > 2)
        return xs_fail(XS_E_ARGUMENT, "record_words %u: expected 1 (of 16 bytes) or 2 (of 8)", config->record_words);
    if (config->record_words == 1 && !XS_WHOLE_ACCESS)
        return xs_fail(XS_E_UNSUPPORTED,
                       "record_words 1: this build has no 16-byte loads, it reads records of 2 words");
    if (config->rings % 64 || config->rings > 65536)
        return xs_fail(XS_E_ARGUMENT, "rings %u: expected a multiple of 64, at most 65536", config->rings);
    if (strcmp(config->placement, "mapped") && strcmp(config->placement, "device"))
        return xs_fail(XS_E_ARGUMENT, "placement \"%s\": expected mapped or device", config->placement);
    if (config->collectors > XS_COLLECTORS_MOST)
        return xs_fail(XS_E_ARGUMENT, "collectors %u: at most %u", config->collectors, XS_COLLECTORS_MOST);
    if (config->lines > 4096) return xs_fail(XS_E_ARGUMENT, "lines %u: at most 4096", config->lines);
    return 0;
}

static int is_number(void *user, uint64_t number) {
    (void)user, (void)number;
    return 0;
}

static int seen_before(void *user, uint64_t number) {
    uint8_t *seen = user;
    if (seen[number]) return XS_E_TOO_MANY;
    seen[number] = 1;
    return 0;
}

/* Whatever the backend: a list that only CUDA looks at is refused at home too. Which GPUs there are is known later. */
static int check_lists(const xs_config *config) {
    uint8_t seen[DEVICES_MOST] = {0};
    const char *text = config->devices;
    int rc = text && *text ? xs_parse_list(text, DEVICES_MOST - 1, seen_before, seen) : 0;
    if (rc == XS_E_TOO_MANY) return xs_fail(XS_E_ARGUMENT, "devices \"%s\": one of them twice", text);
    if (rc) return xs_fail(XS_E_ARGUMENT, "devices \"%s\": expected numbers of GPUs, as in 0,2-3", text);
    text = config->cpu_ranks;
    if (text && *text && xs_parse_list(text, config->ranks - 1, is_number, NULL))
        return xs_fail(XS_E_ARGUMENT, "cpu_ranks \"%s\": expected ranks from 0 to %u, as in 0,2-3", text,
                       config->ranks - 1);
    return 0;
}

static int check(const xs_config *config) {
    int rc = check_rings(config);
    if (!rc) rc = check_lists(config);
    if (rc) return rc;
    if (config->trace_start < -1 || config->trace_start > 1 || config->payload < -1 || config->payload > 1)
        return xs_fail(XS_E_ARGUMENT, "trace_start and payload: expected -1, 0 or 1");
    if (config->cupti < -1 || config->cupti > 1 || config->clock < -1 || config->clock > 1)
        return xs_fail(XS_E_ARGUMENT, "cupti and clock: expected -1, 0 or 1");
    if (config->shared_bytes > 1ull << 40) return xs_fail(XS_E_ARGUMENT, "shared_bytes: at most 1 TiB a rank");
    if (config->catalog_bytes < XS_CATALOG_LEAST || config->catalog_bytes > XS_CATALOG_MOST)
        return xs_fail(XS_E_ARGUMENT, "catalog_bytes %llu: expected %llu to %llu",
                       (unsigned long long)config->catalog_bytes, XS_CATALOG_LEAST, XS_CATALOG_MOST);
    if (!strcmp(config->scheduler, "sim") && config->local_ranks != config->ranks)
        return xs_fail(XS_E_UNSUPPORTED, "the sim scheduler runs all ranks in one process");
    if (!strcmp(config->scheduler, "sim") && !strcmp(config->backend, "cuda"))
        return xs_fail(XS_E_UNSUPPORTED, "scheduler \"sim\" runs kernels on the CPU: leave it out, or name the backend "
                                         "\"host\" instead of \"cuda\"");
    return 0;
}

int xs_config_resolve(const xs_config *given, xs_config *out) {
    int rc = copy_given(given, out);
    if (rc) {
        memset(out, 0, sizeof *out);
        return rc;
    }
    rc = own_strings(out);
    for (size_t i = 0; !rc && i < sizeof fields / sizeof fields[0]; i++) rc = field_apply(&fields[i], out);
    if (!rc) rc = xs_config_ranks(out);
    if (!rc) rc = fill_defaults(out);
    return rc ? rc : check(out);
}

void xs_config_free(xs_config *config) {
    free((void *)config->backend);
    free((void *)config->scheduler);
    free((void *)config->world);
    free((void *)config->capture);
    free((void *)config->placement);
    free((void *)config->devices);
    free((void *)config->cpu_ranks);
    memset(config, 0, sizeof *config);
}
