/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "check/check.h"
#include "screen/say.h"
#include "screen/xalloc.h"

enum { IS_MISSING, IS_FILE, IS_DIRECTORY };

/* What a path is; the file system is asked once. */
static uint32_t
look_at(check *c, const char *path)
{
    struct stat st;
    uint32_t what = name_map_get(&c->stats, path);

    if (what != NAME_MAP_NONE)
        return what;
    what = stat(path, &st) != 0            ? IS_MISSING
           : S_ISDIR(st.st_mode)           ? IS_DIRECTORY
           : path[strlen(path) - 1] == '/' ? IS_MISSING
                                           : IS_FILE;
    c->stat_names =
        xalloc_room(c->stat_names, c->n_stats, &c->cap_stats, sizeof *c->stat_names);
    c->stat_names[c->n_stats] = xalloc_copy(path, strlen(path));
    name_map_set(&c->stats, c->stat_names[c->n_stats++], what);
    return what;
}

static char *
lower_copy(const char *text)
{
    char *out = xalloc_copy(text, strlen(text));

    for (char *p = out; *p; p++)
        *p = *p >= 'A' && *p <= 'Z' ? (char)(*p | 0x20) : *p;
    return out;
}

static const char *
keep_name(check *c, char *name)
{
    c->case_names =
        xalloc_room(c->case_names, c->n_cases, &c->cap_cases, sizeof *c->case_names);
    c->case_names[c->n_cases] = name;
    return c->case_names[c->n_cases++];
}

/* Remembers the files of a directory by their names in lower case, once. */
static void
list_directory(check *c, const char *dir)
{
    enum { MOST = 1 << 20 }; /* names in all; files beyond are just missing */

    if (name_map_get(&c->listed, dir) != NAME_MAP_NONE)
        return;
    name_map_set(&c->listed, keep_name(c, xalloc_copy(dir, strlen(dir))), 0);
    DIR *d = opendir(dir);
    for (struct dirent *e; d && c->n_cases < MOST && (e = readdir(d)) != NULL;) {
        char *lower = lower_copy(e->d_name), *key = check_join(dir, lower);

        free(lower);
        if (name_map_get(&c->cases, key) == NAME_MAP_NONE) {
            name_map_set(&c->cases, keep_name(c, key), (uint32_t)c->n_cases);
            keep_name(c, xalloc_copy(e->d_name, strlen(e->d_name)));
        } else {
            free(key);
        }
    }
    if (d)
        closedir(d);
}

/* The name in the directory of `path` that differs from its last part in case alone.
 * Returns whether there is one. */
static bool
find_other_case(check *c, const char *path, char *out, size_t cap)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *dir = slash ? xalloc_copy(path, slash == path ? 1 : (size_t)(slash - path))
                      : xalloc_copy(".", 1);
    char *lower = lower_copy(name), *key = check_join(dir, lower);

    list_directory(c, dir);
    uint32_t n = name_map_get(&c->cases, key);
    bool found = n != NAME_MAP_NONE && strcmp(c->case_names[n], name) != 0;
    if (found)
        snprintf(out, cap, "wrong case: it is '%s'", show(c->case_names[n]).text);
    free(dir);
    free(lower);
    free(key);
    return found;
}

static void
set_why(check_link *l, const char *why)
{
    l->verdict = SEINE_LINK_BROKEN;
    l->why = xalloc_copy(why, strlen(why));
}

/* The page that a link to a directory shows, or NONE. */
static uint32_t
index_of(check *c, const char *dir)
{
    static const char *const names[] = {"index", "README", "readme"};
    static const char *const ends[] = {"html", "md", "rst"};
    enum { ENDS = sizeof ends / sizeof *ends, ALL = ENDS * sizeof names / sizeof *names };
    uint32_t page = NAME_MAP_NONE;

    for (size_t i = 0; i < ALL && page == NAME_MAP_NONE; i++) {
        char name[32];

        snprintf(name, sizeof name, "%s.%s", names[i / ENDS], ends[i % ENDS]);
        char *path = check_join(dir, name);

        if (look_at(c, path) == IS_FILE)
            page = check_read_extra(c, path);
        free(path);
    }
    return page;
}

/* Fragments of lines, "L10" and "L10-L20", which no document names. */
static bool
is_line(const char *f)
{
    if (*f++ != 'L')
        return false;
    size_t n = strspn(f, "0123456789");
    if (n == 0)
        return false;
    f += n;
    if (*f == '\0')
        return true;
    f += *f == '-';
    f += *f == 'L';
    n = strspn(f, "0123456789");
    return n > 0 && f[n] == '\0';
}

/* Says why the fragment is missing: generated anchors are in lower case. */
static void
blame_fragment(const check_anchors *a, check_link *l)
{
    char *lower = lower_copy(l->fragment);

    if (check_has_anchor(a, lower)) {
        char why[200];

        snprintf(why, sizeof why, "wrong case: it is '#%.150s'", show(lower).text);
        set_why(l, why);
    } else {
        set_why(l, "no such fragment");
    }
    free(lower);
}

/* GitHub gives the ids of a Markdown document a prefix, and links may name it. */
static bool
has_anchor(const check_page *page, const char *fragment)
{
    static const char prefix[] = "user-content-";
    const size_t n = sizeof prefix - 1;
    seine_document_kind form;

    if (check_has_anchor(&page->anchors, fragment))
        return true;
    return strncmp(fragment, prefix, n) == 0 && fragment[n] &&
           seine_document_kind_of(page->name, &form) && form == SEINE_DOCUMENT_MARKDOWN &&
           check_has_anchor(&page->anchors, fragment + n);
}

static void
judge_fragment(check *c, check_link *l, uint32_t what)
{
    seine_document_kind form;
    uint32_t page = NAME_MAP_NONE;
    bool is_script = strchr(":/!", l->fragment[0]) != NULL;

    l->found = FRAGMENT_UNCHECKED;
    if (options_given(c->args, "fragments") && !c->set->fragments)
        return;
    if (is_script || (strchr(l->value, '?') && is_line(l->fragment)))
        return;
    if (what == IS_DIRECTORY)
        page = index_of(c, l->path);
    else if (seine_document_kind_of(l->path, &form) && form != SEINE_DOCUMENT_TEXT)
        page = check_read_extra(c, l->path);
    else if (strcmp(l->path, c->pages[l->page].name) == 0)
        page = l->page;
    if (page == NAME_MAP_NONE)
        return;
    bool found = has_anchor(&c->pages[page], l->fragment);
    if (!found && !c->pages[page].anchors.is_known)
        return; /* it has more anchors than are kept */
    l->found = found ? FRAGMENT_OK : FRAGMENT_MISSING;
    if (!found)
        blame_fragment(&c->pages[page].anchors, l);
}

static bool
let_through(const seine_filter *f, const char *text)
{
    return seine_filter_passes(f, text, strlen(text));
}

/* --include and --exclude look at the link as it is written and at the file's path. */
static bool
passes(const check *c, const check_link *l)
{
    if (c->exclude &&
        (!let_through(c->exclude, l->value) || !let_through(c->exclude, l->path)))
        return false;
    return !c->include || let_through(c->include, l->value) ||
           let_through(c->include, l->path);
}

static void
judge_file(check *c, check_link *l)
{
    char why[200];

    l->is_judged = true;
    l->verdict = SEINE_LINK_OK;
    if (!passes(c, l)) {
        l->verdict = SEINE_LINK_EXCLUDED;
        l->why = xalloc_copy("pattern", 7);
        return;
    }
    if (l->is_role) {
        check_judge_role(c, l);
        return;
    }
    bool is_page = name_map_get(&c->files, l->path) != NAME_MAP_NONE;
    uint32_t what = is_page ? IS_FILE : look_at(c, l->path);
    if (what == IS_MISSING) {
        if (!find_other_case(c, l->path, why, sizeof why))
            snprintf(why, sizeof why, "no such file");
        l->found = l->fragment && *l->fragment ? FRAGMENT_UNCHECKED : FRAGMENT_NONE;
        set_why(l, why);
    } else if (l->fragment && *l->fragment) {
        judge_fragment(c, l, what);
    }
}

void
check_judge_local(check *c)
{
    for (size_t i = 0; i < c->n_links; i++)
        if (!c->links[i].is_judged && c->links[i].path)
            judge_file(c, &c->links[i]);
}
