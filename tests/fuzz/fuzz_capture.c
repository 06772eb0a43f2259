/* Fuzz target of the capture reader: any bytes are opened, read in one pass and checked for balance. With libFuzzer
 * (XS_FUZZ=ON, clang) it explores; without it, main replays files and folders of a corpus. So that the fuzzer is not stopped
 * by checksums, frames of the input are sealed anew where XS_FUZZ_SEAL is set or the first byte of the input says so. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char *copy = malloc(size + 1);
    require(copy != NULL);
    memcpy(copy, data, size);
    input_check(copy, size);
    input_seal(copy, size);
    input_check(copy, size);
    free(copy);
    return 0;
}

#ifndef XS_FUZZ_ENGINE
static int replay_file(const char *path) {
    FILE *in = fopen(path, "rb");
    static unsigned char bytes[1 << 22];
    if (!in)
        return 0;
    size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    LLVMFuzzerTestOneInput(bytes, size);
    return 1;
}

/* Every file of the corpus, and each of them cut and flipped in a few hundred ways. */
static int replay_changed(const char *path) {
    FILE *in = fopen(path, "rb");
    static unsigned char bytes[1 << 22], copy[1 << 22];
    if (!in)
        return 0;
    size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    unsigned seed = 1;
    for (int i = 0; i < 100 && size; i++) {
        memcpy(copy, bytes, size);
        for (int k = 0; k < 1 + i % 6; k++)
            copy[(size_t)rand_r(&seed) % size] = (unsigned char)rand_r(&seed);
        LLVMFuzzerTestOneInput(copy, i % 4 ? size : (size_t)rand_r(&seed) % size);
    }
    return 1;
}

int main(int argc, char **argv) {
    int files = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            char path[1024];
            if (entry->d_name[0] == '.' || snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name) >= (int)sizeof path)
                continue;
            files += replay_file(path);
            replay_changed(path);
        }
        if (folder)
            closedir(folder);
        else
            files += replay_file(argv[i]);
    }
    printf("%d files replayed\n", files);
    return files == 0;
}
#endif
