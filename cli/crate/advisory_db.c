/* SPDX-License-Identifier: Apache-2.0 */
#include "crate/advisory_db.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/name_map.h"
#include "crate/crate_spec.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

enum { LONGEST_FILE = 1 << 20, TOLD_MOST = 20 };

typedef struct names {
    char **items;
    size_t count, cap;
} names;

struct advisory_db {
    char *dir;   /* with /crates at its end */
    names known; /* folders, in the order of crate_name_cmp */
    names told;  /* files that could not be used */
    name_map is_told;
    size_t bad;
};

static void
add_name(names *n, const char *text)
{
    n->items = xalloc_room(n->items, n->count, &n->cap, sizeof *n->items);
    n->items[n->count++] = xalloc_copy(text, strlen(text));
}

static void
free_names(names *n)
{
    for (size_t i = 0; i < n->count; i++)
        free(n->items[i]);
    free(n->items);
}

static int
by_name(const void *a, const void *b)
{
    return crate_name_cmp(*(char *const *)a, *(char *const *)b);
}

static int
by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool
ends_in_md(const char *name)
{
    size_t n = strlen(name);

    return n > 3 && strcmp(name + n - 3, ".md") == 0;
}

int
advisory_db_open(const char *dir, advisory_db **out_db)
{
    textbuf path = {0};
    struct dirent *entry;

    textbuf_put(&path, "%s/crates", dir);
    DIR *d = opendir(path.text);
    int why = errno;
    if (!d) {
        textbuf_free(&path);
        return say_fail(SAY_USAGE, "a copy of https://github.com/rustsec/advisory-db",
                        "--advisory-db '%s': cannot read its folder 'crates': %s",
                        show(dir).text, show_errno(why).text);
    }
    advisory_db *db = xalloc_zeroed(1, sizeof *db);
    db->dir = path.text;
    while ((entry = readdir(d)))
        if (crate_name_is_valid(entry->d_name, strlen(entry->d_name)))
            add_name(&db->known, entry->d_name);
    closedir(d);
    if (db->known.count > 1)
        qsort(db->known.items, db->known.count, sizeof(char *), by_name);
    *out_db = db;
    return SAY_DONE;
}

void
advisory_db_free(advisory_db *db)
{
    if (!db)
        return;
    free_names(&db->known);
    name_map_free(&db->is_told);
    free_names(&db->told);
    free(db->dir);
    free(db);
}

size_t
advisory_db_bad(const advisory_db *db)
{
    return db ? db->bad : 0;
}

/* Names a file once, however often it is looked at. */
static void
tell(advisory_db *db, const char *path, const char *why, bool is_used)
{
    if (name_map_get(&db->is_told, path) != NAME_MAP_NONE)
        return;
    add_name(&db->told, path);
    name_map_set(&db->is_told, db->told.items[db->told.count - 1], 1);
    if (++db->bad <= TOLD_MOST)
        say_fail(SAY_FAILED, NULL, is_used ? "%s: %s" : "%s cannot be used: %s",
                 show(path).text, why);
    else if (db->bad == TOLD_MOST + 1)
        say_fail(SAY_FAILED, NULL, "there are more such advisories");
}

/* The text of a plain file, terminated; NULL: `why` says why not. */
static char *
read_file(const char *path, size_t *out_len, reason *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    size_t len = 0;
    ssize_t n = 1;

    if (fd < 0 || fstat(fd, &st) != 0) {
        reason_set(why, "%s", show_errno(errno).text);
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    char *text = NULL;
    size_t room = st.st_size > 0 ? (size_t)st.st_size : 0; /* more may come: cut */
    if (!S_ISREG(st.st_mode) || st.st_size > LONGEST_FILE)
        reason_set(why, "it is no plain file of at most 1 MiB");
    else
        text = xalloc_zeroed(room + 1, 1);
    while (text && n > 0 && len < room) {
        n = read(fd, text + len, room - len);
        len += n > 0 ? (size_t)n : 0;
    }
    if (text && n < 0) {
        reason_set(why, "%s", show_errno(errno).text);
        free(text);
        text = NULL;
    }
    close(fd);
    *out_len = len;
    return text;
}

static void
look_into(advisory_db *db, const char *path, const char *name, const char *version,
          advisory_list *list)
{
    reason why = {""};
    size_t len;
    advisory *a = NULL;
    char *text = read_file(path, &len, &why);
    bool is_used = text && advisory_read(text, len, name, version, &a, &why);

    if (!is_used || why.text[0])
        tell(db, path, why.text, is_used);
    if (a && list->count < ADVISORY_MOST)
        advisory_list_give(list, a);
    else
        advisory_free(a);
    free(text);
}

void
advisory_db_find(advisory_db *db, const char *name, const char *version,
                 advisory_list *list)
{
    char **folder =
        db->known.count == 0
            ? NULL
            : bsearch(&name, db->known.items, db->known.count, sizeof(char *), by_name);
    textbuf path = {0};
    names files = {0};
    struct dirent *entry;

    list->is_answered = true;
    if (!folder)
        return;
    textbuf_put(&path, "%s/%s", db->dir, *folder);
    DIR *d = opendir(path.text);
    if (!d)
        tell(db, path.text, show_errno(errno).text, false);
    while (d && (entry = readdir(d)))
        if (ends_in_md(entry->d_name))
            add_name(&files, entry->d_name);
    if (d)
        closedir(d);
    if (files.count > 1)
        qsort(files.items, files.count, sizeof(char *), by_bytes);
    for (size_t i = 0; i < files.count; i++) {
        textbuf file = {0};

        textbuf_put(&file, "%s/%s", path.text, files.items[i]);
        look_into(db, file.text, name, version, list);
        textbuf_free(&file);
    }
    free_names(&files);
    textbuf_free(&path);
}
