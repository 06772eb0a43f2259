/* How long `xs hang` takes to name who owes what in a kernel that hangs, two looks 200 ms apart included. Bar: 1 s. */
#include <gpu_test.h>

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { ANSWERS = 9 };
#define BAR_MS 1000.0

static char xs[PATH_MAX + 64], hanging[PATH_MAX + 64], first_line[512];

static void find_programs(void) {
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    EXPECT(n > 0, "/proc/self/exe: %s", strerror(errno));
    self[n] = 0;
    const char *folder = dirname(self);
    snprintf(xs, sizeof xs, "%s/../../viewer-export/xs", folder);
    snprintf(hanging, sizeof hanging, "%s/../gpu/bin/gpu_hanging", folder);
    EXPECT(!access(xs, X_OK), "%s: %s", xs, strerror(errno));
    EXPECT(!access(hanging, X_OK), "%s: %s", hanging, strerror(errno));
}

static pid_t start(const char *way, const char *ranks) {
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execl(hanging, hanging, way, ranks, "plan", "one", (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* Milliseconds; *code is the exit code of xs hang, first_line what it said. */
static double ask(pid_t pid, int *code) {
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, "'%s' hang %d 2>&1", xs, (int)pid);
    double begin = gpu_test_seconds();
    FILE *f = popen(command, "r");
    EXPECT(f, "popen: %s", strerror(errno));
    char rest[4096];
    if (!fgets(first_line, sizeof first_line, f))
        first_line[0] = 0;
    while (fgets(rest, sizeof rest, f)) {
    }
    int status = pclose(f);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    first_line[strcspn(first_line, "\n")] = 0;
    return 1e3 * (gpu_test_seconds() - begin);
}

static int by_size(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

/* words: what an answer that names waiter, slot and supplier says. */
static void row(const char *way, const char *ranks, const char *words) {
    double took[ANSWERS];
    int code = -1, wrong = 0, wrong_code = 0;
    char wrong_line[sizeof first_line];
    pid_t pid = start(way, ranks);
    for (int i = 0; i < 100 && code != 2; i++) {
        (void)ask(pid, &code);
        gpu_test_sleep_ms(50);
    }
    for (int i = 0; i < ANSWERS; i++) {
        took[i] = ask(pid, &code);
        if (code == 2 && strstr(first_line, words))
            continue;
        if (!wrong++)
            memcpy(wrong_line, first_line, sizeof wrong_line), wrong_code = code;
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    qsort(took, ANSWERS, sizeof *took, by_size);
    printf("%-8s %5s %9.0f %9.0f %7.2f %7s  %s\n", way, ranks, took[ANSWERS / 2], took[ANSWERS - 1], took[ANSWERS - 1] / BAR_MS,
           wrong ? "WRONG" : took[ANSWERS - 1] <= BAR_MS ? "met" : "MISSED", first_line);
    if (wrong)
        printf("         %d of %d were wrong, the first with exit code %d: %s\n", wrong, ANSWERS, wrong_code, wrong_line);
}

int main(void) {
    gpu_test_begin(120);
    if (!getenv("XS_BACKEND")) {
        gpu_test_need();
        setenv("XS_BACKEND", "cuda", 1);
    }
    find_programs();
    printf("xs hang on kernels that hang (%s backend): ms to the answer, %d asked each; bar: %.0f\n", getenv("XS_BACKEND"), ANSWERS, BAR_MS);
    printf("way      ranks    median     worst  of bar     bar  answer\n");
    row("missing", "2", "done[half=1,from=1]");
    row("cycle", "4", "wait for each other");
    row("away", "8", "bar[col=7]");
    row("busy", "4", "done[half=1,from=3]");
    return 0;
}
