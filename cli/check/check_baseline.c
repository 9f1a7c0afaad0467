/* SPDX-License-Identifier: Apache-2.0 */
/* The baseline: JSON lines of an earlier run, whose bad links do not fail this one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/plumbing.h>

#include "check/check.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/lines.h"

struct check_baseline {
    char **names, **since; /* "source\ntarget", and since when */
    size_t n, cap_names, cap_since;
    name_map map;
};

typedef struct check_baseline known;

static char *
name_of(const char *source, const char *target)
{
    size_t n = strlen(source) + strlen(target) + 2;
    char *name = xalloc_zeroed(1, n);

    snprintf(name, n, "%s\n%s", source, target);
    return name;
}

static const char *
text_of(const seine_json *r, const char *member)
{
    const char *text = NULL;
    size_t n;

    return seine_json_string(seine_json_get(r, member), &text, &n) ? text : NULL;
}

/* Keeps the link of a line if it was bad. False: the line is no record. */
static bool
keep_line(known *k, const char *line, size_t len)
{
    seine_json *r = NULL;

    if (seine_json_parse(line, len, &r, NULL) != SEINE_OK)
        return false;
    const char *type = text_of(r, "type"), *verdict = text_of(r, "verdict");
    const char *source = text_of(r, "source"), *target = text_of(r, "target");
    const char *since = text_of(r, "since") ? text_of(r, "since") : text_of(r, "ts");
    bool is_link = type && strcmp(type, "link") == 0;
    bool fine = type && (!is_link || (verdict && source && target));
    if (fine && is_link && strcmp(verdict, "ok") != 0 &&
        strcmp(verdict, "redirected") != 0 && strcmp(verdict, "excluded") != 0) {
        k->names = xalloc_room(k->names, k->n, &k->cap_names, sizeof *k->names);
        k->since = xalloc_room(k->since, k->n, &k->cap_since, sizeof *k->since);
        k->names[k->n] = name_of(source, target);
        k->since[k->n] = xalloc_copy(since ? since : "", since ? strlen(since) : 0);
        name_map_set(&k->map, k->names[k->n], (uint32_t)k->n);
        k->n++;
    }
    seine_json_free(r);
    return fine;
}

static int
load(known *k, const char *path)
{
    lines in = {0};
    int code = lines_open(&in, path);
    lines_got got = LINES_END;

    while (code == SAY_DONE && (got = lines_next(&in)) == LINES_ONE)
        if (in.len > 0 && !keep_line(k, in.text, in.len))
            code = say_fail(SAY_USAGE, "seine check … -f jsonl > FILE makes one",
                            "--baseline: line %llu of '%s' is no record of seine check",
                            (unsigned long long)in.number, show(path).text);
    lines_close(&in);
    return code == SAY_DONE && got == LINES_FAILED ? SAY_MACHINE : code;
}

/* Marks the bad links that the baseline has, by document and target: lines move. */
void
check_baseline_mark(check *c, const known *b)
{
    for (size_t i = 0; i < c->n_links; i++) {
        check_link *l = &c->links[i];
        check_link plain = *l;

        plain.since = NULL;
        if (!check_is_bad(c, &plain))
            continue;
        char *name = name_of(c->pages[l->page].name, l->value);
        uint32_t n = name_map_get(&b->map, name);

        l->since = n == NAME_MAP_NONE ? NULL : b->since[n];
        c->n_known += l->since != NULL;
        free(name);
    }
}

int
check_baseline_load(check *c, known **out)
{
    known *k = xalloc_zeroed(1, sizeof *k);

    *out = k;
    return c->set->baseline ? load(k, c->set->baseline) : SAY_DONE;
}

void
check_baseline_free(known *b)
{
    for (size_t i = 0; i < b->n; i++) {
        free(b->names[i]);
        free(b->since[i]);
    }
    free(b->names);
    free(b->since);
    name_map_free(&b->map);
    free(b);
}
