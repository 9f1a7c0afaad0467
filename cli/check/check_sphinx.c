/* SPDX-License-Identifier: Apache-2.0 */
/* The roles of Sphinx: :doc: leads to a document without its ending, :ref: to a label of
 * any document of the same project. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "check/check.h"
#include "screen/xalloc.h"

static void
judge(check_link *l, seine_link_verdict verdict, const char *why)
{
    l->verdict = verdict;
    l->why = why ? xalloc_copy(why, strlen(why)) : NULL;
}

static bool
is_file(const char *dir, const char *name)
{
    struct stat st;
    char *path = check_join(dir, name);
    bool is = stat(path, &st) == 0 && S_ISREG(st.st_mode);

    free(path);
    return is;
}

/* The directory above `dir`, or NULL; it stays below the working directory. */
static char *
parent_of(const char *dir)
{
    const char *slash = strrchr(dir, '/');

    if (strcmp(dir, ".") == 0 || strcmp(dir, "/") == 0 || strcmp(dir, "..") == 0)
        return NULL;
    if (!slash)
        return xalloc_copy(".", 1);
    return xalloc_copy(dir, slash == dir ? 1 : (size_t)(slash - dir));
}

/* The root of the project that a document is in: the nearest directory above it with the
 * configuration of Sphinx, or the one that was given. */
static char *
root_of(const check *c, const char *dir)
{
    char *at = xalloc_copy(dir, strlen(dir));

    while (at && !is_file(at, "conf.py")) {
        char *up = parent_of(at);

        free(at);
        at = up;
    }
    const char *given = c->root ? c->root : dir;
    return at ? at : xalloc_copy(given, strlen(given));
}

/* Whether labels may come from other projects, which only Sphinx can load. */
static bool
has_intersphinx(const char *root)
{
    char *path = check_join(root, "conf.py");
    size_t len = 0;
    char *text = check_read_file(path, &len);
    bool has = text && memmem(text, len, "intersphinx", 11);

    free(path);
    free(text);
    return has;
}

/* Finds out about the project of a directory; documents come by directory, so the last
 * one is remembered. */
static void
look_around(check *c, const char *dir)
{
    check_sphinx *p = &c->sphinx;

    if (p->dir && strcmp(p->dir, dir) == 0)
        return;
    check_sphinx_free(p);
    p->dir = xalloc_copy(dir, strlen(dir));
    p->root = root_of(c, dir);
    p->is_open = has_intersphinx(p->root);
}

void
check_point_at_role(check *c, check_link *l, const char *dir)
{
    look_around(c, dir);
    l->is_role = true;
    if (strcmp(l->tag, "ref") == 0)
        l->path = xalloc_copy(l->value, strlen(l->value));
    else if (l->value[0] == '/')
        l->path = check_join(c->sphinx.root, l->value + 1);
    else
        l->path = check_join(dir, l->value);
    l->is_foreign = !c->pages[l->page].is_listed || c->sphinx.is_open;
}

static void
judge_doc(check_link *l)
{
    static const char *const ends[] = {".rst", ".md", ".txt", ".rest", ".ipynb"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(l->path) + strlen(ends[i]) + 1;
        char *path = xalloc_zeroed(1, n);
        struct stat st;

        snprintf(path, n, "%s%s", l->path, ends[i]);
        bool is = stat(path, &st) == 0 && S_ISREG(st.st_mode);
        if (is) {
            free(l->path);
            l->path = path;
            judge(l, SEINE_LINK_OK, NULL);
            return;
        }
        free(path);
    }
    if (strchr(l->value, ':') || strchr(l->value, '+'))
        judge(l, SEINE_LINK_EXCLUDED, "of another project");
    else
        judge(l, SEINE_LINK_BROKEN, "no such document");
}

/* The label as docutils makes an id of it: "My Label" is "my-label". */
static char *
id_of(const char *label)
{
    char *id = xalloc_zeroed(1, strlen(label) + 1), *to = id;

    for (const char *p = label; *p; p++) {
        char c = *p >= 'A' && *p <= 'Z' ? (char)(*p | 0x20) : *p;

        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80)
            *to++ = c;
        else if (to > id && to[-1] != '-')
            *to++ = '-';
    }
    while (to > id && to[-1] == '-')
        to--;
    *to = '\0';
    return id;
}

/* Whether a document has the label; their anchors are put together once. */
static bool
has_label(check *c, const char *label)
{
    char *id = id_of(label);

    if (!c->labels.is_known)
        check_join_anchors(c, &c->labels);
    bool found = check_has_anchor(&c->labels, label) || check_has_anchor(&c->labels, id);
    free(id);
    return found;
}

static void
judge_ref(check *c, check_link *l)
{
    static const char *const made[] = {"genindex", "modindex", "py-modindex", "search"};

    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (strcmp(l->value, made[i]) == 0) {
            judge(l, SEINE_LINK_OK, NULL);
            return;
        }
    if (has_label(c, l->value))
        judge(l, SEINE_LINK_OK, NULL);
    else if (l->is_foreign || strchr(l->value, ':'))
        judge(l, SEINE_LINK_EXCLUDED, "label of another document");
    else
        judge(l, SEINE_LINK_BROKEN, "no such label");
}

void
check_judge_role(check *c, check_link *l)
{
    if (strcmp(l->tag, "ref") == 0)
        judge_ref(c, l);
    else
        judge_doc(l);
}

void
check_sphinx_free(check_sphinx *p)
{
    free(p->dir);
    free(p->root);
    *p = (check_sphinx){NULL, NULL, false};
}
