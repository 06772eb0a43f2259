#include "page.h"

#include <ctype.h>
#include <string.h>

#define DEPTH 32
#define NAME 16

typedef struct open_elements {
    char name[DEPTH][NAME];
    int depth;
} open_elements;

static size_t name_of(const char *text, char *name) {
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) && n < NAME - 1)
        n++;
    memcpy(name, text, n);
    name[n] = 0;
    return n;
}

/* Behind the `>` of a tag; NULL: attributes are not quoted, or there is no end. */
static const char *end_of_tag(const char *c) {
    int quoted = 0;
    for (; *c && (quoted || *c != '>'); c++) {
        if (*c == '<')
            return NULL;
        quoted ^= *c == '"';
    }
    return *c ? c + 1 : NULL;
}

static const char *tag(open_elements *o, const char *c) {
    char name[NAME];
    int closes = c[1] == '/';
    const char *end = end_of_tag(c + 1);
    if (c[1] == '!')
        return end;
    if (!end || !name_of(c + 1 + closes, name))
        return NULL;
    if (end[-2] == '/')
        return end;
    if (closes)
        return o->depth && !strcmp(o->name[--o->depth], name) ? end : NULL;
    if (o->depth == DEPTH)
        return NULL;
    strcpy(o->name[o->depth++], name);
    return end;
}

static const char *entity(const char *c) {
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (int i = 0; i < 4; i++)
        if (!strncmp(c, known[i], strlen(known[i])))
            return c + strlen(known[i]);
    return NULL;
}

int page_is_broken(const char *text, const char **where) {
    open_elements o = {.depth = 0};
    int style = 0;
    for (const char *c = text; *c;) {
        *where = c;
        if (!strncmp(c, "<style>", 7) || !strncmp(c, "</style>", 8))
            style = c[1] != '/';
        const char *next = *c == '<' ? tag(&o, c) : *c == '&' ? entity(c) : *c == '>' && !style ? NULL : c + 1;
        if (!next)
            return 1;
        c = next;
    }
    return o.depth != 0;
}
