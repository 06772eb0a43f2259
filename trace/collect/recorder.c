#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recorder_internal.h"
#include "world.h"

#define SLEEP_LEAST_NS 200000u
#define SLEEP_MOST_NS 5000000u
#define BUSY_RECORDS 4096u
#define QUIET_MS 2000
#define GRACE_MS 200 /* after the last process: another one may be about to connect */

uint64_t xs_recorder_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The command's environment; free it. `record`: "XS_RECORD=...", which comes first, instead of any that there is. */
static char **environment_with(char *record) {
    static const char name[] = "XS_RECORD=";
    size_t have = 0, n = 0;
    while (environ[have])
        have++;
    char **all = calloc(have + 2, sizeof *all);
    if (!all)
        return NULL;
    all[n++] = record;
    for (size_t i = 0; i < have; i++)
        if (strncmp(environ[i], name, sizeof name - 1))
            all[n++] = environ[i];
    return all;
}

/* In the child: what follows is only what fork allows. Collector threads may have held the allocator's lock. */
static void become(char *const argv[], char *const environment[], const sigset_t *mask, int report) {
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvpe(argv[0], argv, environment);
    int number = errno;
    ssize_t n = write(report, &number, sizeof number);
    (void)n;
    _exit(127);
}

/* 0, or an error with the reason why the command cannot be run. */
static int start_command(recorder *r, char *const argv[], const sigset_t *mask) {
    int report[2], number = 0;
    char record[sizeof r->socket_path + 16];
    snprintf(record, sizeof record, "XS_RECORD=%s", r->socket_path);
    char **environment = environment_with(record);
    if (!environment)
        return XS_E_MEMORY;
    if (pipe2(report, O_CLOEXEC)) {
        free(environment);
        return xs_fail(XS_E_SYSTEM, "pipe: %s", strerror(errno));
    }
    r->command = fork();
    if (r->command == 0)
        become(argv, environment, mask, report[1]);
    free(environment);
    close(report[1]);
    if (r->command < 0) {
        close(report[0]);
        return xs_fail(XS_E_SYSTEM, "fork: %s", strerror(errno));
    }
    ssize_t n;
    do
        n = read(report[0], &number, sizeof number);
    while (n < 0 && errno == EINTR);
    close(report[0]);
    if (n != (ssize_t)sizeof number)
        return 0;
    waitpid(r->command, NULL, 0);
    r->command_ended = 1;
    r->result->exit_status = number == ENOENT ? 127 : 126;
    return xs_fail(XS_E_SYSTEM, "cannot run %s: %s", argv[0], strerror(number));
}

/* Not only after SIGCHLD: where the caller has threads that do not block it, one of them may have swallowed it. */
static void reap(recorder *r) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        xs_recorder_child_ended(r, pid, status);
        if (pid == r->command) {
            r->command_ended = 1;
            r->result->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    }
}

static void take_signals(recorder *r) {
    struct signalfd_siginfo info;
    while (read(r->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGUSR1)
            xs_recorder_worlds_dump(r, "SIGUSR1 to the recorder");
        /* A terminal sends its signals to the command itself as well. */
        else if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL && !r->command_ended)
            kill(r->command, (int)info.ssi_signo);
    }
}

/* The descriptors to wait for: signals, listener, then two a connection, in the order of the list. */
static uint32_t fill_polls(recorder *r) {
    uint32_t need = 2 + 2 * r->connection_count, n = 2;
    if (need > r->polls_size) {
        struct pollfd *larger = realloc(r->polls, 2 * need * sizeof *larger);
        if (!larger)
            return 0;
        r->polls = larger;
        r->polls_size = 2 * need;
    }
    r->polls[0] = (struct pollfd){.fd = r->signals, .events = POLLIN};
    r->polls[1] = (struct pollfd){.fd = r->listener, .events = POLLIN};
    for (connection *c = r->connections; c; c = c->next) {
        int alive = !c->gone_since;
        r->polls[n++] = (struct pollfd){.fd = alive && !c->closed_since ? c->fd : -1, .events = POLLIN};
        r->polls[n++] = (struct pollfd){.fd = alive ? c->pidfd : -1, .events = POLLIN};
    }
    return n;
}

static void serve_all(recorder *r) {
    uint32_t n = 2;
    for (connection *c = r->connections; c; c = c->next, n += 2) {
        if (r->polls[n].revents)
            xs_recorder_serve(r, c);
        if (r->polls[n + 1].revents) /* the process itself is over, even if a child holds its socket */
            xs_recorder_gone(c);
    }
    if (r->polls[1].revents)
        xs_recorder_accept(r);
    if (r->polls[0].revents)
        take_signals(r);
}

static void wait_and_serve(recorder *r, uint64_t ns) {
    struct timespec time = {0, (long)ns};
    uint32_t n = fill_polls(r);
    if (n && ppoll(r->polls, n, &time, NULL) > 0)
        serve_all(r);
    else if (!n)
        nanosleep(&time, NULL);
}

/* The command and all that is recorded have ended, for long enough. */
static int finished(recorder *r) {
    if (!r->command_ended || r->connections) {
        r->idle_since = 0;
        return 0;
    }
    if (!r->idle_since)
        r->idle_since = xs_recorder_ms();
    return xs_recorder_ms() - r->idle_since >= GRACE_MS;
}

/* Whoever waits for processes that never come is told so by the caller, who can look. */
static void ask_if_quiet(recorder *r) {
    if (!r->options.quiet || !r->joined_at || xs_recorder_ms() - r->joined_at < QUIET_MS)
        return;
    r->joined_at = 0;
    if (r->connections)
        r->options.quiet(r->options.user);
}

static void loop(recorder *r) {
    uint64_t sleep = SLEEP_LEAST_NS;
    while (!finished(r)) {
        uint64_t taken = xs_recorder_worlds_pass(r);
        sleep = taken ? SLEEP_LEAST_NS : sleep * 2 < SLEEP_MOST_NS ? sleep * 2 : SLEEP_MOST_NS;
        wait_and_serve(r, taken >= BUSY_RECORDS ? 0 : sleep);
        reap(r);
        xs_recorder_bury(r);
        ask_if_quiet(r);
    }
}

static int begin_signals(recorder *r, sigset_t *old) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, old);
    r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return r->signals < 0 ? xs_fail(XS_E_SYSTEM, "signalfd: %s", strerror(errno)) : 0;
}

static int run(recorder *r, char *const argv[]) {
    sigset_t mask;
    int rc = begin_signals(r, &mask);
    if (!rc)
        rc = xs_recorder_listen(r);
    if (!rc) {
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* so that exit statuses of orphans are seen, too */
        rc = start_command(r, argv, &mask);
        if (!rc) {
            xs_recorder_worlds_begin(r); /* now an earlier capture of that name may go */
            loop(r);
        }
        prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
    }
    xs_recorder_unlisten(r);
    if (r->signals >= 0) {
        take_signals(r); /* late ones must not end the caller when they are let through */
        reap(r);
        close(r->signals);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    free(r->polls);
    return rc;
}

int xs_recorder_run(const xs_recorder_options *options, char *const argv[], xs_recorder_result *result) {
    recorder r = {.options = *options, .result = result, .listener = -1, .signals = -1};
    memset(result, 0, sizeof *result);
    if (!argv || !argv[0])
        return xs_fail(XS_E_ARGUMENT, "no command given");
    int rc = xs_recorder_worlds_open(&r);
    if (rc)
        return rc;
    rc = run(&r, argv);
    xs_recorder_worlds_close(&r);
    return rc;
}
