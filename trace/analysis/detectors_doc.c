/* Writes docs/detectors.md from the detectors' own tables. */
#include "analysis.h"

#include <stdio.h>

static const an_ops *with_id(uint32_t id) {
    for (uint32_t i = 0; an_detectors[i]; i++)
        if (an_detectors[i]->id == id)
            return an_detectors[i];
    return NULL;
}

static void put_row(const an_ops *d) {
    char needs[256];
    an_needs_words(d->needs, needs, sizeof needs);
    printf("| `%s` | %s | %s | %s |\n", xsa_detector_name(d->id), xsa_detector_text(d->id),
           d->needs ? needs : "whatever there is", d->cannot);
}

int main(void) {
    printf(
        "# Detectors\n\nGenerated from the tables in `trace/analysis` by `xs_detectors_doc`; a test compares. `xs "
        "check NAME --all` says the same, with what each found.\n"
        "Where lost records could change what a detector says, that is \"unknown\". Where nothing of what it needs was "
        "recorded, it is \"not run\"; \"unknown\" where\n"
        "records are lost and it needs waits, of which every protocol has some.\n"
        "What holds for all of them is in limits.md (Pairing, Findings); which fault each finds, in fault-zoo.md.\n\n"
        "| detector | says | needs any | cannot know |\n| --- | --- | --- | --- |\n");
    for (uint32_t id = 1; id < XSA_DETECTOR_END; id++)
        if (with_id(id))
            put_row(with_id(id));
    return fflush(stdout) || ferror(stdout);
}
