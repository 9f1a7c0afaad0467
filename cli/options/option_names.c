/* SPDX-License-Identifier: Apache-2.0 */
#include "options/option_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/say.h"
#include "screen/xalloc.h"

typedef struct list {
    seine_diag_name *all;
    size_t n, cap;
} list;

static void
add_name(list *l, const char *member, size_t len, const char *name)
{
    char flag[96];
    int n = snprintf(flag, sizeof flag, "--%s", name);

    l->all = xalloc_room(l->all, l->n + 1, &l->cap, sizeof *l->all);
    l->all[l->n++] =
        (seine_diag_name){xalloc_copy(member, len), xalloc_copy(flag, (size_t)n)};
    l->all[l->n] = (seine_diag_name){NULL, NULL};
}

/* "speed_bytes|speed_span" */
static void
add_named(list *l, const option *o)
{
    for (const char *at = o->member; at;) {
        size_t n = strcspn(at, "|");

        add_name(l, at, n, o->name);
        at = at[n] ? at + n + 1 : NULL;
    }
}

static void
add_same(list *l, const option *o)
{
    char member[96];
    size_t n = strlen(o->name);

    snprintf(member, sizeof member, "%s", o->name);
    for (char *c = member; *c; c++)
        if (*c == '-')
            *c = '_';
    add_name(l, member, n < sizeof member ? n : sizeof member - 1, o->name);
}

seine_diag_name *
option_names_new(const command *c)
{
    list l = {NULL, 0, 0};

    for (const option *o = c->options; o && o->name; o++)
        if (o->member)
            add_named(&l, o);
    for (const option *o = c->options; o && o->name; o++)
        add_same(&l, o);
    return l.all;
}

void
option_names_free(seine_diag_name *names)
{
    for (seine_diag_name *n = names; n && n->member; n++) {
        free((char *)n->member);
        free((char *)n->shown);
    }
    free(names);
}

int
option_names_fail(const seine_diag_name *names, int code, const char *hint,
                  const seine_diag *diag, seine_err e)
{
    char line[SEINE_DIAG_ROOM];

    seine_diag_print(diag, names, line, sizeof line);
    return say_fail(code, hint, "%s", line[0] ? line : seine_err_text(e));
}
