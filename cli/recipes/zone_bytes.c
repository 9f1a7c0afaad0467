/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/zone_bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"

#define FOLDER "/usr/share/zoneinfo"

enum { NAME_MOST = 64, FILE_MOST = 256 << 10 };

typedef struct zone_file {
    char name[NAME_MOST];
    char *bytes; /* NULL: there is no such file */
    size_t len;
    struct zone_file *next;
} zone_file;

void
zone_bytes_init(zone_bytes *z)
{
    pthread_mutex_init(&z->lock, NULL);
    z->files = NULL;
}

void
zone_bytes_fini(zone_bytes *z)
{
    while (z->files) {
        zone_file *f = z->files;

        z->files = f->next;
        free(f->bytes);
        free(f);
    }
    pthread_mutex_destroy(&z->lock);
}

/* "Europe/Berlin"; nothing that leaves the folder. */
static bool
is_name(const char *name)
{
    size_t n = strspn(
        name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/");

    return n > 0 && name[n] == '\0' && n < NAME_MOST && name[0] != '/' &&
           name[n - 1] != '/' && !strstr(name, "//");
}

static void
load(zone_file *f)
{
    char path[sizeof FOLDER + NAME_MOST + 1];
    FILE *in;

    snprintf(path, sizeof path, "%s/%s", FOLDER, f->name);
    in = fopen(path, "re");
    if (!in)
        return;
    f->bytes = xalloc_zeroed(FILE_MOST, 1);
    f->len = fread(f->bytes, 1, FILE_MOST, in);
    if (ferror(in) || f->len == FILE_MOST || f->len < 4 ||
        memcmp(f->bytes, "TZif", 4) != 0) {
        free(f->bytes);
        f->bytes = NULL;
    }
    fclose(in);
}

static const zone_file *
find(zone_bytes *z, const char *name)
{
    zone_file *f = z->files;

    while (f && strcmp(f->name, name) != 0)
        f = f->next;
    if (f)
        return f;
    f = xalloc_zeroed(1, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    load(f);
    f->next = z->files;
    z->files = f;
    return f;
}

bool
zone_bytes_get(const char *name, seine_view *out_bytes, void *arg)
{
    zone_bytes *z = arg;

    if (!is_name(name))
        return false;
    pthread_mutex_lock(&z->lock);
    const zone_file *f = find(z, name);
    pthread_mutex_unlock(&z->lock);
    *out_bytes = (seine_view){f->bytes, f->len};
    return f->bytes != NULL;
}
