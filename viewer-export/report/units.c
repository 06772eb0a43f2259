#include "report.h"

#include <string.h>

#include <inttypes.h>
#include <math.h>

/* Three figures and a unit. */
xsv_words xsv_time(int64_t ns) {
    static const struct { double least; const char *unit; } units[] = {
        {3600e9, "h"}, {60e9, "min"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
    xsv_words w;
    double size = fabs((double)ns);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        double n = (double)ns / units[i].least, a = fabs(n);
        if (size < units[i].least * 0.9995)
            continue;
        if (units[i].least == 60e9 && size < 120e9)
            continue; /* 95 s reads better than 1.58 min */
        snprintf(w.text, sizeof w.text, "%.*f %s", a < 9.995 ? 2 : a < 99.95 ? 1 : 0, n, units[i].unit);
        return w;
    }
    snprintf(w.text, sizeof w.text, "%" PRId64 " ns", ns);
    return w;
}

xsv_words xsv_count(int64_t n) {
    char digits[24];
    xsv_words w;
    int count = snprintf(digits, sizeof digits, "%" PRId64, n), at = 0;
    for (int i = 0; i < count; i++) {
        if (i && digits[i - 1] != '-' && (count - i) % 3 == 0)
            w.text[at++] = ',';
        w.text[at++] = digits[i];
    }
    w.text[at] = 0;
    return w;
}

xsv_words xsv_share(double share) {
    xsv_words w;
    double percent = share * 100;
    int small = percent > 0 && percent < 9.95;
    if (percent > 0 && percent < 0.05)
        snprintf(w.text, sizeof w.text, "<0.1 %%");
    else
        snprintf(w.text, sizeof w.text, "%.*f %%", small, percent);
    return w;
}

xsv_words xsv_rank_words(sqlite3_stmt *s, int column, int64_t self) {
    xsv_words w;
    if (xsv_is_null(s, column))
        snprintf(w.text, sizeof w.text, "unknown");
    else if (xsv_number(s, column) == self)
        snprintf(w.text, sizeof w.text, "itself");
    else
        snprintf(w.text, sizeof w.text, "rank %" PRId64, xsv_number(s, column));
    return w;
}

/* Bytes of the first `characters` of UTF-8 text. */
static int bytes_of(const char *text, int characters) {
    int i = 0;
    for (; text[i]; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80 && characters-- == 0)
            break;
    return i;
}

void xsv_cell(FILE *out, const char *text, int width) {
    int length = 0;
    for (const char *c = text; *c; c++)
        length += ((unsigned char)*c & 0xc0) != 0x80;
    if (length > width)
        fprintf(out, "%.*s~", bytes_of(text, width - 1), text);
    else
        fprintf(out, "%s%*s", text, width - length, "");
}

void xsv_bar(const xsv_report_state *r, double share, int width) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    double filled = (share < 0 ? 0 : share > 1 ? 1 : share) * width;
    int whole = (int)filled, part = (int)((filled - whole) * 8), used = whole;
    for (int i = 0; i < whole; i++)
        fputs(r->options->unicode ? "█" : "#", r->out);
    if (r->options->unicode && part) {
        fputs(eighths[part], r->out);
        used++;
    }
    fprintf(r->out, "%*s", width - used, "");
}

void xsv_color(const xsv_report_state *r, enum xsv_color color) {
    static const char *const codes[] = {"0", "1", "1;31", "1;33", "32", "2"};
    if (r->options->color)
        fprintf(r->out, "\033[%sm", codes[color]);
}

void xsv_heading(const xsv_report_state *r, const char *text) {
    fputc('\n', r->out);
    xsv_color(r, XSV_BOLD);
    fputs(text, r->out);
    xsv_color(r, XSV_PLAIN);
    fputc('\n', r->out);
}

/* Characters up to where the line must end: the last space that still fits, or the whole word where none does. */
static int line_of(const char *text, int width) {
    int at = 0, best = 0, columns = 0;
    for (; text[at] && columns <= width; at++) {
        columns += ((unsigned char)text[at] & 0xc0) != 0x80;
        if (text[at] == ' ' && columns <= width + 1)
            best = at;
    }
    if (!text[at] && columns <= width)
        return at;
    return best ? best : (int)strcspn(text, " ");
}

int xsv_width(const xsv_report_state *r) {
    uint32_t asked = r->options->width;
    return !asked ? XSV_REPORT_WIDTH : asked < XSV_REPORT_LEAST ? XSV_REPORT_LEAST : (int)asked;
}

void xsv_paragraph(xsv_report_state *r, int column, int indent, const char *text) {
    while (*text) {
        int n = line_of(text, xsv_width(r) - column);
        fprintf(r->out, "%.*s\n", n, text);
        text += n + (text[n] == ' ');
        if (*text)
            fprintf(r->out, "%*s", column = indent, "");
    }
}
