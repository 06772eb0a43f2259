/* Where the time went, as tables of the page. */
#include "html.h"

#define SHARE "iif(share > 0 AND share < 0.0005, '<0.1 %', printf('%.1f %%', 100 * share))"

void xsv_html_blame(xsv_report_state *r) {
    static const xsv_html_column parts[] = {{"part", XSV_CELL_CODE},
                                            {"time", XSV_CELL_TIME},
                                            {"share", XSV_CELL_TEXT},
                                            {"what it is", XSV_CELL_TEXT},
                                            {NULL, 0}};
    static const xsv_html_column ranks[] = {
        {"rank", XSV_CELL_RANK},      {"time", XSV_CELL_TIME},         {"share", XSV_CELL_TEXT},
        {"compute", XSV_CELL_TIME},   {"publish", XSV_CELL_TIME},      {"link", XSV_CELL_TIME},
        {"seen late", XSV_CELL_TIME}, {"head of line", XSV_CELL_TIME}, {"late", XSV_CELL_TIME},
        {"owed", XSV_CELL_TIME},      {"not known", XSV_CELL_TIME},    {NULL, 0}};
    static const xsv_html_column slots[] = {{"owed by", XSV_CELL_RANK},
                                            {"slot", XSV_CELL_CODE},
                                            {"time", XSV_CELL_TIME},
                                            {"share", XSV_CELL_TEXT},
                                            {"of it lag", XSV_CELL_TIME},
                                            {"slack", XSV_CELL_TIME},
                                            {NULL, 0}};
    static const xsv_html_table tables[] = {
        {.title = "Where the time went",
         .about = "The critical path: what the end of the run had to wait for, walked back from it.",
         .columns = parts,
         .sql =
             "SELECT part, blamed_ns, " SHARE ", meaning FROM blame_parts WHERE blamed_ns > 0 ORDER BY blamed_ns DESC"},
        {.title = "On whom it is blamed",
         .columns = ranks,
         .sql =
             "SELECT rank, blamed_ns, " SHARE
             ", compute_ns, publish_ns, link_ns, detection_lag_ns, head_of_line_ns, late_rank_ns, owed_ns, unknown_ns "
             "FROM blame_ranks WHERE blamed_ns > 0 LIMIT 64"},
        {.title = "Slots that it was owed to",
         .about = "Slack: each signal of the slot, alone, could have come so much later without moving the end.",
         .columns = slots,
         .sql = "SELECT owes_rank, slot, blamed_ns, " SHARE
                ", lag_ns, slack_ns FROM blame_slots WHERE blamed_ns > 0 LIMIT 32"}};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        xsv_html_rows(r, &tables[i]);
}
