/* Captures of worlds that nobody destroyed, at exit(): they are drained and closed there. */
#ifndef XS_EXIT_LIST_H
#define XS_EXIT_LIST_H

typedef struct xs_exit_entry {
    struct xs_exit_entry *next;
    void (*stop)(struct xs_exit_entry *entry);
} xs_exit_entry;

void xs_exit_add(xs_exit_entry *entry);
/* 1: exit() is stopping the entry right now, or has done so: its memory stays. */
int xs_exit_remove(xs_exit_entry *entry);
/* In a forked child: nothing is stopped there. */
void xs_exit_forget(void);

#endif
