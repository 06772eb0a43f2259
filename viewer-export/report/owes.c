/* Waits that never ended: who waits for whom, and at whose door the chain ends. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Left out: waits that may have ended in records that are lost; waits of processes that died where others still
 * wait, for those are the hang; and those of the dead for which the signal came when they could not see it any more. */
#define DEAD \
    "(SELECT max(p.ended AND NOT p.clean) FROM rank x JOIN process p ON p.id = x.process WHERE x.rank = w.rank)"
#define SIGNALLED "EXISTS (SELECT 1 FROM signal s WHERE s.slot = w.slot AND s.value >= w.need)"
#define HUNG                                                                                                          \
    "WITH o AS MATERIALIZED (SELECT w.id, w.rank, w.supplier_rank AS peer, w.begin_ns, " DEAD " AS dead FROM wait w " \
    "WHERE w.open = 1 AND w.end_lost = 0 AND NOT (" DEAD " AND " SIGNALLED                                                               \
    ")), hung AS (SELECT * FROM o WHERE NOT dead OR NOT EXISTS (SELECT 1 "                                            \
    "FROM o WHERE NOT dead)) "

/* "" where it is no news: all ranks share one process. */
static const char *word_of_rank(xsv_report_state *r, int64_t rank) {
    static const char *const words[] = {"killed", "exited", "left", "gone"};
    static const char *const said[] = {" (killed)", " (exited)", " (left)", " (gone)"};
    const char *found = "";
    sqlite3_stmt *s =
        xsv_ask(r, "SELECT how FROM process_ends e JOIN rank x ON x.process = e.process WHERE x.rank = ? AND (SELECT "
                   "count(*) FROM process) > 1");
    if (s)
        sqlite3_bind_int64(s, 1, rank);
    while (xsv_next(r, s))
        for (int i = 0; i < 4; i++)
            if (!strcmp(xsv_text(s, 0), words[i]))
                found = said[i];
    return found;
}

/* "ranks 0, 2, 3" from "0,2,3", at most eight. */
static void say_ranks(xsv_report_state *r, const char *list, int64_t count) {
    fprintf(r->out, "rank%s ", count == 1 ? "" : "s");
    for (int i = 0; *list && i < 8; i++) {
        int n = (int)strcspn(list, ",");
        fprintf(r->out, "%s%.*s", i ? ", " : "", n, list);
        list += n + (list[n] == ',');
    }
    if (*list)
        fprintf(r->out, " and %" PRId64 " more", count - 8);
}

static void say_owed(xsv_report_state *r) {
    static const char sql[] =
        HUNG "SELECT peer, count(*), min(begin_ns), group_concat(DISTINCT rank), count(DISTINCT rank) "
             "FROM (SELECT * FROM hung WHERE peer IS NOT rank ORDER BY rank) GROUP BY peer ORDER BY 5 DESC, 3";
    int64_t rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); rows++) {
        if (rows >= (int64_t)r->rows)
            continue;
        fputs("  ", r->out);
        say_ranks(r, xsv_text(s, 3), xsv_number(s, 4));
        fprintf(r->out, " wait%s for ", xsv_number(s, 4) == 1 ? "s" : "");
        xsv_color(r, XSV_BOLD);
        if (xsv_is_null(s, 0))
            fputs("nobody knows whom", r->out);
        else
            fprintf(r->out, "rank %" PRId64 "%s", xsv_number(s, 0), word_of_rank(r, xsv_number(s, 0)));
        xsv_color(r, XSV_PLAIN);
        fprintf(r->out, ": %s wait%s, the oldest for %s\n", xsv_count(xsv_number(s, 1)).text,
                xsv_number(s, 1) == 1 ? "" : "s", xsv_time(r->end_ns - xsv_number(s, 2)).text);
    }
    if (rows > (int64_t)r->rows)
        fprintf(r->out, "  ... and for %s more rank%s\n", xsv_count(rows - r->rows).text,
                rows - r->rows == 1 ? "" : "s");
}

/* The rank that `rank` waits for longest; -1: for no other, -2: it is not known. */
static int64_t waits_for(xsv_report_state *r, int64_t rank) {
    int64_t peer = -1;
    sqlite3_stmt *s =
        xsv_ask(r, HUNG "SELECT coalesce(peer, -2) FROM hung WHERE rank = ? AND peer IS NOT rank ORDER BY begin_ns "
                        "LIMIT 1");
    if (s)
        sqlite3_bind_int64(s, 1, rank);
    while (xsv_next(r, s))
        peer = xsv_number(s, 0);
    return peer;
}

static void say_end_of_chain(xsv_report_state *r, int64_t rank, int64_t next) {
    if (next == -2) {
        fputs(", which waits for a rank that is not known\n", r->out);
        return;
    }
    const char *word = word_of_rank(r, rank);
    if (*word)
        fprintf(r->out, "%s: it cannot signal any more\n", word);
    else
        fputs(", which waits for no other rank: look there\n", r->out);
}

#define CHAIN_MOST 10

/* Ranks have many writers: a circle of ranks is a deadlock only where no other writer of theirs goes on. */
static void say_circle(xsv_report_state *r, int dead) {
    fprintf(r->out, ": in a circle%s\n", dead ? " when they died" : ", a deadlock unless other warps of theirs go on");
}

static void say_chain(xsv_report_state *r, int64_t rank, int dead) {
    int64_t met[CHAIN_MOST] = {rank};
    fprintf(r->out, "  in the end: rank %" PRId64, rank);
    for (int i = 1; i < CHAIN_MOST; i++) {
        int64_t next = waits_for(r, rank);
        if (next < 0) {
            say_end_of_chain(r, rank, next);
            return;
        }
        fprintf(r->out, " -> rank %" PRId64, next);
        for (int k = 0; k < i; k++)
            if (met[k] == next) {
                say_circle(r, dead);
                return;
            }
        met[i] = rank = next;
    }
    fputs(" -> ...\n", r->out);
}

static void say_oldest(xsv_report_state *r, int64_t *rank) {
    static const char sql[] =
        HUNG "SELECT hung.rank, slot.name, hung.peer, w.observed, w.need, hung.begin_ns FROM hung JOIN "
             "wait w ON w.id = hung.id LEFT JOIN slot ON slot.id = w.slot ORDER BY hung.peer IS hung.rank, "
             "hung.begin_ns, w.id LIMIT 1";
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s);) {
        *rank = xsv_is_null(s, 2) || xsv_number(s, 2) == xsv_number(s, 0) ? -1 : xsv_number(s, 0);
        fprintf(r->out, "  the oldest: rank %" PRId64 " waits for %s on %s, has %" PRId64 ", needs %" PRId64 "\n",
                xsv_number(s, 0), xsv_rank_words(s, 2, xsv_number(s, 0)).text, xsv_text(s, 1), xsv_number(s, 3),
                xsv_number(s, 4));
    }
}

int xsv_say_hang(xsv_report_state *r) {
    int64_t open = xsv_ask_number(r, HUNG "SELECT count(*) FROM hung"), rank = -1;
    if (!open)
        return 0;
    int dead = (int)xsv_ask_number(r, HUNG "SELECT max(dead) FROM hung");
    xsv_color(r, XSV_RED);
    fprintf(r->out, "%s wait%s never ended%s.\n", xsv_count(open).text, open == 1 ? "" : "s",
            dead ? ": open when the process ended" : "");
    xsv_color(r, XSV_PLAIN);
    say_owed(r);
    say_oldest(r, &rank);
    if (rank >= 0)
        say_chain(r, rank, dead);
    return 1;
}
