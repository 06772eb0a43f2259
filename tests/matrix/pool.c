/* All runs of all faults, in chunks that processes take one after the other. */
#include "matrix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 10 }; /* runs that a process takes at a time */

/* One run, entered into its row of each setting. */
static void make_run(const matrix_settings *settings, matrix_row *rows, uint32_t index, uint64_t seed, bool twin, const char *capture) {
    matrix_verdict v[MATRIX_SETTINGS];
    matrix_judge(fault_table[index], settings, seed, twin, capture, v);
    for (uint32_t i = 0; i < settings->count; i++)
        matrix_enter(&rows[i * fault_count + index], &settings->of[i], fault_table[index], seed, twin, &v[i]);
}

static void work(const matrix_settings *settings, matrix_row *rows, uint64_t *next, uint32_t job) {
    const matrix_options *o = &settings->of[0];
    uint64_t of_fault = (o->runs + CHUNK - 1) / CHUNK, of_twin = (o->twins + CHUNK - 1) / CHUNK, units = of_fault + of_twin;
    char capture[256];
    snprintf(capture, sizeof capture, "/dev/shm/xs-matrix.%ld.%u", (long)getppid(), job);
    if (o->keep)
        snprintf(capture, sizeof capture, "%s", o->keep);
    for (uint64_t unit; (unit = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED)) < units * fault_count;) {
        uint32_t index = (uint32_t)(unit / units);
        bool twin = unit % units >= of_fault;
        uint64_t from = (unit % units - (twin ? of_fault : 0)) * CHUNK, most = twin ? o->twins : o->runs;
        for (uint64_t i = from; matrix_takes(o, index) && i < from + CHUNK && i < most; i++)
            make_run(settings, rows, index, o->seed + i, twin, capture);
    }
}

/* Prints how a process ended that did not end well. */
static bool is_dead(int status) {
    if (WIFSIGNALED(status))
        fprintf(stderr, "a process died: %s\n", strsignal(WTERMSIG(status)));
    else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        fprintf(stderr, "a process ended with %d\n", WEXITSTATUS(status));
    else
        return false;
    return true;
}

/* A process that dies takes its chunk along: that is a failure, not a gap. */
uint32_t matrix_pool(const matrix_settings *settings, matrix_row *rows) {
    uint64_t *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* unit of work to be taken next */
    uint32_t died = 0;
    int status;
    if (next == MAP_FAILED)
        return 1;
    fflush(stdout);
    for (uint32_t job = 0; job < settings->of[0].jobs; job++) {
        pid_t child = fork();
        if (child == 0) {
            work(settings, rows, next, job);
            _exit(0);
        }
        died += child < 0;
    }
    while (wait(&status) > 0)
        died += is_dead(status);
    munmap(next, sizeof *next);
    return died;
}
