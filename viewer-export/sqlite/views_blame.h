/* Views of the critical path; part of views.c. Shares are of the path's whole length, what is unknown included. */
#define PATH_NS "(SELECT end_ns - begin_ns FROM blame_path)"
#define PATH_SHARE(ns) "1.0 * " ns " / nullif(" PATH_NS ", 0)"
#define PART_SUM(name) "coalesce(sum(CASE WHEN w.name = '" name "' THEN b.blamed_ns END), 0)"

#define VIEW_BLAME                                                                                                     \
    "CREATE VIEW blame AS SELECT b.rank, b.owes_rank, " WORD("part", "b.part") " AS part, pad.name AS pad, "           \
    "sum(b.blamed_ns) AS blamed_ns, " PATH_SHARE("sum(b.blamed_ns)") " AS share, b.why FROM blame_sum b LEFT JOIN "    \
    "slot ON slot.id = b.slot LEFT JOIN pad ON pad.id = slot.pad GROUP BY b.rank, b.owes_rank, b.part, slot.pad, "     \
    "b.why ORDER BY blamed_ns DESC, b.part, b.owes_rank, b.rank, slot.pad"

/* if_zero_ns: the run would last at least so long if this part took no time. */
#define VIEW_BLAME_PARTS                                                                                               \
    "CREATE VIEW blame_parts AS SELECT w.name AS part, coalesce(sum(b.blamed_ns), 0) AS blamed_ns, "                   \
    PATH_SHARE("coalesce(sum(b.blamed_ns), 0)") " AS share, " PATH_NS " - coalesce(sum(b.blamed_ns), 0) AS "           \
    "if_zero_ns, w.meaning FROM word w LEFT JOIN blame_sum b ON b.part = w.id WHERE w.class = 'part' AND EXISTS "      \
    "(SELECT 1 FROM blame_path) GROUP BY w.id ORDER BY w.id"

#define VIEW_BLAME_SLOTS                                                                                               \
    "CREATE VIEW blame_slots AS SELECT b.id, slot.label AS slot, pad.name AS pad, b.owes_rank, b.blamed_ns, "          \
    PATH_SHARE("b.blamed_ns") " AS share, b.lag_ns, " PATH_NS " - b.lag_ns AS if_no_lag_ns, b.slack_ns, b.awaited "    \
    "FROM blame_slot b JOIN slot ON slot.id = b.slot JOIN pad ON pad.id = slot.pad ORDER BY b.id"

#define VIEW_BLAME_RANKS                                                                                               \
    "CREATE VIEW blame_ranks AS SELECT r.rank, coalesce(sum(b.blamed_ns), 0) AS blamed_ns, "                           \
    PATH_SHARE("coalesce(sum(b.blamed_ns), 0)") " AS share, " PART_SUM("compute") " AS compute_ns, "                   \
    PART_SUM("publish") " AS publish_ns, " PART_SUM("link") " AS link_ns, " PART_SUM("detection-lag")                  \
    " AS detection_lag_ns, " PART_SUM("head-of-line") " AS head_of_line_ns, " PART_SUM("late-rank")                    \
    " AS late_rank_ns, " PART_SUM("start") " AS start_ns, " PART_SUM("owed") " AS owed_ns, " PART_SUM("unknown")       \
    " AS unknown_ns, r.slow FROM blame_rank r LEFT JOIN blame_sum b ON b.owes_rank = r.rank LEFT JOIN word w ON "      \
    "w.class = 'part' AND w.id = b.part GROUP BY r.rank ORDER BY blamed_ns DESC, r.rank"

#define VIEW_CRITICAL_PATH                                                                                             \
    "CREATE VIEW critical_path AS SELECT s.id, s.begin_ns, s.end_ns, s.end_ns - s.begin_ns AS duration_ns, "           \
    WORD("part", "s.part") " AS part, s.owes_rank, s.rank, slot.label AS slot, writer.name AS writer, s.epoch, "       \
    "s.pieces, s.why FROM blame_span s LEFT JOIN slot ON slot.id = s.slot LEFT JOIN writer ON writer.id = s.writer "   \
    "ORDER BY s.id"
