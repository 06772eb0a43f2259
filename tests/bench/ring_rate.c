/* How many records a second come out of the rings while kernels run, with none lost; and that what is lost at more is
 * counted exactly. The kernel's warps emit at a rate that is searched for; what they emitted they count in memory of
 * their own.
 *
 *   mapped, validated       N threads read, check stamps and copy                       bar: 200 / 400 million a second
 *   mapped, captured        N collector threads, into a capture with its space made     bar: 120 / 240
 *   device, live            the copier and N threads that read what it brings           no bar: stated
 *   too fast, burst         as fast as kernels go: kept + lost = emitted; a burst that fits is whole in device
 * placement
 *
 *   ring_rate [backend=cuda|host] [blocks=N] [block=THREADS] [ring=RECORDS] [seconds=S] [least=M] [most=M] (millions a
 * second) exit 1: loss was not exact, or a burst not whole; 2: it could not run; 77: no GPU. Rates below the bar are
 * shown, not judged. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ring_rate_load.h"

#define STEP 1.4 /* from rate to rate, until records are lost */
#define BISECTIONS 3
#define CONFIRM 3    /* runs in a row without loss, of full length */
#define BOUND_S 540u /* the program is over by then */

typedef load_result runner(const load_shape *shape, uint32_t threads, double rate, double seconds, uint32_t most);

static load_shape shape = {.backend = "cuda", .placement = "mapped", .blocks = 132, .block = 128, .ring_records = 4096};
static double seconds = 1.0, least = 20, most = 1600;
static int inexact;

static void too_long(int number) {
    static const char text[] = "ring_rate: FAILED: not over in its time\n";
    (void)number;
    if (write(2, text, sizeof text - 1) < 0)
        kill(getpid(), SIGKILL);
    kill(getpid(), SIGKILL);
}

static int number(const char *text, const char *name, double *value) {
    size_t n = strlen(name);
    if (strncmp(text, name, n) || text[n] != '=')
        return 0;
    *value = atof(text + n + 1);
    return *value > 0;
}

static int option(const char *text) {
    double value;
    if (!strncmp(text, "backend=", 8))
        return shape.backend = text + 8, 1;
    if (number(text, "blocks", &value))
        return shape.blocks = (uint32_t)value, 1;
    if (number(text, "block", &value))
        return shape.block = (uint32_t)value, 1;
    if (number(text, "ring", &value))
        return shape.ring_records = (uint32_t)value, 1;
    return number(text, "seconds", &seconds) || number(text, "least", &least) || number(text, "most", &most);
}

static load_result run(runner *how, uint32_t threads, double rate, double time, uint32_t burst) {
    load_result r = how(&shape, threads, rate, time, burst);
    if (r.kept + r.lost != r.emitted) {
        printf("NOT EXACT: kept %llu + lost %llu, emitted %llu\n", (unsigned long long)r.kept,
               (unsigned long long)r.lost, (unsigned long long)r.emitted);
        inexact = 1;
    }
    return r;
}

static int without_loss(runner *how, uint32_t threads, double rate, double time, load_result *r) {
    *r = run(how, threads, rate, time, 0);
    return r->lost == 0 && (double)r->emitted >= 0.9 * rate * time; /* kernels that fall behind are no such rate */
}

/* The highest rate at which nothing was lost in CONFIRM runs in a row; 0: none. */
static double search(runner *how, uint32_t threads, load_result *last) {
    double good = 0, bad = 0, rate = least * 1e6;
    for (; !bad && rate <= most * 1e6; rate *= STEP) {
        if (without_loss(how, threads, rate, seconds / 3, last))
            good = rate;
        else
            bad = rate;
    }
    for (int i = 0; good && bad && i < BISECTIONS; i++) {
        double middle = (good + bad) / 2;
        if (without_loss(how, threads, middle, seconds / 3, last))
            good = middle;
        else
            bad = middle;
    }
    for (int confirmed = 0; good >= least * 1e6 && confirmed < CONFIRM;) {
        if (without_loss(how, threads, good, seconds, last)) {
            confirmed++;
        } else {
            confirmed = 0;
            good *= 0.94;
        }
    }
    return good >= least * 1e6 ? good : 0;
}

static void rate_row(const char *what, runner *how, const char *placement, uint32_t threads, double bar) {
    load_result r = {.seconds = 1};
    shape.placement = placement;
    double found = search(how, threads, &r);
    double kept = found ? (double)r.kept / r.seconds / 1e6 : 0;
    printf("%-8s %-10s %7u  %9.1f  ", placement, what, threads, kept);
    if (bar > 0)
        printf("%6.0f  %s\n", bar, kept >= bar ? "met" : "NOT MET");
    else
        printf("%6s  %s\n", "-", found ? "stated" : "none without loss");
}

static uint64_t loss_row(const char *what, runner *how, const char *placement, uint32_t threads, uint32_t burst) {
    shape.placement = placement;
    load_result r = run(how, threads, 0, seconds / 5, burst);
    printf("%-8s %-10s %7u  emitted %llu, kept %llu, lost %llu: %s\n", placement, what, threads,
           (unsigned long long)r.emitted, (unsigned long long)r.kept, (unsigned long long)r.lost,
           r.kept + r.lost == r.emitted ? "exact" : "NOT EXACT");
    return r.lost;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i < argc; i++)
        if (!option(argv[i])) {
            fprintf(stderr, "ring_rate: '%s'? see the head of ring_rate.c\n", argv[i]);
            return 64;
        }
    signal(SIGALRM, too_long);
    alarm(BOUND_S);
    printf("%u x %u warps, rings of %u records\n", shape.blocks, shape.block / 32, shape.ring_records);
    printf("rings    what       threads   kept M/s     bar\n");
    static const double validated[] = {200, 400}, captured[] = {120, 240};
    for (uint32_t threads = 1; threads <= 2; threads++)
        rate_row("validated", load_validated, "mapped", threads, validated[threads - 1]);
    for (uint32_t threads = 1; threads <= 2; threads++)
        rate_row("captured", load_captured, "mapped", threads, captured[threads - 1]);
    for (uint32_t threads = 1; threads <= 2; threads++)
        rate_row("live", load_validated, "device", threads, 0);
    uint32_t burst = shape.ring_records - 5, too_many = shape.ring_records * 10;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        loss_row("too fast", load_validated, "mapped", threads, too_many);
        loss_row("too fast", load_captured, "mapped", threads, too_many);
        loss_row("too fast", load_validated, "device", threads, too_many);
        loss_row("too fast", load_captured, "device", threads, too_many);
        if (loss_row("burst", load_captured, "device", threads, burst)) {
            puts("NOT WHOLE: a burst that fits into the rings lost records");
            inexact = 1;
        }
    }
    puts(inexact ? "FAILED: see above" : "PASS: what was lost was counted exactly");
    return inexact;
}
