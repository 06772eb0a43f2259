/* What own can be told, in both of its forms; included by the one file of each. */
#ifndef OWN_OPTIONS_H
#define OWN_OPTIONS_H

#include <argp.h>
#include <stdint.h>
#include <stdlib.h>

enum { RANKS_MOST = 64, ROWS_MOST = 4096, NO_RANK = RANKS_MOST, SLOW_PERCENT = 256 };

static uint32_t ranks = 4, rows = 8, rounds = 50, slow_rank = NO_RANK, slow_percent = 100, seed = 1;
static uint64_t work_ns; /* for which a rank keeps the token */

static const struct argp_option own_options[] = {
    {"ranks", 'n', "N", 0, "threads in the ring (4)", 0},
    {"rows", 'r', "N", 0, "words of the token (8)", 0},
    {"rounds", 'k', "N", 0, "times that it goes round (50)", 0},
    {"work", 'w', "NS", 0, "nanoseconds that a rank keeps it (0)", 0},
    {"slow", 's', "RANK", 0, "this rank keeps it longer", 0},
    {"slow-percent", SLOW_PERCENT, "P", 0, "how much longer (100)", 0},
    {"seed", 'S', "N", 0, "of the payload (1)", 0},
    {0},
};

static uint64_t own_number(struct argp_state *state, const char *text, uint64_t least, uint64_t most) {
    char *end;
    uint64_t value = strtoull(text, &end, 0);
    if (*text == '\0' || *text == '-' || *end != '\0' || value < least || value > most)
        argp_error(state, "'%s' is not a number from %llu to %llu", text, (unsigned long long)least,
                   (unsigned long long)most);
    return value;
}

static error_t own_parse_one(int key, char *text, struct argp_state *state) {
    switch (key) {
    case 'n': ranks = (uint32_t)own_number(state, text, 2, RANKS_MOST); return 0;
    case 'r': rows = (uint32_t)own_number(state, text, 1, ROWS_MOST); return 0;
    case 'k': rounds = (uint32_t)own_number(state, text, 1, 1u << 30); return 0;
    case 'w': work_ns = own_number(state, text, 0, 10000000000); return 0;
    case 's': slow_rank = (uint32_t)own_number(state, text, 0, RANKS_MOST - 1); return 0;
    case SLOW_PERCENT: slow_percent = (uint32_t)own_number(state, text, 0, 100000); return 0;
    case 'S': seed = (uint32_t)own_number(state, text, 0, UINT32_MAX); return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", text); return 0;
    case ARGP_KEY_END:
        if (slow_rank != NO_RANK && slow_rank >= ranks) argp_error(state, "--slow: there are %u ranks", ranks);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Where they are wrong it says so and ends the program with 64. */
static void own_parse(int argc, char **argv) {
    static const struct argp parser = {own_options, own_parse_one, NULL, "A token goes round a ring of threads.",
                                       NULL, NULL, NULL};
    argp_err_exit_status = 64;
    argp_parse(&parser, argc, argv, 0, NULL, NULL);
}

#endif
