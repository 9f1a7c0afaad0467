/* SPDX-License-Identifier: Apache-2.0 */
#include "gate_run/redis_url.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/say.h"

#define ENV     "env:"
#define LINE_OF "file:"

static int
copy_url(const char *option, const char *from, size_t n, char out[REDIS_URL_ROOM])
{
    if (n >= REDIS_URL_ROOM)
        return say_fail(SAY_USAGE, "redis://HOST:PORT/DB", "--%s: longer than 1024 bytes",
                        option);
    memcpy(out, from, n);
    out[n] = '\0';
    return SAY_DONE;
}

static int
read_variable(const char *option, const char *name, char out[REDIS_URL_ROOM])
{
    const char *value = getenv(name);

    if (!value || !*value)
        return say_fail(SAY_USAGE, NULL, "--%s: the variable %s is not set", option,
                        show(name).text);
    return copy_url(option, value, strlen(value), out);
}

/* The first line of a file. */
static int
read_file(const char *option, const char *path, char out[REDIS_URL_ROOM])
{
    FILE *f = fopen(path, "re");

    if (!f || !fgets(out, REDIS_URL_ROOM, f)) {
        int code = say_fail(SAY_USAGE, NULL, "--%s: %s cannot be read, or is empty",
                            option, show(path).text);

        if (f)
            fclose(f);
        return code;
    }
    fclose(f);
    out[strcspn(out, "\r\n")] = '\0';
    return SAY_DONE;
}

/* What is typed can be seen by others in the list of processes. */
static void
hide_login(const char *typed)
{
    char *at = strstr((char *)(uintptr_t)typed, "://");
    char *from = at ? at + 3 : NULL;
    size_t n = from ? strcspn(from, "/") : 0;

    while (n > 0 && from[n - 1] != '@')
        n--;
    if (n > 1)
        memset(from, 'x', n - 1);
}

int
redis_url_read(const char *option, const char *typed, char out[REDIS_URL_ROOM])
{
    if (strncmp(typed, ENV, sizeof ENV - 1) == 0)
        return read_variable(option, typed + sizeof ENV - 1, out);
    if (strncmp(typed, LINE_OF, sizeof LINE_OF - 1) == 0)
        return read_file(option, typed + sizeof LINE_OF - 1, out);
    int code = copy_url(option, typed, strlen(typed), out);
    hide_login(typed);
    return code;
}
