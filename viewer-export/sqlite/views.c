/* Views and indices. A name is looked up in `word` by (class, id). */
#include "schema.h"

#define WORD(class, id) "(SELECT name FROM word WHERE class = '" class "' AND word.id = " id ")"
#define HOW(how)                                                                                      \
    WORD("order", how " & 7") " AS ordering, " WORD("scope", "(" how " >> 3) & 3") " AS scope, "      \
    WORD("fence", "(" how " >> 5) & 7") " AS fence"
#define RUN_END "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'end_ns')"
#define META(key) "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = '" key "')"

/* Waits that passed at the first poll took 0 ns: they are in the tally, not in the index. */
const xsv_object xsv_indices[] = {
    {"word_key", "CREATE UNIQUE INDEX word_key ON word(class, id, name)"},
    {"wait_class",
     "CREATE INDEX wait_class ON wait(pad, rank, supplier_rank, bucket, latency_ns, passed) WHERE passed = 0"},
    {"wait_open", "CREATE INDEX wait_open ON wait(rank, begin_ns) WHERE open = 1"},
    {"wait_failed", "CREATE INDEX wait_failed ON wait(end_ns) WHERE result > 0"},
    {"signal_slot", "CREATE INDEX signal_slot ON signal(slot, value)"},
    {"epoch_rank", "CREATE INDEX epoch_rank ON epoch(rank, epoch, begin_ns, end_ns)"},
    {"wait_tally_class", "CREATE INDEX wait_tally_class ON wait_tally(pad, rank, supplier_rank, bucket)"},
};
const uint32_t xsv_index_count = sizeof xsv_indices / sizeof xsv_indices[0];

/* Nearest rank: the smallest latency that at least P % of the ended waits do not exceed. The tally says in which bucket
 * it is and how many of that bucket come before it; the index holds a bucket's latencies in order. */
#define NTH(p) "((n * " #p " + 99) / 100)"
#define PERCENTILE(p)                                                                                                  \
    "max(CASE WHEN upto - waits < " NTH(p) " AND " NTH(p) " <= upto THEN CASE WHEN bucket = 0 THEN 0 ELSE "            \
    "(SELECT latency_ns FROM (SELECT latency_ns, row_number() OVER (ORDER BY latency_ns) AS place FROM wait w WHERE "  \
    "w.passed = 0 AND w.pad IS c.pad AND w.rank IS c.rank AND w.supplier_rank IS c.supplier_rank AND w.bucket = "      \
    "c.bucket) WHERE place = " NTH(p) " - (upto - waits) LIMIT 1) END END) AS p" #p "_ns"

#define VIEW_HISTOGRAM                                                                                                 \
    "CREATE VIEW wait_latency_histogram AS SELECT pad.name AS pad, t.rank, t.supplier_rank AS peer, t.bucket, "        \
    "CASE t.bucket WHEN 0 THEN 0 ELSE 1 << (t.bucket - 1) END AS low_ns, "                                             \
    "CASE t.bucket WHEN 0 THEN 0 ELSE (1 << t.bucket) - 1 END AS high_ns, t.waits "                                    \
    "FROM wait_tally t LEFT JOIN pad ON pad.id = t.pad WHERE t.bucket >= 0 AND t.waits > 0 "                           \
    "ORDER BY t.pad, t.rank, t.supplier_rank, t.bucket"

#define VIEW_LATENCY                                                                                                   \
    "CREATE VIEW wait_latency AS WITH c AS (SELECT *, sum(waits) OVER (PARTITION BY pad, rank, supplier_rank ORDER BY "\
    "bucket) AS upto, sum(waits) OVER (PARTITION BY pad, rank, supplier_rank) AS n FROM wait_tally WHERE bucket >= 0) "\
    "SELECT pad.name AS pad, c.rank, c.supplier_rank AS peer, n AS waits, sum(passed) AS passed, sum(failed) AS "      \
    "failed, " PERCENTILE(50) ", " PERCENTILE(90) ", " PERCENTILE(99) ", max(max_ns) AS max_ns, sum(total_ns) AS "     \
    "total_ns, sum(blocked_ns) AS blocked_ns FROM c LEFT JOIN pad ON pad.id = c.pad "                                  \
    "GROUP BY c.pad, c.rank, c.supplier_rank ORDER BY c.pad, c.rank, c.supplier_rank"

#define WAIT_COLUMNS                                                                                                   \
    "w.id, w.rank, writer.name AS writer, role.name AS role, w.epoch, pad.name AS pad, slot.name AS slot, slot.label " \
    "AS slot_label, w.supplier_rank AS peer, "
#define WAIT_JOINS                                                                                                     \
    "LEFT JOIN pad ON pad.id = w.pad LEFT JOIN slot ON slot.id = w.slot LEFT JOIN writer ON writer.id = w.writer "     \
    "LEFT JOIN role ON role.id = w.role "
#define WAIT_RESULT                                                                                                    \
    "CASE w.open WHEN 1 THEN 'OPEN' ELSE coalesce(" WORD("result", "w.result") ", 'UNKNOWN') END AS result"

#define WAIT_FILE "(SELECT name FROM name WHERE name.id = w.file) AS file, "

#define VIEW_WAITS                                                                                                     \
    "CREATE VIEW waits AS SELECT " WAIT_COLUMNS "w.begin_ns, w.end_ns, w.latency_ns, w.lag_ns, w.blocked_ns, "         \
    WAIT_RESULT ", w.passed, w.open, w.need, w.observed, w.polls, w.slept_ns, w.last_fail_ns, " WAIT_FILE "w.line, w.stage, "       \
    "w.start_lost, w.end_lost, " HOW("w.how") ", " WORD("cmp", "(w.how >> 8) & 7") " AS comparison, "                  \
    "w.reads_from_event, w.reads_from_rank, "                                                                          \
    "w.reads_from_value, " WORD("reason", "w.reads_from_reason") " AS reads_from_reason, w.released_by_event, "        \
    "w.released_by_rank, w.released_by_value, w.released_by_ns, " WORD("reason", "w.released_by_reason")               \
    " AS released_by_reason FROM wait w " WAIT_JOINS

/* The classes and buckets in which the 1 000 slowest are: millions of others are not looked at. */
#define SLOW_BUCKETS(condition)                                                                                        \
    "(SELECT pad, rank, supplier_rank, bucket FROM wait_tally WHERE waits > passed " condition "AND bucket >= "        \
    "coalesce((SELECT max(bucket) FROM (SELECT bucket, sum(sum(waits)) OVER (ORDER BY bucket DESC) AS upto FROM "      \
    "wait_tally WHERE "                                                                                                \
    "bucket > 0 " condition "GROUP BY bucket) WHERE upto >= 1000), 0)) t "

#define VIEW_SLOWEST VIEW_SLOWEST_AS("slowest_waits", "")
#define VIEW_SLOWEST_AS(name, condition)                                                                               \
    "CREATE VIEW " name " AS SELECT " WAIT_COLUMNS "w.begin_ns, w.latency_ns, w.lag_ns, w.released_by_ns - "      \
    "w.begin_ns AS late_ns, " WAIT_RESULT ", w.released_by_rank, " WORD("reason", "w.released_by_reason")              \
    " AS released_by_reason, w.released_by_event, w.need, w.observed, " WAIT_FILE "w.line FROM (SELECT s.id AS slow FROM "   \
    SLOW_BUCKETS(condition) "CROSS JOIN wait s ON s.passed = 0 AND s.pad IS t.pad AND s.rank IS t.rank AND "           \
    "s.supplier_rank IS t.supplier_rank AND s.bucket = t.bucket ORDER BY s.latency_ns DESC, s.id LIMIT 1000) "         \
    "JOIN wait w ON w.id = slow "                                                                                      \
    WAIT_JOINS "ORDER BY w.latency_ns DESC, w.id"

/* The same without the waits of a rank for itself: those last as long as what its own writers wait for. */
#define VIEW_SLOWEST_REMOTE VIEW_SLOWEST_AS("slowest_remote_waits", "AND supplier_rank IS NOT rank ")

#define VIEW_OPEN                                                                                                      \
    "CREATE VIEW open_waits AS SELECT " WAIT_COLUMNS "w.begin_ns, " RUN_END " - w.begin_ns AS open_ns, w.need, "       \
    "w.observed, w.polls, " WAIT_FILE "w.line, w.stage, " WORD("origin", "slot.supplier_origin") " AS supplier_known_from, "        \
    "w.end_lost FROM wait w " WAIT_JOINS "WHERE w.open = 1 ORDER BY w.end_lost, w.begin_ns, w.id"

#define VIEW_SHARE                                                                                                     \
    "CREATE VIEW wait_share AS WITH life AS (SELECT rank, sum(max(coalesce(end_ns, " RUN_END ") - begin_ns, 0)) AS "   \
    "writers_ns, count(*) AS writers FROM writer GROUP BY rank) SELECT t.rank, t.supplier_rank AS peer, "              \
    "t.supplier_rank IS t.rank AS local, sum(t.waits) AS waits, sum(t.blocked_ns) AS blocked_ns, life.writers_ns, "    \
    "CASE WHEN life.writers_ns > 0 THEN 1.0 * sum(t.blocked_ns) / life.writers_ns END AS share FROM wait_tally t "     \
    "LEFT JOIN life ON life.rank = t.rank GROUP BY t.rank, t.supplier_rank ORDER BY t.rank, sum(t.blocked_ns) DESC"

#define VIEW_RANK_WAITS                                                                                                \
    "CREATE VIEW rank_waits AS SELECT p.wait, p.rank, p.supplier_rank AS peer, slot.name AS slot, p.begin_ns, "        \
    "p.end_ns "                                                                                                        \
    "FROM rank_wait p LEFT JOIN slot ON slot.id = p.slot"

#define VIEW_RANK_SHARE                                                                                                \
    "CREATE VIEW rank_share AS SELECT rank, supplier_rank AS peer, waits, waited_ns, 1.0 * waited_ns / nullif(" RUN_END\
    " - " META("begin_ns") ", 0) AS share FROM rank_tally ORDER BY rank, waited_ns DESC"

#define VIEW_EVENTS                                                                                                    \
    "CREATE VIEW events AS SELECT e.id, e.time_ns, " WORD("event", "e.kind") " AS event, e.rank, writer.name AS "      \
    "writer, role.name AS role, e.epoch, slot.name AS slot, slot.label AS slot_label, name.name AS name, e.object, "   \
    "e.value, e.need, e.detail, e.a, e.b, e.c, " HOW("e.how") ", " WORD("cmp", "(e.how >> 8) & 7") " AS comparison, "  \
    WORD("result", "(e.how >> 11) & 7") " AS result, (e.how >> 14) & 1 AS time_modulo, e.ring, e.sequence "            \
    "FROM event e LEFT JOIN writer ON writer.id = e.writer LEFT JOIN role ON role.id = e.role "                        \
    "LEFT JOIN slot ON slot.id = e.slot LEFT JOIN name ON name.id = e.object AND e.kind IN "                           \
    "(SELECT id FROM word WHERE class = 'named')"

#define VIEW_SIGNALS                                                                                                   \
    "CREATE VIEW signals AS SELECT s.id, s.time_ns, " WORD("event", "s.kind") " AS event, s.rank, writer.name "        \
    "AS writer, role.name AS role, s.epoch, "                                                                          \
    "pad.name AS pad, slot.name AS slot, slot.label AS slot_label, slot.owner AS to_rank, s.value, " HOW("s.how")      \
    ", s.elected_by, s.time_ns - s.elect_ns AS fence_ns, s.released FROM signal s LEFT JOIN pad ON pad.id = s.pad "    \
    "LEFT JOIN slot ON slot.id = s.slot LEFT JOIN writer ON writer.id = s.writer LEFT JOIN role ON role.id = s.role"

#define VIEW_ARRIVALS                                                                                                  \
    "CREATE VIEW arrivals AS SELECT a.id, a.time_ns, a.rank, writer.name AS writer, role.name AS role, a.epoch, "      \
    "pad.name AS pad, slot.name AS slot, slot.label AS slot_label, a.gate, a.old, a.weight, a.expected, a.target, "    \
    "a.elected, " HOW("a.how") " FROM arrival a LEFT JOIN pad ON pad.id = a.pad LEFT JOIN slot ON slot.id = a.slot "   \
    "LEFT JOIN writer ON writer.id = a.writer LEFT JOIN role ON role.id = a.role"

#define VIEW_EPOCHS                                                                                                    \
    "CREATE VIEW epochs AS SELECT rank, epoch, min(begin_ns) AS begin_ns, max(end_ns) AS end_ns, max(end_ns) - "       \
    "min(begin_ns) AS duration_ns, count(*) AS writers FROM epoch GROUP BY rank, epoch ORDER BY rank, epoch"

#define VIEW_LOSS                                                                                                      \
    "CREATE VIEW loss AS SELECT r.id AS ring, r.process, process.pid, r.number, r.rank, r.emitted, r.kept, r.lost, "   \
    "r.torn, r.at_least, r.tail_unknown, (SELECT count(*) FROM loss_gap g WHERE g.ring = r.id) AS gaps "               \
    "FROM ring r LEFT JOIN process ON process.id = r.process ORDER BY r.id"

#define VIEW_LOSS_GAPS                                                                                                 \
    "CREATE VIEW loss_gaps AS SELECT g.id, g.ring, r.rank, writer.name AS writer, g.first, g.last, g.last - g.first "  \
    "+ 1 AS lost, " WORD("loss", "g.cause") " AS cause, (SELECT meaning FROM word WHERE class = 'loss' AND word.id = " \
    "g.cause) AS meaning, g.at_least, g.before_ns, g.after_ns FROM loss_gap g LEFT JOIN ring r ON r.id = g.ring "      \
    "LEFT JOIN writer ON writer.id = g.writer ORDER BY g.id"

#define VIEW_CLOCK                                                                                                     \
    "CREATE VIEW clock AS SELECT c.id, c.process, process.pid, process.host_name, c.device, CASE WHEN c.device < 0 "   \
    "THEN 'host' ELSE 'GPU ' || c.device END AS device_name, c.step_ns, c.residual_ns, c.bound_ns, c.samples, c.kernels, c.fault_ns, c.cupti_ns "    \
    "FROM clock_line c "  \
    "LEFT JOIN process ON process.id = c.process ORDER BY c.id"

/* A kernel ran on the ranks whose writers ran in it. */
#define VIEW_KERNELS                                                                                                   \
    "CREATE VIEW kernels AS SELECT k.id, kernel.name AS kernel, k.process, k.device, k.stream, k.begin_ns, k.end_ns, " \
    "k.end_ns - k.begin_ns AS duration_ns, k.grid_x * k.grid_y * k.grid_z AS blocks, k.block_x * k.block_y * "         \
    "k.block_z AS threads, k.registers, launch.number AS launch, k.writers, c.name AS call, c.begin_ns AS "            \
    "call_ns, k.begin_ns - c.end_ns AS queued_ns, k.graph, k.graph_node, k.correlation FROM gpu_kernel k LEFT JOIN "   \
    "kernel ON kernel.id = k.kernel LEFT JOIN launch ON launch.id = k.launch LEFT JOIN cuda_call c ON c.id = k.call "  \
    "ORDER BY k.begin_ns, k.id"

/* Where launches of a kernel differ (GPUs of several kinds, shared memory), a row each. */
#define VIEW_RESIDENCY                                                                                                 \
    "CREATE VIEW residency AS SELECT kernel.name AS kernel, l.block AS threads, l.blocks_per_sm, "                     \
    "l.plain_blocks_per_sm, l.registers, l.plain_registers, l.limited_by, l.local_bytes, CASE WHEN "                   \
    "l.plain_blocks_per_sm IS NOT NULL THEN l.plain_blocks_per_sm > l.blocks_per_sm OR l.local_bytes > 0 END AS "      \
    "changed, count(*) AS launches FROM launch l LEFT JOIN kernel ON kernel.id = l.kernel WHERE l.blocks_per_sm IS "   \
    "NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY min(l.id)"

#define VIEW_NOT_KNOWN                                                                                                 \
    "CREATE VIEW not_known AS SELECT t.relation, word.name AS reason, word.meaning, word.name IN ('initial', "         \
    "'arrivals', 'reset', 'host') AS explained, t.waits FROM reason_tally t JOIN word ON word.class = 'reason' AND "   \
    "word.id = t.reason WHERE word.name NOT IN ('found', 'open') AND t.waits > 0 ORDER BY t.relation, t.waits DESC"

#define VIEW_PLANS                                                                                                     \
    "CREATE VIEW plans AS SELECT p.id, " WORD("plan", "p.kind") " AS promise, " WORD("origin", "p.origin")             \
    " AS known_from, pad.name AS pad, p.owner, p.row_index, p.column_index, p.epoch, p.a, p.b FROM plan p "            \
    "LEFT JOIN pad ON pad.id = p.pad"

/* In the order in which to read them: an id is a place in the list. */
#define VIEW_FINDINGS                                                                                                  \
    "CREATE VIEW findings AS SELECT f.id, f.key, f.detector, f.severity, f.confidence, f.rank, f.block, f.owes_rank, " \
    "f.owes_block, slot.label AS slot, f.begin_ns, f.end_ns, f.verdict, f.cure, f.file, f.line, f.times, f.lost, "     \
    "f.explains, (SELECT group_concat(event) FROM finding_event e WHERE e.finding = f.id) AS evidence FROM finding f " \
    "LEFT JOIN slot ON slot.id = f.slot ORDER BY f.id"

#define VIEW_VERDICTS                                                                                                  \
    "CREATE VIEW verdicts AS SELECT name AS detector, status, findings, lost, why, meaning, cannot FROM detector "     \
    "ORDER BY id"

#define VIEW_STARVATION                                                                                                \
    "CREATE VIEW starvation AS SELECT s.finding, pad.name AS pad, slot.label AS slot, s.rank, s.supplier_rank AS "     \
    "peer, s.waits, s.median_ns, s.max_ns, 1.0 * s.max_ns / nullif(s.median_ns, 0) AS max_over_median, s.jain, "       \
    "s.longest_bypass FROM starvation_case s LEFT JOIN pad ON pad.id = s.pad LEFT JOIN slot ON slot.id = s.slot "      \
    "ORDER BY s.id"

/* A status above 128 is that of a signal, as shells say it; a program that exits with such a one looks the same. */
#define VIEW_PROCESS_ENDS                                                                                              \
    "CREATE VIEW process_ends AS SELECT id AS process, pid, host_name, first_rank, ranks, CASE WHEN ended = 0 THEN "   \
    "CASE " META("closed") " WHEN 1 THEN 'running' ELSE 'unknown' END WHEN exit_status BETWEEN 129 AND 192 THEN "      \
    "'killed' WHEN exit_status > 0 THEN 'exited' WHEN clean THEN 'in order' WHEN exit_status = 0 THEN 'left' ELSE "    \
    "'gone' END "                                                                                                      \
    "AS how, CASE WHEN "        \
    "exit_status BETWEEN 129 AND 192 THEN exit_status - 128 END AS signal, CASE WHEN ended AND (exit_status BETWEEN 0 "\
    "AND 128 OR exit_status > 192) THEN exit_status END AS status, clean, tail_unknown, abort_reason, "                \
    WORD("error", "abs(process.abort_reason - CASE WHEN process.abort_reason > 2147483647 THEN 4294967296 ELSE 0 END)")\
    " AS abort_name, (SELECT max(last_ns) FROM rank r WHERE r.process = process.id) AS last_ns FROM process ORDER "    \
    "BY "                                                                                                              \
    "first_rank, id"

/* Two devices' times compare within the sum of their bounds: of the two worst, and not at all where one is not
 * known. */
#define CLOCK_BOUND                                                                                                    \
    "(SELECT CASE WHEN count(*) = count(bound_ns) THEN sum(bound_ns) END FROM (SELECT bound_ns FROM clock_line "       \
    "ORDER BY bound_ns IS NOT NULL, bound_ns DESC LIMIT 2))"

#define VIEW_RUN                                                                                                       \
    "CREATE VIEW run AS SELECT (SELECT count(*) FROM rank) AS ranks, (SELECT count(*) FROM process) AS processes, "    \
    META("begin_ns") " AS begin_ns, " RUN_END " AS end_ns, " RUN_END " - " META("begin_ns") " AS duration_ns, "        \
    META("events") " AS events, (SELECT coalesce(sum(waits), 0) FROM wait_tally) AS waits, (SELECT coalesce(sum("      \
    "passed), 0) FROM wait_tally) AS passed, (SELECT coalesce(sum(failed), 0) FROM wait_tally) AS failed, (SELECT "    \
    "coalesce(sum(waits), 0) FROM wait_tally WHERE bucket = -1) AS open, (SELECT coalesce(sum(emitted), 0) FROM ring) "\
    "AS emitted, (SELECT coalesce(sum(lost), 0) FROM ring) AS lost, (SELECT coalesce(sum(torn), 0) FROM ring) AS "     \
    "torn, (SELECT coalesce(max(at_least), 0) FROM ring) AS lost_at_least, " CLOCK_BOUND " AS "                    \
    "clock_bound_ns, (SELECT count(*) FROM process WHERE clean = 0) AS unclean, (SELECT coalesce(max(tail_unknown), "  \
    "0) FROM process) AS tail_unknown, (SELECT coalesce(max(virtual_time), 0) FROM process) AS virtual_time, "         \
    META("closed") " AS closed, " META("cut") " AS cut, " META("damaged_frames") " AS damaged_frames, "                \
    META("missing_frames") " AS missing_frames, (SELECT coalesce(sum(no_ring), 0) FROM process) AS no_ring, "          \
    "(SELECT coalesce(sum(foreign_calls), 0) FROM process) AS foreign_calls, (SELECT coalesce(sum(no_line), 0) FROM "  \
    "process) AS no_line, (SELECT coalesce(sum(journal_lost), 0) FROM process) AS journal_lost"

#include "views_blame.h"

const xsv_object xsv_views[] = {
    {"run", VIEW_RUN},
    {"wait_latency_histogram", VIEW_HISTOGRAM},
    {"wait_latency", VIEW_LATENCY},
    {"waits", VIEW_WAITS},
    {"slowest_waits", VIEW_SLOWEST},
    {"slowest_remote_waits", VIEW_SLOWEST_REMOTE},
    {"open_waits", VIEW_OPEN},
    {"process_ends", VIEW_PROCESS_ENDS},
    {"wait_share", VIEW_SHARE},
    {"rank_waits", VIEW_RANK_WAITS},
    {"rank_share", VIEW_RANK_SHARE},
    {"events", VIEW_EVENTS},
    {"signals", VIEW_SIGNALS},
    {"arrivals", VIEW_ARRIVALS},
    {"epochs", VIEW_EPOCHS},
    {"loss", VIEW_LOSS},
    {"loss_gaps", VIEW_LOSS_GAPS},
    {"clock", VIEW_CLOCK},
    {"kernels", VIEW_KERNELS},
    {"residency", VIEW_RESIDENCY},
    {"not_known", VIEW_NOT_KNOWN},
    {"plans", VIEW_PLANS},
    {"findings", VIEW_FINDINGS},
    {"verdicts", VIEW_VERDICTS},
    {"blame", VIEW_BLAME},
    {"blame_parts", VIEW_BLAME_PARTS},
    {"blame_slots", VIEW_BLAME_SLOTS},
    {"blame_ranks", VIEW_BLAME_RANKS},
    {"critical_path", VIEW_CRITICAL_PATH},
    {"starvation", VIEW_STARVATION},
};
const uint32_t xsv_view_count = sizeof xsv_views / sizeof xsv_views[0];
