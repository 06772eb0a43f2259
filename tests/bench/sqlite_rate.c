/* The whole of `xs export --sqlite`, capture to closed database, its analysis included, against the best bare insert
 * loop: the same rows, columns and indices from memory, one thread, 100 rows a statement, one transaction, no journal.
 * Five interleaved pairs in one process; before them five in which each has a process of its own, as `xs export` has,
 * and finds no memory that a run before it had touched.
 *
 *     sqlite_rate [CHUNKS] [FOLDER]     chunks handed over; default 200000 and /dev/shm */
#include "sqlite_capture.h"
#include "schema.h"
#include "timing.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xs/analyse.h>
#include <xs/export.h>

#define PAIRS 5
#define BAR 0.70

typedef struct rows {
    int64_t *cells; /* INT64_MIN: NULL */
    uint64_t count;
} rows;

static char capture[256], database[256];
static rows kept[XSV_FLOWING];
static uint64_t total;

static double cpu(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); } /* of all threads */

static double export_once(xsv_sqlite_timing *timing) {
    const char *paths[] = {capture}, *why = NULL;
    xsr_options reading = {.size = sizeof reading};
    xsr_reader *reader = NULL;
    xsr_sink *sinks[2] = {NULL}; /* analysis, database */
    double begin = now();
    check(xsr_open(paths, 1, &reading, &reader, &why), "xsr_open");
    xsv_sqlite_reserve(xsr_model_of(reader)->records); /* as xs does; the bare loop has it too */
    check(xsa_open(NULL, &sinks[0]), "xsa_open");
    xsv_sqlite_options how = {.size = sizeof how, .captures = capture, .timing = timing, .analysis = sinks[0]};
    check(xsv_sqlite_open(database, &how, &sinks[1]), "xsv_sqlite_open");
    check(xsr_run(reader, sinks, 2), "xsr_run");
    check(xsv_sqlite_close(sinks[1]), "xsv_sqlite_close");
    xsa_close(sinks[0]);
    xsr_close(reader);
    return now() - begin;
}

static void keep_rows(void) {
    sqlite3 *db;
    check(sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY, NULL), "open");
    for (uint32_t t = 0; t < XSV_FLOWING; t++) {
        char sql[96];
        sqlite3_stmt *s;
        uint32_t columns = xsv_tables[t].count;
        uint64_t room = 0;
        snprintf(sql, sizeof sql, "SELECT * FROM %s", xsv_tables[t].name);
        check(sqlite3_prepare_v2(db, sql, -1, &s, NULL), sql);
        while (sqlite3_step(s) == SQLITE_ROW) {
            if (kept[t].count == room) {
                room = room ? room * 2 : 4096;
                kept[t].cells = realloc(kept[t].cells, room * columns * sizeof(int64_t));
                check(!kept[t].cells, "memory");
            }
            int64_t *row = kept[t].cells + kept[t].count++ * columns;
            for (uint32_t c = 0; c < columns; c++)
                row[c] = sqlite3_column_type(s, (int)c) == SQLITE_NULL ? INT64_MIN : sqlite3_column_int64(s, (int)c);
        }
        sqlite3_finalize(s);
        total += kept[t].count;
    }
    sqlite3_close(db);
}

static void bare_table(sqlite3 *db, uint32_t t) {
    uint32_t columns = xsv_tables[t].count;
    sqlite3_stmt *many, *one;
    check(xsv_schema_insert(db, &xsv_tables[t], 100, &many) || xsv_schema_insert(db, &xsv_tables[t], 1, &one),
          "an insert");
    for (uint64_t r = 0; r < kept[t].count;) {
        uint64_t n = kept[t].count - r >= 100 ? 100 : 1;
        sqlite3_stmt *s = n == 100 ? many : one;
        const int64_t *cell = kept[t].cells + r * columns;
        for (uint64_t i = 0; i < n * columns; i++)
            if (cell[i] == INT64_MIN)
                sqlite3_bind_null(s, (int)i + 1);
            else
                sqlite3_bind_int64(s, (int)i + 1, cell[i]);
        check(sqlite3_step(s) != SQLITE_DONE, "insert");
        sqlite3_reset(s);
        r += n;
    }
    sqlite3_finalize(many);
    sqlite3_finalize(one);
}

static double bare_once(void) {
    char path[300];
    snprintf(path, sizeof path, "%s.bare", database);
    unlink(path);
    sqlite3 *db;
    double begin = now();
    check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL), "open");
    check(sqlite3_exec(db, XSV_PRAGMAS, NULL, NULL, NULL), "pragmas");
    check(xsv_schema_tables(db), "tables");
    for (uint32_t t = 0; t < XSV_FLOWING; t++)
        bare_table(db, t);
    check(xsv_schema_indices(db), "indices");
    check(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), "commit");
    sqlite3_close(db);
    double seconds = now() - begin;
    unlink(path);
    return seconds;
}

static double bare_cold(xsv_sqlite_timing *unused) {
    (void)unused;
    double begin = now();
    xsv_sqlite_reserve(total); /* as the export has it */
    bare_once();
    return now() - begin;
}

/* In a process of its own: seconds by the wall clock and of all its threads. */
static void apart(double (*once)(xsv_sqlite_timing *), double seconds[2]) {
    double *told = mmap(NULL, 2 * sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(told == MAP_FAILED, "shared memory");
    fflush(stdout);
    pid_t child = fork();
    check(child < 0, "fork");
    if (!child) {
        xsv_sqlite_timing timing;
        double before = cpu();
        told[0] = once(&timing);
        told[1] = cpu() - before;
        _exit(0);
    }
    int status = 1;
    check(waitpid(child, &status, 0) != child || status, "a process of its own");
    memcpy(seconds, told, 2 * sizeof *told);
    munmap(told, 2 * sizeof *told);
}

static void pairs_apart(void) {
    double values[6][PAIRS], millions = (double)total / 1e6;
    for (int i = 0; i < PAIRS; i++) {
        double e[2], b[2];
        apart(export_once, e);
        apart(bare_cold, b);
        for (int k = 0; k < 2; k++) {
            values[3 * k][i] = millions / e[k];
            values[3 * k + 1][i] = millions / b[k];
            values[3 * k + 2][i] = b[k] / e[k];
        }
    }
    printf("%-6s", "apart");
    for (int k = 0; k < 6; k++)
        printf(k % 3 == 2 ? " %8.2f" : " %12.3f", median(values[k], PAIRS));
    printf("  (medians, a process each)\n");
}

static void print_sizes(void) {
    struct stat c, d;
    if (!stat(capture, &c) && !stat(database, &d))
        printf("capture %.0f MB, database %.0f MB, %" PRIu64 " rows:", (double)c.st_size / 1e6, (double)d.st_size / 1e6,
               total);
    for (uint32_t t = 0; t < XSV_FLOWING; t++)
        printf(" %s %" PRIu64, xsv_tables[t].name, kept[t].count);
    double load = 0;
    if (getloadavg(&load, 1) == 1)
        printf("\nload average at the start %.1f", load);
    printf("\n\n%-6s %12s %12s %8s %12s %12s %8s\n", "", "export M/s", "bare M/s", "ratio", "export M/s", "bare M/s",
           "ratio");
    printf("%-6s %34s %34s\n", "pair", "by the wall clock", "by processor time");
}

int main(int argc, char **argv) {
    uint32_t chunks = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200000;
    const char *folder = argc > 2 ? argv[2] : "/dev/shm";
    snprintf(capture, sizeof capture, "%s/xs_sqlite_rate_%d.xs", folder, (int)getpid());
    snprintf(database, sizeof database, "%s/xs_sqlite_rate_%d.db", folder, (int)getpid());
    check(sqlite_capture(capture, chunks), "capture");
    check(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0), "SQLite"); /* as xs does */
    xsv_sqlite_timing timing;
    double unused[2];
    apart(export_once, unused); /* its rows are what the bare loop inserts */
    keep_rows();
    check(sqlite3_shutdown(), "SQLite's end"); /* each process configures its own */
    print_sizes();
    pairs_apart();
    export_once(&timing); /* warm-up */
    double exported[PAIRS], bare[PAIRS], ratio[PAIRS], cpu_exported[PAIRS], cpu_bare[PAIRS], cpu_ratio[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        double before = cpu(), millions = (double)total / 1e6;
        exported[i] = millions / export_once(&timing);
        double between = cpu();
        bare[i] = millions / bare_once();
        cpu_exported[i] = millions / (between - before);
        cpu_bare[i] = millions / (cpu() - between);
        ratio[i] = exported[i] / bare[i];
        cpu_ratio[i] = cpu_exported[i] / cpu_bare[i];
        printf("%-6d %12.3f %12.3f %8.2f %12.3f %12.3f %8.2f\n", i + 1, exported[i], bare[i], ratio[i], cpu_exported[i],
               cpu_bare[i], cpu_ratio[i]);
    }
    double middle = median(ratio, PAIRS);
    printf("%-6s %12.3f %12.3f %8.2f %12.3f %12.3f %8.2f  (bar %.2f by the wall clock)\n", "median",
           median(exported, PAIRS), median(bare, PAIRS), middle, median(cpu_exported, PAIRS), median(cpu_bare, PAIRS),
           median(cpu_ratio, PAIRS), BAR);
    printf("\nof the last export: rows %.3f s, indices %.3f s, views %.3f s, close %.3f s\n",
           (double)timing.rows_ns / 1e9, (double)timing.index_ns / 1e9, (double)timing.views_ns / 1e9,
           (double)timing.close_ns / 1e9);
    unlink(capture);
    unlink(database);
    return middle >= BAR ? 0 : 1;
}
