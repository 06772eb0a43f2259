/* xs top: what running programs wait for, on one screen that renews itself. */
#ifndef XS_TOP_H
#define XS_TOP_H

#include "hang.h"

enum top_color { TOP_PLAIN, TOP_HEAD, TOP_BAD, TOP_SLOW, TOP_WELL, TOP_DIM };

typedef struct top_line {
    char *text;
    enum top_color color;
    int sentence; /* broken where the screen ends; other lines are a table, cut there */
} top_line;

typedef struct top_frame {
    top_line *lines;
    uint32_t count, room;
} top_frame;

/* top_frame.c: 0 or XS_E_MEMORY; freed by top_frame_free in every case. */
int top_frame_make(const hang_report *report, top_frame *frame);
void top_frame_free(top_frame *frame);

/* top_screen.c: the terminal. */
enum top_wish { TOP_GO_ON, TOP_QUIT };
int top_screen_open(void); /* 0: this terminal cannot be drawn on */
/* Draws, and takes keys until `ms` have passed. */
enum top_wish top_screen_show(const top_frame *frame, uint32_t ms);
int top_screen_paused(void);
void top_screen_close(void);

#endif
