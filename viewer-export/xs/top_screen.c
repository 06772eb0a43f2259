/* Lines on a terminal, by ncurses. */
#include "top.h"

#include <ncurses.h>
#include <string.h>
#include <time.h>

static int first, column, paused; /* line and column at the top left; the user may stop the clock */

int top_screen_open(void) {
    SCREEN *screen = newterm(NULL, stdout, stdin);
    if (!screen)
        return 0;
    set_term(screen);
    cbreak(), noecho(), curs_set(0), keypad(stdscr, TRUE);
    if (has_colors() && !start_color() && !use_default_colors()) {
        init_pair(TOP_BAD, COLOR_RED, -1);
        init_pair(TOP_SLOW, COLOR_YELLOW, -1);
        init_pair(TOP_WELL, COLOR_GREEN, -1);
    }
    return 1;
}

static int attributes(enum top_color color) {
    switch (color) {
    case TOP_HEAD:
        return A_BOLD;
    case TOP_DIM:
        return A_DIM;
    case TOP_BAD:
    case TOP_SLOW:
    case TOP_WELL:
        return has_colors() ? COLOR_PAIR(color) : color == TOP_BAD ? A_BOLD : A_NORMAL;
    default:
        return A_NORMAL;
    }
}

/* Columns that scrolling to the right hides; a character is a byte or more. */
static const char *behind(const char *text, int columns) {
    while (columns > 0 && *text) {
        text++;
        columns -= ((unsigned char)*text & 0xc0) != 0x80;
    }
    return text;
}

/* Bytes that fit into a row. */
static int fitting(const char *text) { return (int)(behind(text, COLS) - text); }

/* Bytes of the first line of a sentence: up to the last space that fits, or as much as does. */
static int line_of(const char *text) {
    int all = (int)strlen(text), fit = fitting(text), at = fit;
    if (fit == all)
        return all;
    while (at > 0 && text[at] != ' ')
        at--;
    return at ? at : fit ? fit : all;
}

/* ncurses would go on in the next row. */
static void draw_row(int row, const char *text) { mvaddnstr(row, 0, text, fitting(text)); }

/* Returns the row behind it. */
static int draw_sentence(int row, const char *text) {
    while (*text && row < LINES - 1) {
        int bytes = line_of(text);
        mvaddnstr(row++, 0, text, bytes);
        text += bytes;
        text += *text == ' ';
    }
    return row;
}

static void draw(const top_frame *frame) {
    int last = (int)frame->count - 1;
    first = first > last ? last : first;
    first = first < 0 ? 0 : first;
    erase();
    for (int i = first, row = 0; row < LINES - 1 && i <= last; i++) {
        const top_line *line = &frame->lines[i];
        attron(attributes(line->color));
        if (line->sentence)
            row = draw_sentence(row, line->text);
        else
            draw_row(row++, behind(line->text, column));
        attroff(attributes(line->color));
    }
    attron(A_DIM);
    mvprintw(LINES - 1, 0, "q quit   space %s   arrows and pages scroll", paused ? "goes on" : "stops");
    attroff(A_DIM);
    refresh();
}

static void scroll_by(int key) {
    int page = LINES - 2;
    first += key == KEY_DOWN ? 1 : key == KEY_UP ? -1 : key == KEY_NPAGE ? page : key == KEY_PPAGE ? -page : 0;
    column += key == KEY_RIGHT ? 8 : key == KEY_LEFT ? -8 : 0;
    column = column < 0 ? 0 : column;
    first = key == KEY_HOME || first < 0 ? 0 : first;
}

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

enum top_wish top_screen_show(const top_frame *frame, uint32_t ms) {
    int64_t until = now_ms() + ms, left = ms;
    while (left >= 0) {
        draw(frame);
        timeout((int)left);
        int key = getch();
        if (key == 'q' || key == 'Q')
            return TOP_QUIT;
        if (key == ' ' || key == 'p')
            paused = !paused;
        else if (key == ERR && now_ms() < until)
            return TOP_QUIT; /* a signal, or nobody is there any more */
        else if (key != ERR)
            scroll_by(key);
        left = until - now_ms();
    }
    return TOP_GO_ON;
}

int top_screen_paused(void) { return paused; }

void top_screen_close(void) { endwin(); }
