/* The page of a report as a browser meets it. */
#ifndef PAGE_H
#define PAGE_H

/* 0 if every element that is opened is closed again, in order, and no other `<`, `>` or `&` stands in the text; else
 * *where is the place. */
int page_is_broken(const char *text, const char **where);

#endif
