/* litmus CASE: see litmus.h. */
#include "litmus.h"

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"tearing", litmus_tearing}, {"copied", litmus_copied}, {"counter", litmus_counter}, {"hung", litmus_hung}, {"unread", litmus_unread}, {"messages", litmus_messages}};
    gpu_test_begin(50);
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name)) {
            gpu_test_need();
            cases[i].run();
            return 0;
        }
    fputs("usage: litmus tearing|copied|counter|hung|messages\n", stderr);
    return 64;
}
