/* SPDX-License-Identifier: Apache-2.0 */
/* replay - feeds every file of a folder to a fuzz target, without a fuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int
replay(const char *path)
{
    static uint8_t bytes[1 << 20];
    FILE *f = fopen(path, "rb");

    if (!f) {
        perror(path);
        return 1;
    }
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);

    /* An exact copy, so that a sanitizer sees a read past its end. */
    uint8_t *copy = malloc(n ? n : 1);
    if (!copy)
        return 1;
    for (size_t i = 0; i < n; i++)
        copy[i] = bytes[i];
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
    return 0;
}

int
main(int argc, char **argv)
{
    int passed = 0, failed = 0;
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;

    if (!dir) {
        fprintf(stderr, "usage: replay FOLDER\n");
        return 2;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        char path[4096];

        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", argv[1], e->d_name);
        replay(path) ? failed++ : passed++;
    }
    closedir(dir);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
