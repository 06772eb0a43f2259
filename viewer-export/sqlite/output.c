/* JSON, CSV and table forms of a statement's rows. */
#include "database.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MEASURED_ROWS 500 /* a table's widths come from the first rows; later ones may push the line out */

static int end_of_rows(int step, FILE *out) {
    if (step != SQLITE_DONE)
        return (step & 0xff) == SQLITE_NOMEM ? XS_E_MEMORY : XS_E_FORMAT;
    return fflush(out) || ferror(out) ? XS_E_SYSTEM : XS_OK;
}

size_t xsv_put_character(const char *text, FILE *out) {
    /* of so many bytes; less is a form that is too long */
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char c = (unsigned char)*text;
    size_t bytes = c < 0x80                ? 1
                   : c >= 0xf0 && c < 0xf8 ? 4
                   : c >= 0xe0 && c < 0xf0 ? 3
                   : c >= 0xc0 && c < 0xe0 ? 2
                                           : 0,
           at = 1;
    uint32_t code = bytes == 1 ? c : c & (0x7fu >> bytes);
    for (; at < bytes && ((unsigned char)text[at] & 0xc0) == 0x80; at++)
        code = code << 6 | ((unsigned char)text[at] & 0x3f);
    if (!bytes || at < bytes || code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return fputs("\xef\xbf\xbd", out), 1;
    return fwrite(text, 1, bytes, out), bytes;
}

void xsv_json_string(const char *text, FILE *out) {
    fputc('"', out);
    while (*text) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            text++, fprintf(out, "\\%c", c);
        else if (c < 0x20)
            text++, fprintf(out, "\\u%04x", c);
        else
            text += xsv_put_character(text, out);
    }
    fputc('"', out);
}

static void json_value(sqlite3_stmt *s, int column, FILE *out) {
    const char *text;
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_NULL: fputs("null", out); return;
    case SQLITE_INTEGER: fprintf(out, "%lld", (long long)sqlite3_column_int64(s, column)); return;
    case SQLITE_FLOAT:
        if (isfinite(sqlite3_column_double(s, column)))
            fprintf(out, "%.17g", sqlite3_column_double(s, column));
        else
            fputs("null", out);
        return;
    default:
        text = (const char *)sqlite3_column_text(s, column);
        xsv_json_string(text ? text : "", out);
    }
}

int xsv_write_json(sqlite3_stmt *s, FILE *out) {
    int step, columns = sqlite3_column_count(s), first = 1;
    fputc('[', out);
    for (; (step = sqlite3_step(s)) == SQLITE_ROW && !ferror(out); first = 0) {
        fputs(first ? "\n" : ",\n", out);
        for (int c = 0; c < columns; c++) {
            fputs(c ? ", " : " {", out);
            xsv_json_string(sqlite3_column_name(s, c), out);
            fputs(": ", out);
            json_value(s, c, out);
        }
        fputc('}', out);
    }
    fputs(first ? "]\n" : "\n]\n", out);
    return ferror(out) ? XS_E_SYSTEM : end_of_rows(step, out);
}

static void csv_field(const char *text, FILE *out) {
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, 0}, out);
    fputc('"', out);
}

int xsv_write_csv(sqlite3_stmt *s, FILE *out) {
    int step, columns = sqlite3_column_count(s);
    for (int c = 0; c < columns; c++) {
        fputs(c ? "," : "", out);
        csv_field(sqlite3_column_name(s, c), out);
    }
    fputs("\r\n", out);
    while ((step = sqlite3_step(s)) == SQLITE_ROW && !ferror(out)) {
        for (int c = 0; c < columns; c++) {
            const char *text = (const char *)sqlite3_column_text(s, c);
            fputs(c ? "," : "", out);
            csv_field(text ? text : "", out);
        }
        fputs("\r\n", out);
    }
    return ferror(out) ? XS_E_SYSTEM : end_of_rows(step, out);
}

/* A table keeps the text of its first rows until their widths are known. */
typedef struct grid {
    int columns, rows;
    char **cells; /* header first */
    int *widths;
    char *right; /* 1: numbers */
} grid;

static int display_width(const char *text) {
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80; /* UTF-8: one a character */
    return n;
}

static int keep_row(grid *g, sqlite3_stmt *s, int header) {
    for (int c = 0; c < g->columns; c++) {
        const char *text = header ? sqlite3_column_name(s, c) : (const char *)sqlite3_column_text(s, c);
        int type = header ? SQLITE_NULL : sqlite3_column_type(s, c);
        char *copy = strdup(text ? text : "-");
        if (!copy)
            return XS_E_MEMORY;
        g->cells[g->rows * g->columns + c] = copy;
        if (display_width(copy) > g->widths[c])
            g->widths[c] = display_width(copy);
        if (type == SQLITE_INTEGER || type == SQLITE_FLOAT)
            g->right[c] = 1;
    }
    g->rows++;
    return XS_OK;
}

static void print_cell(const grid *g, int c, const char *text, FILE *out) {
    int pad = g->widths[c] - display_width(text);
    int last = c == g->columns - 1;
    if (g->right[c])
        fprintf(out, "%s%*s%s", c ? "  " : "", pad > 0 ? pad : 0, "", text);
    else
        fprintf(out, "%s%s%*s", c ? "  " : "", text, pad > 0 && !last ? pad : 0, "");
    if (last)
        fputc('\n', out);
}

static void print_kept(const grid *g, FILE *out) {
    for (int r = 0; r < g->rows; r++) {
        for (int c = 0; c < g->columns; c++)
            print_cell(g, c, g->cells[r * g->columns + c], out);
        for (int c = 0; r == 0 && c < g->columns; c++) {
            fputs(c ? "  " : "", out);
            for (int i = 0; i < g->widths[c]; i++)
                fputc('-', out);
        }
        if (r == 0)
            fputc('\n', out);
    }
}

static int write_grid(grid *g, sqlite3_stmt *s, FILE *out) {
    int step, rc = keep_row(g, s, 1);
    while (!rc && g->rows <= MEASURED_ROWS && (step = sqlite3_step(s)) == SQLITE_ROW)
        rc = keep_row(g, s, 0);
    if (rc)
        return rc;
    print_kept(g, out);
    if (g->rows > MEASURED_ROWS) {
        while ((step = sqlite3_step(s)) == SQLITE_ROW && !ferror(out)) {
            for (int c = 0; c < g->columns; c++) {
                const char *text = (const char *)sqlite3_column_text(s, c);
                print_cell(g, c, text ? text : "-", out);
            }
        }
    }
    return ferror(out) ? XS_E_SYSTEM : end_of_rows(step, out);
}

int xsv_write_table(sqlite3_stmt *s, FILE *out) {
    int n = sqlite3_column_count(s);
    grid g = {.columns = n, .cells = calloc((size_t)(n + 1) * (MEASURED_ROWS + 2), sizeof *g.cells),
              .widths = calloc((size_t)n + 1, sizeof *g.widths), .right = calloc((size_t)n + 1, 1)};
    int rc = g.cells && g.widths && g.right ? write_grid(&g, s, out) : XS_E_MEMORY;
    for (int i = 0; g.cells && i < n * (MEASURED_ROWS + 2); i++)
        free(g.cells[i]);
    free(g.cells);
    free(g.widths);
    free(g.right);
    return rc;
}
