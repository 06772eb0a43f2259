/* The tables, defined once: CREATE TABLE, the inserts and the column numbers that fill rows come from these lists.
 * docs/sql.md describes them and a test compares the two. Times are nanoseconds; ids are rows of other tables. */
#ifndef XSV_SCHEMA_H
#define XSV_SCHEMA_H

#include <sqlite3.h>
#include <stdint.h>

/* Columns: C(name, type) */
#define XSV_COLUMNS_meta(C) C(key, "TEXT PRIMARY KEY") C(value, "TEXT")
#define XSV_COLUMNS_word(C) C(class, "TEXT") C(id, "INTEGER") C(name, "TEXT") C(meaning, "TEXT")
#define XSV_COLUMNS_process(C)                                                                                         \
    C(id, "INTEGER PRIMARY KEY") C(host, "INTEGER") C(process, "INTEGER") C(host_name, "TEXT") C(command, "TEXT")      \
    C(executable, "TEXT") C(pid, "INTEGER") C(device, "INTEGER") C(first_rank, "INTEGER") C(ranks, "INTEGER")          \
    C(world_ranks, "INTEGER") C(virtual_time, "INTEGER") C(ended, "INTEGER") C(clean, "INTEGER")                       \
    C(tail_unknown, "INTEGER") C(abort_reason, "INTEGER") C(exit_status, "INTEGER") C(no_ring, "INTEGER")              \
    C(foreign_calls, "INTEGER") C(no_line, "INTEGER") C(journal_lost, "INTEGER")
#define XSV_COLUMNS_rank(C)                                                                                            \
    C(id, "INTEGER PRIMARY KEY") C(rank, "INTEGER") C(process, "INTEGER") C(device, "INTEGER")                         \
    C(first_epoch, "INTEGER") C(last_epoch, "INTEGER") C(last_ns, "INTEGER")
#define XSV_COLUMNS_pad(C)                                                                                             \
    C(id, "INTEGER PRIMARY KEY") C(name, "TEXT") C(row_label, "TEXT") C(column_label, "TEXT") C(rows, "INTEGER")       \
    C(columns, "INTEGER") C(owners, "INTEGER") C(flags, "INTEGER")
#define XSV_COLUMNS_slot(C)                                                                                            \
    C(id, "INTEGER PRIMARY KEY") C(pad, "INTEGER") C(owner, "INTEGER") C(row_index, "INTEGER")                         \
    C(column_index, "INTEGER") C(supplier_rank, "INTEGER") C(supplier_origin, "INTEGER") C(supplier_role, "INTEGER")   \
    C(name, "TEXT") C(label, "TEXT")
#define XSV_COLUMNS_name(C) C(id, "INTEGER PRIMARY KEY") C(kind, "INTEGER") C(name, "TEXT")
#define XSV_COLUMNS_kernel(C) C(id, "INTEGER PRIMARY KEY") C(name, "TEXT")
#define XSV_COLUMNS_role(C) C(id, "INTEGER PRIMARY KEY") C(name, "TEXT")
#define XSV_COLUMNS_launch(C)                                                                                          \
    C(id, "INTEGER PRIMARY KEY") C(process, "INTEGER") C(number, "INTEGER") C(kernel, "INTEGER") C(grid, "INTEGER")    \
    C(block, "INTEGER") C(first_rank, "INTEGER") C(ranks, "INTEGER") C(begin_ns, "INTEGER") C(end_ns, "INTEGER")       \
    C(result, "INTEGER") C(blocks_per_sm, "INTEGER") C(plain_blocks_per_sm, "INTEGER") C(registers, "INTEGER")         \
    C(plain_registers, "INTEGER") C(limited_by, "TEXT") C(local_bytes, "INTEGER")
#define XSV_COLUMNS_writer(C)                                                                                          \
    C(id, "INTEGER PRIMARY KEY") C(process, "INTEGER") C(rank, "INTEGER") C(ring, "INTEGER") C(ordinal, "INTEGER")     \
    C(launch, "INTEGER") C(role, "INTEGER") C(block, "INTEGER") C(warp, "INTEGER") C(sm, "INTEGER")                    \
    C(first_sequence, "INTEGER") C(last_sequence, "INTEGER") C(begin_ns, "INTEGER") C(end_ns, "INTEGER")               \
    C(gpu_kernel, "INTEGER") C(name, "TEXT")
#define XSV_COLUMNS_ring(C)                                                                                            \
    C(id, "INTEGER PRIMARY KEY") C(process, "INTEGER") C(number, "INTEGER") C(rank, "INTEGER") C(emitted, "INTEGER")   \
    C(kept, "INTEGER") C(lost, "INTEGER") C(torn, "INTEGER") C(at_least, "INTEGER") C(tail_unknown, "INTEGER")
#define XSV_COLUMNS_clock_line(C)                                                                                      \
    C(id, "INTEGER PRIMARY KEY") C(process, "INTEGER") C(device, "INTEGER") C(host, "INTEGER") C(step_ns, "INTEGER")   \
    C(residual_ns, "INTEGER") C(bound_ns, "INTEGER") C(samples, "INTEGER") C(kernels, "INTEGER") C(fault_ns, "INTEGER") C(cupti_ns, "INTEGER")

/* What CUPTI told. */
#define XSV_COLUMNS_gpu_kernel(C)                                                                                      \
    C(id, "INTEGER PRIMARY KEY") C(process, "INTEGER") C(device, "INTEGER") C(context, "INTEGER") C(stream, "INTEGER") \
    C(kernel, "INTEGER") C(begin_ns, "INTEGER") C(end_ns, "INTEGER") C(call, "INTEGER") C(launch, "INTEGER")           \
    C(writers, "INTEGER") C(correlation, "INTEGER") C(graph, "INTEGER") C(graph_node, "INTEGER") C(grid_x, "INTEGER")  \
    C(grid_y, "INTEGER") C(grid_z, "INTEGER") C(block_x, "INTEGER") C(block_y, "INTEGER") C(block_z, "INTEGER")        \
    C(registers, "INTEGER") C(shared_static, "INTEGER") C(shared_dynamic, "INTEGER")
#define XSV_COLUMNS_gpu_copy(C)                                                                                        \
    C(id, "INTEGER PRIMARY KEY") C(process, "INTEGER") C(device, "INTEGER") C(to_device, "INTEGER")                    \
    C(context, "INTEGER") C(stream, "INTEGER") C(kind, "TEXT") C(bytes, "INTEGER") C(begin_ns, "INTEGER")              \
    C(end_ns, "INTEGER") C(call, "INTEGER") C(correlation, "INTEGER") C(graph, "INTEGER") C(graph_node, "INTEGER")
#define XSV_COLUMNS_cuda_call(C)                                                                                       \
    C(id, "INTEGER PRIMARY KEY") C(process, "INTEGER") C(thread, "INTEGER") C(name, "TEXT") C(begin_ns, "INTEGER")     \
    C(end_ns, "INTEGER") C(correlation, "INTEGER") C(result, "INTEGER")
#define XSV_COLUMNS_cupti(C)                                                                                           \
    C(process, "INTEGER PRIMARY KEY") C(state, "TEXT") C(meaning, "TEXT") C(why, "TEXT") C(version, "INTEGER")         \
    C(built, "INTEGER") C(since_ns, "INTEGER") C(until_ns, "INTEGER") C(kernels, "INTEGER") C(copies, "INTEGER")       \
    C(calls, "INTEGER") C(dropped, "INTEGER") C(void_stamps, "INTEGER") C(unknown, "INTEGER") C(lost, "INTEGER")
#define XSV_COLUMNS_plan(C)                                                                                            \
    C(id, "INTEGER PRIMARY KEY") C(kind, "INTEGER") C(origin, "INTEGER") C(pad, "INTEGER") C(owner, "INTEGER")         \
    C(row_index, "INTEGER") C(column_index, "INTEGER") C(epoch, "INTEGER") C(a, "INTEGER") C(b, "INTEGER")
#define XSV_COLUMNS_note(C) C(id, "INTEGER PRIMARY KEY") C(text, "TEXT")

/* What flows: all integers. */
#define XSV_COLUMNS_event(C)                                                                                           \
    C(id, "INTEGER PRIMARY KEY") C(time_ns, "INTEGER") C(kind, "INTEGER") C(ring, "INTEGER") C(writer, "INTEGER")      \
    C(rank, "INTEGER") C(role, "INTEGER") C(epoch, "INTEGER") C(sequence, "INTEGER") C(slot, "INTEGER")                \
    C(object, "INTEGER") C(value, "INTEGER") C(need, "INTEGER") C(detail, "INTEGER") C(a, "INTEGER") C(b, "INTEGER")   \
    C(c, "INTEGER") C(how, "INTEGER")
#define XSV_COLUMNS_wait(C)                                                                                            \
    C(id, "INTEGER PRIMARY KEY") C(begin_ns, "INTEGER") C(end_ns, "INTEGER") C(latency_ns, "INTEGER")                  \
    C(bucket, "INTEGER") C(lag_ns, "INTEGER") C(blocked_ns, "INTEGER") C(passed, "INTEGER") C(open, "INTEGER")         \
    C(result, "INTEGER") C(pad, "INTEGER") C(slot, "INTEGER") C(rank, "INTEGER") C(supplier_rank, "INTEGER")           \
    C(writer, "INTEGER") C(role, "INTEGER") C(epoch, "INTEGER") C(need, "INTEGER") C(observed, "INTEGER")              \
    C(how, "INTEGER") C(polls, "INTEGER") C(slept_ns, "INTEGER") C(last_fail_ns, "INTEGER") C(file, "INTEGER")         \
    C(line, "INTEGER") C(stage, "INTEGER") C(start_event, "INTEGER") C(start_lost, "INTEGER") C(end_lost, "INTEGER")                      \
    C(reads_from_reason, "INTEGER")                                                                                    \
    C(reads_from_event, "INTEGER") C(reads_from_rank, "INTEGER") C(reads_from_value, "INTEGER")                        \
    C(released_by_reason, "INTEGER") C(released_by_event, "INTEGER") C(released_by_rank, "INTEGER")                    \
    C(released_by_value, "INTEGER") C(released_by_ns, "INTEGER")
#define XSV_COLUMNS_signal(C)                                                                                          \
    C(id, "INTEGER PRIMARY KEY") C(time_ns, "INTEGER") C(kind, "INTEGER") C(rank, "INTEGER") C(writer, "INTEGER")    \
    C(role, "INTEGER") C(pad, "INTEGER") C(slot, "INTEGER") C(value, "INTEGER") C(epoch, "INTEGER") \
    C(how, "INTEGER") C(elected_by, "INTEGER") C(elect_ns, "INTEGER") C(released, "INTEGER")
#define XSV_COLUMNS_arrival(C)                                                                                         \
    C(id, "INTEGER PRIMARY KEY") C(time_ns, "INTEGER") C(rank, "INTEGER") C(writer, "INTEGER") C(role, "INTEGER")      \
    C(pad, "INTEGER") C(slot, "INTEGER") C(gate, "INTEGER") C(old, "INTEGER") C(weight, "INTEGER")                     \
    C(expected, "INTEGER") C(target, "INTEGER") C(elected, "INTEGER") C(epoch, "INTEGER") C(how, "INTEGER")
#define XSV_COLUMNS_epoch(C)                                                                                           \
    C(id, "INTEGER PRIMARY KEY") C(writer, "INTEGER") C(rank, "INTEGER") C(epoch, "INTEGER") C(begin_ns, "INTEGER")    \
    C(end_ns, "INTEGER") C(events, "INTEGER")
#define XSV_COLUMNS_loss_gap(C)                                                                                        \
    C(id, "INTEGER PRIMARY KEY") C(ring, "INTEGER") C(writer, "INTEGER") C(first, "INTEGER") C(last, "INTEGER")        \
    C(cause, "INTEGER") C(at_least, "INTEGER") C(before_ns, "INTEGER") C(after_ns, "INTEGER")

#define XSV_COLUMNS_rank_wait(C)                                                                                       \
    C(id, "INTEGER PRIMARY KEY") C(wait, "INTEGER") C(rank, "INTEGER") C(supplier_rank, "INTEGER") C(slot, "INTEGER")  \
    C(begin_ns, "INTEGER") C(end_ns, "INTEGER")

/* Counts made while rows pass, so that questions over millions of waits are answered at once. */
#define XSV_COLUMNS_wait_tally(C)                                                                                      \
    C(pad, "INTEGER") C(rank, "INTEGER") C(supplier_rank, "INTEGER") C(bucket, "INTEGER") C(waits, "INTEGER")          \
    C(passed, "INTEGER") C(failed, "INTEGER") C(total_ns, "INTEGER") C(blocked_ns, "INTEGER") C(max_ns, "INTEGER")
#define XSV_COLUMNS_rank_tally(C)                                                                                      \
    C(rank, "INTEGER") C(supplier_rank, "INTEGER") C(waits, "INTEGER") C(waited_ns, "INTEGER")
#define XSV_COLUMNS_reason_tally(C) C(relation, "TEXT") C(reason, "INTEGER") C(waits, "INTEGER")

/* Verdicts. */
#define XSV_COLUMNS_finding(C)                                                                                         \
    C(id, "INTEGER PRIMARY KEY") C(key, "TEXT") C(detector, "TEXT") C(severity, "TEXT") C(confidence, "TEXT")          \
    C(rank, "INTEGER") C(block, "INTEGER") C(owes_rank, "INTEGER") C(owes_block, "INTEGER") C(slot, "INTEGER")         \
    C(begin_ns, "INTEGER") C(end_ns, "INTEGER") C(verdict, "TEXT") C(cure, "TEXT") C(file, "TEXT")                     \
    C(line, "INTEGER") C(times, "INTEGER") C(lost, "INTEGER") C(explains, "TEXT")
#define XSV_COLUMNS_finding_event(C) C(finding, "INTEGER") C(event, "INTEGER") C(part, "TEXT")
#define XSV_COLUMNS_detector(C)                                                                                        \
    C(id, "INTEGER PRIMARY KEY") C(name, "TEXT") C(meaning, "TEXT") C(status, "TEXT") C(findings, "INTEGER")           \
    C(lost, "INTEGER") C(why, "TEXT") C(cannot, "TEXT")
#define XSV_COLUMNS_blame_path(C)                                                                                      \
    C(begin_ns, "INTEGER") C(end_ns, "INTEGER") C(hang, "INTEGER") C(cuts, "INTEGER") C(joined_ns, "INTEGER")
#define XSV_COLUMNS_blame_span(C)                                                                                      \
    C(id, "INTEGER PRIMARY KEY") C(rank, "INTEGER") C(owes_rank, "INTEGER") C(slot, "INTEGER") C(begin_ns, "INTEGER")  \
    C(end_ns, "INTEGER") C(part, "INTEGER") C(why, "TEXT") C(writer, "INTEGER") C(epoch, "INTEGER")                    \
    C(pieces, "INTEGER")
#define XSV_COLUMNS_blame_sum(C)                                                                                       \
    C(rank, "INTEGER") C(owes_rank, "INTEGER") C(slot, "INTEGER") C(part, "INTEGER") C(why, "TEXT")                    \
    C(blamed_ns, "INTEGER")
#define XSV_COLUMNS_blame_slot(C)                                                                                      \
    C(id, "INTEGER PRIMARY KEY") C(slot, "INTEGER") C(owes_rank, "INTEGER") C(blamed_ns, "INTEGER")                    \
    C(lag_ns, "INTEGER") C(slack_ns, "INTEGER") C(awaited, "INTEGER")
#define XSV_COLUMNS_blame_rank(C) \
    C(rank, "INTEGER") C(slow, "REAL") /* captures of several runs have ranks of one number */
#define XSV_COLUMNS_starvation_case(C)                                                                                 \
    C(id, "INTEGER PRIMARY KEY") C(finding, "INTEGER") C(pad, "INTEGER") C(slot, "INTEGER") C(rank, "INTEGER")         \
    C(supplier_rank, "INTEGER") C(waits, "INTEGER") C(median_ns, "INTEGER") C(max_ns, "INTEGER") C(jain, "REAL")       \
    C(longest_bypass, "INTEGER")

/* T(name). The first XSV_FLOWING are filled while the pass runs, the rest when it is over. */
#define XSV_FLOWING_TABLES(T) T(event) T(wait) T(signal) T(arrival) T(epoch) T(loss_gap) T(rank_wait)
#define XSV_STAYING_TABLES(T)                                                                                     \
    T(meta)                                                                                                       \
    T(word) T(process) T(rank) T(pad) T(slot) T(name) T(kernel) T(role) T(launch) T(writer) T(ring) T(clock_line) \
        T(plan) T(note) T(gpu_kernel) T(gpu_copy) T(cuda_call) T(cupti) T(wait_tally) T(rank_tally) T(reason_tally)   \
            T(finding) T(finding_event) T(detector) T(blame_path) T(blame_span) T(blame_sum)                          \
            T(blame_slot) T(blame_rank)                                                                           \
            T(starvation_case)
#define XSV_TABLES(T) XSV_FLOWING_TABLES(T) XSV_STAYING_TABLES(T)

#define XSV_TABLE_ENUM(name) XSV_T_##name,
enum xsv_table_id { XSV_TABLES(XSV_TABLE_ENUM) XSV_TABLE_COUNT };
#undef XSV_TABLE_ENUM
#define XSV_FLOWING (XSV_T_rank_wait + 1)

/* Column numbers: WAIT columns are in `enum xsv_wait_column`: xsv_wait_begin_ns, ... */
#define C(name, type) XSV_N(name)
#define XSV_N(name) xsv_event_##name,
enum xsv_event_column { XSV_COLUMNS_event(C) xsv_event_count };
#undef XSV_N
#define XSV_N(name) xsv_wait_##name,
enum xsv_wait_column { XSV_COLUMNS_wait(C) xsv_wait_count };
#undef XSV_N
#define XSV_N(name) xsv_signal_##name,
enum xsv_signal_column { XSV_COLUMNS_signal(C) xsv_signal_count };
#undef XSV_N
#define XSV_N(name) xsv_arrival_##name,
enum xsv_arrival_column { XSV_COLUMNS_arrival(C) xsv_arrival_count };
#undef XSV_N
#define XSV_N(name) xsv_epoch_##name,
enum xsv_epoch_column { XSV_COLUMNS_epoch(C) xsv_epoch_count };
#undef XSV_N
#define XSV_N(name) xsv_loss_gap_##name,
enum xsv_loss_gap_column { XSV_COLUMNS_loss_gap(C) xsv_loss_gap_count };
#undef XSV_N
#define XSV_N(name) xsv_rank_wait_##name,
enum xsv_rank_wait_column { XSV_COLUMNS_rank_wait(C) xsv_rank_wait_count };
#undef XSV_N
#undef C

#define XSV_PAGE_BYTES 16384
#define XSV_CACHE_KIB 65536
#define XSV_TEXT_OF_(number) #number
#define XSV_TEXT_OF(number) XSV_TEXT_OF_(number)
/* Of a database that is being made. No journal: a failure leaves it useless. Exclusive: nobody else knows the file
 * yet. */
#define XSV_PRAGMAS                                                                                                    \
    "PRAGMA page_size = " XSV_TEXT_OF(XSV_PAGE_BYTES) "; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "       \
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -" XSV_TEXT_OF(XSV_CACHE_KIB) "; PRAGMA threads = 1; BEGIN"

typedef struct xsv_column {
    const char *name, *type;
} xsv_column;

typedef struct xsv_table {
    const char *name;
    const xsv_column *columns;
    uint32_t count;
} xsv_table;

extern const xsv_table xsv_tables[XSV_TABLE_COUNT];

/* Names and text of views and indices, in the order in which they are made. */
typedef struct xsv_object {
    const char *name, *sql;
} xsv_object;
extern const xsv_object xsv_indices[];
extern const uint32_t xsv_index_count;
extern const xsv_object xsv_views[];
extern const uint32_t xsv_view_count;

/* Each returns a result code of SQLite. */
int xsv_schema_tables(sqlite3 *db);
int xsv_schema_indices(sqlite3 *db);
int xsv_schema_views(sqlite3 *db);
/* INSERT INTO table VALUES (?,..),(?,..) with `rows` rows. The caller finalizes it. */
int xsv_schema_insert(sqlite3 *db, const xsv_table *table, uint32_t rows, sqlite3_stmt **statement);

#endif
