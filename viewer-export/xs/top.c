/* xs top: the command. */
#include "command.h"
#include "top.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <xs/xs.h>

#define LEAST_MS (HANG_SAMPLE_NS / 1000000u)

static char *delay_text, *frames_text;
static uint32_t delay_ms = 1000, frames; /* frames 0: until it is stopped */
static const struct poptOption options[] = {
    {"delay", 'd', POPT_ARG_STRING, &delay_text, 0, "time from look to look (1000), 200 at least", "MS"},
    {"frames", 'n', POPT_ARG_STRING, &frames_text, 0, "end after so many looks", "N"},
    OPTION_HELP,
    POPT_TABLEEND};

static volatile sig_atomic_t stopped;
static void stop(int number) { stopped = number; }

static void print(const top_frame *frame) {
    for (uint32_t i = 0; i < frame->count; i++)
        puts(frame->lines[i].text);
    putchar('\n');
    fflush(stdout);
}

/* Where there is no screen, one frame follows the other. */
static enum top_wish show(const top_frame *frame, int screen, int last) {
    uint32_t rest = delay_ms - LEAST_MS;
    if (screen)
        return top_screen_show(frame, last ? 0 : rest);
    print(frame);
    struct timespec nap = {rest / 1000, (long)(rest % 1000) * 1000000};
    if (!last)
        nanosleep(&nap, NULL);
    return TOP_GO_ON;
}

static int look(const int32_t *pids, uint32_t count, top_frame *frame) {
    hang_report report;
    int rc = hang_read(pids, count, &report);
    if (!rc) {
        top_frame_free(frame);
        rc = top_frame_make(&report, frame);
    }
    hang_free(&report);
    return rc;
}

static int watch(const int32_t *pids, uint32_t count, int screen) {
    top_frame frame = {.lines = NULL};
    enum top_wish wish = TOP_GO_ON;
    int rc = 0;
    for (uint32_t n = 1; wish == TOP_GO_ON && !stopped && !rc; n++) {
        if (!screen || !top_screen_paused() || n == 1)
            rc = look(pids, count, &frame);
        if (!rc)
            wish = show(&frame, screen, n == frames);
        if (n == frames)
            break;
    }
    top_frame_free(&frame);
    return rc;
}

/* Who ends while it is watched is told of by the frames. */
static int are_there(const int32_t *pids, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (kill(pids[i], 0) && errno == ESRCH)
            return complain(EX_NOINPUT, "process %d: there is no such process", (int)pids[i]);
    return EX_OK;
}

static int top(const char **args, uint32_t count) {
    uint32_t found = 0;
    int32_t *pids = calloc(count + 1u, sizeof *pids);
    int code = pids ? pids_parse(args, count, pids, &found) : complain(EX_SOFTWARE, "out of memory");
    if (!code && found < count)
        code = complain(EX_USAGE, "'%s' is no process id; of a run that is over: xs hang NAME", args[0]);
    if (!code)
        code = are_there(pids, found);
    if (!code) {
        struct sigaction act = {.sa_handler = stop};
        sigaction(SIGINT, &act, NULL), sigaction(SIGTERM, &act, NULL);
        int screen = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && terminal_can_move() && top_screen_open();
        int rc = watch(pids, found, screen);
        if (screen)
            top_screen_close();
        code = rc ? complain(exit_code_input(rc), "%s", rc == XS_E_SYSTEM ? "/proc cannot be read" : xs_strerror(rc))
                  : finish_output();
    }
    free(pids);
    return code;
}

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 0, argc, argv, &context);
    if (code >= 0)
        return code;
    uint32_t count;
    const char **args = options_arguments(context, &count);
    code = options_number("--delay", delay_text, LEAST_MS, 3600000, &delay_ms);
    if (!code)
        code = options_number("--frames", frames_text, 0, INT32_MAX, &frames);
    free(delay_text);
    free(frames_text);
    if (!code)
        code = top(args, count);
    poptFreeContext(context);
    return code;
}

const command command_top = {
    "top", "[PID ...]", "watch running programs: who waits for whom, now",
    "A row a rank, renewed every second: its process, kernel, epoch, writers, records a second, open waits,\n"
    "and of the oldest of them for how long, for whom and on what. Above the rows the verdict of xs hang.\n"
    "It looks at trace memory alone: no program is stopped, no CUDA call is made.\n\n"
    "Keys: q quits, space stops the clock, arrows and pages scroll. Where the output is no terminal, frames\n"
    "follow each other as text.\n\n"
    "Examples:\n"
    "  xs top\n"
    "  xs top 4711 --delay 500\n"
    "  xs top --frames 1 | head\n",
    run};
