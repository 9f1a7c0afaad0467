/* SPDX-License-Identifier: Apache-2.0 */
#include "store/zone_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

#define FOLDER "/usr/share/zoneinfo"

enum { FILE_MOST = 256 << 10 };

/* "Europe/Berlin"; no part of it is empty or hidden. */
static bool
is_name(sn_str s)
{
    bool at_start = true;

    if (s.len == 0 || s.len >= SN_ZONE_NAME)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        bool is_fine = sn_is_alpha(c) || sn_is_digit(c) || memchr("_+-", c, 3);

        if (c == '/' ? at_start : !is_fine)
            return false;
        at_start = c == '/';
    }
    return !at_start;
}

/* Reads a whole small file; NULL: it cannot be had. */
static char *
load(const char *path, size_t *out_len)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    char *bytes = NULL;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        st.st_size <= FILE_MOST)
        bytes = sn_alloc((size_t)st.st_size);
    if (bytes && read(fd, bytes, (size_t)st.st_size) != st.st_size) {
        sn_free(bytes);
        bytes = NULL;
    }
    *out_len = bytes ? (size_t)st.st_size : 0;
    if (fd >= 0)
        close(fd);
    return bytes;
}

static void
fill(sn_zone_file *f, sn_str name)
{
    char path[sizeof FOLDER + SN_ZONE_NAME + 1];
    size_t len;

    memcpy(f->name, name.ptr, name.len);
    f->name[name.len] = '\0';
    snprintf(path, sizeof path, "%s/%s", FOLDER, f->name);
    f->bytes = load(path, &len);
    if (f->bytes && !sn_time_zone_read(&f->zone, (sn_str){f->bytes, len})) {
        sn_free(f->bytes);
        f->bytes = NULL;
    }
}

/* The zone of that name; NULL: there is none. A new one takes the place of the one that
 * came first. */
static const sn_zone_file *
find(sn_zone_files *z, sn_str name)
{
    if (!is_name(name))
        return NULL;
    for (uint32_t i = 0; i < z->count; i++)
        if (sn_str_eq(name, sn_str_of(z->files[i].name)))
            return z->files[i].bytes ? &z->files[i] : NULL;
    sn_zone_file *f = &z->files[z->next];
    z->next = (z->next + 1) % SN_ZONE_FILES;
    z->count += z->count < SN_ZONE_FILES;
    sn_free(f->bytes);
    fill(f, name);
    return f->bytes ? f : NULL;
}

bool
sn_zone_files_has(sn_zone_files *z, sn_str name)
{
    return find(z, name) != NULL;
}

bool
sn_zone_files_offset(sn_zone_files *z, sn_str name, int64_t local, int64_t *out_offset)
{
    const sn_zone_file *f = find(z, name);

    if (f)
        *out_offset = sn_time_zone_offset(&f->zone, local);
    return f != NULL;
}

void
sn_zone_files_fini(sn_zone_files *z)
{
    for (uint32_t i = 0; i < z->count; i++)
        sn_free(z->files[i].bytes);
    *z = (sn_zone_files){.count = 0};
}
