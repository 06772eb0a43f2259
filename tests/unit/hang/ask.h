/* Programs that hang in the background, and what `xs hang` says of them. */
#ifndef ASK_H
#define ASK_H

#include "run_xs.h"

#include <stddef.h>
#include <sys/types.h>

enum { MOST_RANKS = 8 };
#define PATIENCE_S 200 /* how long an answer may take to become right: less than the programs live */

typedef struct app {
    pid_t pid;
    pid_t ranks[MOST_RANKS]; /* one process each: theirs */
} app;

void sleep_ms(unsigned ms);
double now(void);
app start(const char *way, unsigned ranks, const char *plan, const char *processes);
void stop(const app *a);
int stop_all(void **unused); /* teardown of a test: what one that failed leaves must not disturb the next one */
/* What stands at a path in the JSON; "" for null and where there is nothing. Valid until the next call but seven. */
const char *at(const outcome *o, const char *path);
/* What stands at a path must be this, or with a '~' before it, hold these words. */
typedef struct want {
    const char *path, *text;
} want;
void is(const outcome *o, const char *path, const char *text);
outcome ask(pid_t pid, const char *more);
/* Asks until the answer is right in every point: a program needs a moment to come to its hang, and longer where the
 * machine has other things to do, and until then others may wait, or nothing may move for 200 ms. A hang stays, so the
 * right answer comes. waits: how many must be open; -1: any number. */
outcome look_for(pid_t pid, int code, int waits, const want *wants, size_t count);
void look(pid_t pid, int code, int waits);
outcome of_file(const char *file, int code); /* xs hang --json FILE, which ends with `code` */
#define LOOK(pid, code, waits, ...) \
    look_for(pid, code, waits, (const want[]){__VA_ARGS__}, sizeof((const want[]){__VA_ARGS__}) / sizeof(want))

/* Setup and teardown: what `at` asks. */
int open_database(void **unused);
int close_database(void **unused);
int open_folder(void **unused); /* and a folder to work in */
int close_folder(void **unused);

#endif
