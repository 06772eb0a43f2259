/* Writes docs/events.md (or, with the argument `ids`, tests/golden/event_ids.txt) from the tables of events.h. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <xs/events.h>

typedef struct event_row { int id; const char *name, *shape, *object, *value, *detail, *further, *text; } event_row;
#define EVENT_ROW(id, name, shape, object, value, detail, further, text) \
    {id, #name, #shape, #object, value, detail, further, text},
static const event_row events[] = {XS_EVENTS(EVENT_ROW)};

typedef struct code_row { int code; const char *name, *event; int order; const char *scope, *fence; } code_row;
#define CODE_ROW(code, name, event, order, scope, fence) {code, #name, #event, order, #scope, #fence},
static const code_row codes[] = {XS_CODES(CODE_ROW)};

typedef struct object_row { const char *name, *text; } object_row;
#define OBJECT_ROW(name, text) {#name, text},
static const object_row objects[] = {XS_OBJECTS(OBJECT_ROW)};

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static const char *low(const char *text) {
    static char out[4][32];
    static int next;
    char *to = out[next++ % 4];
    size_t i = 0;
    for (; text[i] && i < 31; i++)
        to[i] = (char)tolower((unsigned char)text[i]);
    to[i] = 0;
    return to;
}

static const char *cell(const char *text) { return strcmp(text, "-") == 0 || strcmp(text, "NONE") == 0 ? "" : text; }

static void put_ids(void) {
    for (size_t i = 0; i < COUNT(events); i++)
        printf("%d %s\n", events[i].id, low(events[i].name));
}

static void put_events(void) {
    printf("# Events\n\nGenerated from `lib/include/xs/events.h` by `xs_events_doc`; a test compares. Ids are never "
           "reused.\n"
           "How the words lie in records is in `lib/include/xs/record.h`. Words are `name:unit`.\n\n"
           "| id | name | shape | object | value | detail | further | meaning |\n| --- | --- | --- | --- | --- | --- | "
           "--- | --- |\n");
    for (size_t i = 0; i < COUNT(events); i++) {
        const event_row *e = &events[i];
        printf("| %d | `%s` | %s | %s | %s | %s | %s | %s |\n", e->id, low(e->name), low(e->shape),
               low(cell(e->object)), cell(e->value), cell(e->detail), cell(e->further), e->text);
    }
}

static void put_objects(void) {
    printf("\n## Objects\n\n| object | what the 24-bit object word names |\n| --- | --- |\n");
    for (size_t i = 0; i < COUNT(objects); i++)
        printf("| %s | %s |\n", low(objects[i].name), objects[i].text);
}

static void put_codes(void) {
    static const char *const orders[] = {"", "relaxed", "acquire", "release", "acq_rel", "sc", "volatile", "weak"};
    printf("\n## Codes\n\nWhat one record says without a second one. %d means a further record of an event, %d an "
           "event whose second "
           "record\ncarries kind, order, scope, fence, comparison and result in full.\n\n"
           "| code | name | event | order | scope | fence |\n| --- | --- | --- | --- | --- | --- |\n",
           XS_CODE_MORE, XS_CODE_FULL);
    for (size_t i = 0; i < COUNT(codes); i++) {
        const code_row *c = &codes[i];
        printf("| %d | `%s` | `%s` | %s | %s | %s |\n", c->code, low(c->name), low(c->event), orders[c->order & 7],
               low(cell(c->scope)), low(cell(c->fence)));
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "ids") == 0) {
        put_ids();
    } else {
        put_events();
        put_objects();
        put_codes();
    }
    return fflush(stdout) || ferror(stdout);
}
