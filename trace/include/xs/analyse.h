/* Verdicts: a sink of the reader's one pass that says what went wrong, who owes it and how to cure it. Part of libxsread.
 *
 *     xsr_sink *judge;
 *     xsa_open(NULL, &judge);
 *     xsr_run(reader, &judge, 1);                 // before sinks that show findings: their finish reads the result
 *     const xsa_result *r = xsa_result_of(judge); // r->findings[0] is the one to read first
 *     xsa_close(judge);
 *
 * Memory grows with slots, writers and blocks, not with events (beside a log of fixed size for the critical path); time is linear in events.
 * One thread. */
#ifndef XS_ANALYSE_H
#define XS_ANALYSE_H

#include <xs/read.h>

XS_EXTERN_C_BEGIN

/* X(number, NAME, "name that users see", "what it says") ; numbers are those of the design and never reused. */
#define XSA_DETECTORS(X)                                                                                      \
    X(1, STALL, "stall", "a wait lasted far longer than its like, or gave up")                                \
    X(2, LOST_SUPPLIER, "lost-supplier", "a wait's signal never came, and nothing else explains it")          \
    X(3, WAIT_CYCLE, "wait-cycle", "blocks wait for each other in a circle")                                  \
    X(4, NON_RESIDENT, "non-resident-supplier", "the block that owes the signal was never started")           \
    X(5, VANISHED_SIGNAL, "vanished-signal", "a signal or arrival was made and did not reach the slot")       \
    X(6, MULTI_WRITER, "multi-writer", "two unordered writers on a slot that has one")                        \
    X(7, REGRESSION, "regression", "the values of a slot do not rise")                                        \
    X(8, WRAP_RISK, "wrap-risk", "values near or past what the slot's width or a signed compare can hold")    \
    X(9, COUNT_MISMATCH, "count-mismatch", "arrivals and what was expected differ")                           \
    X(10, EQUALITY_OVERSHOOT, "equality-overshoot", "a wait for equality that the value jumped over")         \
    X(11, EARLY_PASS, "early-pass", "a wait passed on a value that is not this round's")                      \
    X(12, RESET_RACE, "reset-race", "a slot was set back while others still used it")                         \
    X(13, PARTIAL_PUBLISH, "partial-publish", "a signal before all of its group had written")                 \
    X(14, ORDER_SCOPE, "order-scope", "an operation too weak or too narrow for the edge that it makes")       \
    X(15, PAYLOAD_RACE, "payload-race", "payload read and written without order between them")                \
    X(16, LAPPING, "lapping", "a producer overtook its readers")                                              \
    X(17, BARRIER_MISMATCH, "barrier-mismatch", "not all participants entered a barrier, or not equally often") \
    X(18, HEAD_OF_LINE, "head-of-line", "a wait held up work that was ready behind it")                       \
    X(19, UNFAIRNESS, "unfairness", "some peers are served far later than others")                            \
    X(20, DETECTION_LAG, "detection-lag", "signals were seen long after they came")                           \
    X(21, POLL_PRESSURE, "poll-pressure", "so many polls that they burden memory or link")                    \
    X(22, DEAD_PEER, "dead-peer", "a rank died or fell silent while others waited for it, or stopped half-way") \
    X(23, STUCK_CHAIN, "stuck-chain", "an election was won, and the signal that it owes never came")           \
    X(24, LATE_RANK, "late-rank", "a rank started late; others waited for it")                                \
    X(25, READINESS_COLLAPSE, "readiness-collapse", "most work became ready at the very end")                 \
    X(26, BARRIER_CLASH, "named-barrier-clash", "one named barrier used with two counts at a time, or one that not all come to") \
    X(27, TRACE_HEALTH, "trace-health", "what the trace is missing, and what that leaves open")
#define XSA_DETECTOR_ENUM(number, name, shown, text) XSA_##name = number,
enum xsa_detector { XSA_NO_DETECTOR = 0, XSA_DETECTORS(XSA_DETECTOR_ENUM) XSA_DETECTOR_END = 28 };
#undef XSA_DETECTOR_ENUM

enum xsa_severity { XSA_ERROR = 0, XSA_WARNING = 1, XSA_NOTE = 2 };
/* HIGH: follows from records and declared plan. MEDIUM: from what was reported or inferred. LOW: records that bear
 * on it are lost, or it is about the times of CPU threads. */
enum xsa_confidence { XSA_HIGH = 0, XSA_MEDIUM = 1, XSA_LOW = 2 };
/* CLEAR: looked, and there is nothing. UNKNOWN: lost records could change that. NOT_RUN: what it needs is not in the
 * capture. */
enum xsa_status { XSA_CLEAR = 0, XSA_FOUND = 1, XSA_UNKNOWN = 2, XSA_NOT_RUN = 3 };

typedef struct xsa_evidence {
    uint64_t event;   /* event id, as in the database and the Perfetto trace */
    const char *part; /* what it shows: "wait", "last signal", or the name of a finding that this one explains */
} xsa_evidence;

typedef struct xsa_finding {
    /* the same in every analysis of the run, and in runs that differ only in time: "multi-writer-1f0c9a22" */
    const char *id;
    uint32_t detector;    /* xsa_detector */
    uint32_t severity, confidence;
    const char *text;     /* one plain sentence: who, what, where, since when */
    const char *cure;
    uint32_t slot;        /* index in slots, XSR_NONE */
    uint32_t rank, block; /* the victim: rank number and block, XSR_NONE where there is none */
    uint32_t owes_rank, owes_block; /* the culprit, likewise */
    uint32_t owes_writer; /* index in writers, XSR_NONE */
    int64_t begin, end;   /* what it concerns; end = INT64_MIN: it never ended */
    const char *file;     /* NULL: the trace does not know it */
    uint32_t line;        /* 0: not known */
    uint64_t count;       /* how many times, at least 1 */
    uint64_t lost;        /* records lost that bear on it */
    const xsa_evidence *evidence;
    uint32_t evidence_count;
    /* names of the findings that it explains and that are not listed: "lost-supplier, stall"; "" */
    const char *explains;
} xsa_finding;

typedef struct xsa_verdict {
    uint32_t detector, status; /* xsa_status */
    uint32_t findings;         /* listed */
    uint64_t lost;             /* UNKNOWN: records lost that could change it */
    const char *why;           /* UNKNOWN, NOT_RUN: in words; else "" */
    const char *cannot;        /* what this detector cannot know */
} xsa_verdict;

/* ---- the critical path: where the time of the run went ---- */

/* What the run's end had to wait for, one thing after the other, walked back from its end: on a writer along what it
 * did; at a wait that had to wait, over to the writer of the signal that released it. Its pieces lie end to end, so
 * their sum is the length of the run. X(NAME, "name that users see", "what it is") */
#define XSA_PARTS(X)                                                                                               \
    X(COMPUTE, "compute", "a writer at work: it neither waited nor published")                                     \
    X(PUBLISH, "publish", "from the end of its payload or work, or its first fence or arrival behind that, to the signal") \
    X(LINK, "link", "from a signal, or the begin of the wait, to the last poll that did not see it")               \
    X(LAG, "detection-lag", "from then to the end of the wait: back-off, a slow poll, and the link where no poll tells the two apart") \
    X(LINE, "head-of-line", "work on what was ready while its writer waited for something else in front of it")    \
    X(LATE, "late-rank", "a rank had not begun")                                                                   \
    X(START, "start", "between two writers of a rank: the next launch, or a block that began later")               \
    X(OWED, "owed", "a signal that did not come: until the wait gave up, or the end")                              \
    X(UNKNOWN, "unknown", "the trace does not tell: see why")
#define XSA_PART_ENUM(name, shown, text) XSA_PART_##name,
enum xsa_part { XSA_PARTS(XSA_PART_ENUM) XSA_PART_COUNT };
#undef XSA_PART_ENUM

/* Why a piece is unknown. X(NAME, "text") */
#define XSA_BLAME_WHYS(X)                                                        \
    X(KNOWN, "")                                                                 \
    X(CLOCK, "no longer than the two clocks may be apart")                       \
    X(LOST, "records are lost")                                                  \
    X(SIGNAL, "it is not known which signal released the wait")                  \
    X(HOST, "the host wrote the slot")                                           \
    X(BEGIN, "what its writer did before was not recorded")
#define XSA_BLAME_WHY_ENUM(name, text) XSA_BLAME_##name,
enum xsa_blame_why { XSA_BLAME_WHYS(XSA_BLAME_WHY_ENUM) XSA_BLAME_WHY_COUNT };
#undef XSA_BLAME_WHY_ENUM

/* Ranks are numbers, XSR_NONE where there is none. owes_rank: on whom the time is blamed. slot: what it was owed to,
 * which is the next slot that this writer signalled and that somebody already waited for, or the slot waited for;
 * rank: who waited for that. */
typedef struct xsa_span { /* a piece of the path */
    int64_t begin, end;
    uint64_t epoch;
    uint32_t part, why; /* xsa_part, xsa_blame_why */
    uint32_t rank, owes_rank, slot, writer;
    uint32_t pieces;    /* 1; more: so many short ones, of which the longest is told */
} xsa_span;

typedef struct xsa_blamed { /* exact, however long the run */
    uint32_t part, why, rank, owes_rank, slot;
    int64_t ns;
} xsa_blamed;

typedef struct xsa_slot_blame {
    uint32_t slot, owes_rank; /* owes_rank: of most of its time */
    int64_t ns;        /* of the path, all parts */
    /* of these: link, detection lag, and what the clocks cannot tell. Were it zero, the run would last at least its
     * length less this */
    int64_t lag_ns;
    /* each of its signals, alone, could have come so much later without moving the end; -1: not known */
    int64_t slack_ns;
    uint64_t awaited;  /* signals that somebody already waited for */
} xsa_slot_blame;

typedef struct xsa_rank_blame {
    uint32_t rank;
    int64_t ns[XSA_PART_COUNT];
    /* time that its writers did not wait, against the median of the ranks with the same roles; 0: fewer than three,
     * or not known */
    double slow;
} xsa_rank_blame;

typedef struct xsa_blame {
    int64_t begin, end; /* of the path: the run's first event and its end */
    int64_t ns[XSA_PART_COUNT];
    const xsa_span *spans; uint32_t span_count; /* in order of time */
    const xsa_blamed *sums; uint32_t sum_count; /* most first */
    const xsa_slot_blame *slots; uint32_t slot_count; /* most first, then by slack: least first */
    const xsa_rank_blame *ranks; uint32_t rank_count; /* by number */
    bool hang;          /* the end is a wait that never ended */
    uint64_t cuts;      /* places where the path was settled before its end was known, and a later end led elsewhere */
    int64_t joined_ns;  /* spans shorter than this are joined; 0: none are */
} xsa_blame;

/* ---- starvation: how unevenly peers are served; rows of two kinds, each with at least one other to compare with ---- */

typedef struct xsa_starved {
    uint32_t finding; /* index in findings of the unfairness that it is; XSR_NONE: it is none */
    uint32_t pad;     /* index in pads */
    uint32_t slot;    /* the shared slot, XSR_NONE where peer is told */
    /* peer not XSR_NONE: rank sees the signals of peer at this pad; times: how long they lay unseen. peer XSR_NONE:
     * rank waits for a shared slot of the pad, as others do; times: how long it waited. Numbers. */
    uint32_t rank, peer;
    uint64_t waits;            /* 0: no signal of the peer was ever looked at; max_ns lasts to the end of the run */
    int64_t median_ns, max_ns; /* the median to within an eighth */
    /* of its group: all peers of a rank at the pad, or all ranks that wait there; 1: all alike */
    double jain;
    /* services of others while a signal of the peer lay unseen; or hand-overs to others during one wait */
    uint64_t longest_bypass;
} xsa_starved;

typedef struct xsa_result {
    const xsa_finding *findings; /* in the order in which to read them: errors first, causes before effects */
    uint32_t finding_count;
    const xsa_verdict *verdicts; /* one a detector, by number */
    uint32_t verdict_count;
    uint32_t errors, warnings, notes, unknown; /* unknown: verdicts */
    const xsa_blame *blame;
    const xsa_starved *starved; /* those that are findings first, then by maximum over median */
    uint32_t starved_count;
} xsa_result;

/* Thresholds. Zero: the default in brackets. Times in nanoseconds. */
typedef struct xsa_options {
    uint32_t size;           /* sizeof(xsa_options) */
    uint32_t reserved0;
    int64_t stall_ns;        /* waits at least so long can be stalls (10 ms) */
    int64_t late_ns;         /* a rank that starts so much after the others is late (50 ms) */
    int64_t silent_ns;       /* a rank whose heartbeat stands still for so long is dead (100 ms) */
    int64_t lag_ns;          /* detection lags below this are fine (20 us) */
    uint32_t blame_entries;  /* signals and waits that the walk back keeps, 1 024 or more (262 144) */
    uint32_t reserved1;
} xsa_options;

/* Makes the sink. options may be NULL. XS_E_MEMORY, XS_E_ARGUMENT. */
XS_API int xsa_open(const xsa_options *options, xsr_sink **sink);
/* Valid after the sink's finish, until close. NULL before. */
XS_API const xsa_result *xsa_result_of(const xsr_sink *sink);
XS_API void xsa_close(xsr_sink *sink); /* NULL is allowed; before the reader or after it */

/* What `xs check` leaves with: 1 any error finding, loss or not; 2 none, but a verdict is unknown; 0 clean. */
XS_API int xsa_exit_code(const xsa_result *result);

XS_API const char *xsa_detector_name(uint32_t detector); /* "lost-supplier" */
XS_API const char *xsa_detector_text(uint32_t detector); /* what it says */
XS_API const char *xsa_severity_name(uint32_t severity); /* "error" */
XS_API const char *xsa_confidence_name(uint32_t confidence); /* "high" */
XS_API const char *xsa_status_name(uint32_t status); /* "clear" */
XS_API const char *xsa_part_name(uint32_t part); /* "detection-lag" */
XS_API const char *xsa_part_text(uint32_t part); /* what it is */
XS_API const char *xsa_blame_why_text(uint32_t why);

XS_EXTERN_C_END

#endif
