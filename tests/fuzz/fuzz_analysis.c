/* Fuzz target of the detectors: captures whose events say anything. Without libFuzzer, main runs every fault of the zoo
 * and its twin on sim, and changes each capture in two ways: records are lost, which must bring no error that was not
 * there; and fields of records, plan, pads and status lines get other values, of which the detectors may say what they
 * like, as long as it makes sense. argv: the zoo's program; for libFuzzer's corpus a folder, where the captures are
 * left. XS_FUZZ_SEED: other changes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char *copy = malloc(size + 1);
    require(copy != NULL);
    memcpy(copy, data, size);
    input_seal(copy, size);
    input_check(copy, size);
    free(copy);
    return 0;
}

#ifndef XS_FUZZ_ENGINE
#define LOSSES 40 /* changes of each kind, a capture */
#define CHANGES 24
#define MOST_MEMORY_KB (1l << 20) /* of captures of a few kilobytes; the sanitizer keeps what was freed */

static unsigned char bytes[1 << 20], copy[1 << 20];
static unsigned seed = 1;
static unsigned any(unsigned below) { return (unsigned)rand_r(&seed) % below; }

/* The records of the n-th RECORDS frame, counted round; 0: there are none. */
static uint64_t records_at(size_t size, unsigned n, xs_record **records) {
    xs_frame f;
    size_t found[512];
    unsigned count = 0;
    for (size_t at = 0; (at = input_frame(copy, size, at, &f)) < size && count < 512;
         at += f.header_bytes + ((f.payload_bytes + 15) & ~15ull))
        if (f.type == XS_FRAME_RECORDS && f.payload_bytes > sizeof(xs_frame_records))
            found[count++] = at;
    if (!count)
        return 0;
    memcpy(&f, copy + found[n % count], sizeof f);
    *records = (xs_record *)(void *)(copy + found[n % count] + f.header_bytes + sizeof(xs_frame_records));
    return (f.payload_bytes - sizeof(xs_frame_records)) / sizeof(xs_record);
}

/* A record that is blank where it stands is one that never arrived. */
static void lose(size_t size, unsigned most) {
    xs_record *r;
    for (unsigned k = 1 + any(most); k; k--) {
        uint64_t n = records_at(size, any(512), &r);
        if (n)
            memset(&r[any((unsigned)n)], 0, sizeof *r);
    }
}

static void change_record(size_t size) {
    xs_record *r, other;
    uint64_t n = records_at(size, any(512), &r);
    if (!n)
        return;
    r += any((unsigned)n);
    switch (any(6)) {
    case 0:
        r->code_object ^= 1u << any(32);
        break;
    case 1:
        r->code_object = (r->code_object & XS_OBJECT_MASK) | any(256) << 24;
        break;
    case 2:
        r->value = any(4) ? r->value + any(5) - 2 : 0u - any(9);
        break;
    case 3:
        r->time ^= 1u << any(32);
        break;
    case 4:
        r->value ^= 1u << any(32);
        break;
    default: /* what stands elsewhere, with this one's sequence */
        other = r[-(int)any(2)];
        other.sequence = r->sequence;
        *r = other;
    }
}

/* A word of any frame's payload, in steps that matter: bits, small and large numbers. */
static void change_word(size_t size) {
    xs_frame f;
    size_t at = input_frame(copy, size, any((unsigned)size) & ~15u, &f);
    if (at >= size || f.payload_bytes < 4)
        return;
    uint32_t *word = (uint32_t *)(void *)(copy + at + f.header_bytes + (any((unsigned)(f.payload_bytes / 4)) * 4));
    static const uint32_t values[] = {0, 1, 2, 7, 64, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff};
    *word = any(2) ? *word ^ 1u << any(32) : values[any(sizeof values / sizeof *values)];
}

static unsigned files, lossy, changed, renamed, wrong;

static void change_all(const char *what, size_t size) {
    uint32_t errors = input_check(bytes, size);
    files++;
    for (int i = 0; i < LOSSES; i++, lossy++) {
        memcpy(copy, bytes, size);
        lose(size, i % 2 ? 3 : 60);
        input_seal(copy, size);
        uint32_t more = input_check(copy, size) & ~errors;
        for (uint32_t d = 1; d < XSA_DETECTOR_END && more && !errors; d++)
            if (more >> d & 1)
                printf("%s: lost records alone brought an error: %s\n", what, xsa_detector_name(d));
        renamed += more && errors; /* the fault is there; which of its traces are left decides how it shows */
        wrong += more && !errors;
    }
    for (int i = 0; i < CHANGES; i++, changed++) {
        memcpy(copy, bytes, size);
        for (int k = 0; k < 1 + i % 5; k++)
            any(3) ? change_record(size) : change_word(size);
        LLVMFuzzerTestOneInput(copy, size);
    }
}

static void run_fault(const char *program, const char *name, int twin, const char *capture) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("XS_CAPTURE", capture, 1);
        setenv("XS_BACKEND", "host", 1);
        if (!freopen("/dev/null", "w", stdout))
            _exit(126);
        execl(program, program, name, "--scheduler=sim", "--seed=1", "--pollers=50", twin ? "--twin" : NULL,
              (char *)NULL);
        _exit(127);
    }
    int status;
    require(pid > 0 && waitpid(pid, &status, 0) == pid);
}

static void try_fault(const char *program, const char *folder, const char *name, int twin) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s%s.xs", folder, name, twin ? ".twin" : "");
    run_fault(program, name, twin, path);
    FILE *in = fopen(path, "rb");
    require(in != NULL);
    size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    if (size < sizeof bytes) /* all of it */
        change_all(path, size);
}

int main(int argc, char **argv) {
    char made[] = "/tmp/xs-fuzz-XXXXXX", command[1024], line[256];
    const char *folder = argc > 2 ? argv[2] : mkdtemp(made), *wanted = getenv("XS_FUZZ_SEED");
    seed = wanted ? (unsigned)atoi(wanted) : 1;
    require(argc > 1 && folder != NULL);
    snprintf(command, sizeof command, "'%s' --list", argv[1]);
    FILE *list = popen(command, "r");
    require(list != NULL);
    while (fgets(line, sizeof line, list)) {
        line[strcspn(line, " \t\n")] = 0;
        for (int twin = 0; twin < 2 && *line; twin++)
            try_fault(argv[1], folder, line, twin);
    }
    require(pclose(list) == 0);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%u captures; records lost in %u ways: %u brought another error beside the fault's, %u one where there was "
           "none; changed in %u "
           "ways; %ld MB at most\n",
           files, lossy, renamed, wrong, changed, used.ru_maxrss >> 10);
    require(!wrong && files > 80 && used.ru_maxrss < MOST_MEMORY_KB);
    if (folder == made) {
        snprintf(command, sizeof command, "rm -rf %s", made);
        return system(command);
    }
    return 0;
}
#endif
