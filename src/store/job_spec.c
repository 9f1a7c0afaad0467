/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_spec.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "seine/plumbing.h"

typedef struct comparison {
    const seine_json *other;
    const char *const *free_ones; /* NULL: none */
    char *differs;                /* of SEINE_DIAG_MEMBER bytes; "": nothing */
    seine_err err;
} comparison;

/* Both as text: the writer has one form for equal values of members in equal order. */
static bool
is_equal(const seine_json *a, const seine_json *b, seine_err *out_err)
{
    seine_text x = {NULL, 0}, y = {NULL, 0};
    seine_err e = seine_json_print(a, &x);

    if (e == SEINE_OK)
        e = seine_json_print(b, &y);
    bool same = e == SEINE_OK && x.len == y.len && memcmp(x.bytes, y.bytes, x.len) == 0;
    seine_text_free(&x);
    seine_text_free(&y);
    if (e != SEINE_OK)
        *out_err = e;
    return same;
}

static bool
is_free(const comparison *c, const char *name)
{
    for (const char *const *one = c->free_ones; one && *one; one++)
        if (strcmp(*one, name) == 0)
            return true;
    return false;
}

static bool
compare_member(const char *name, const seine_json *value, void *arg)
{
    comparison *c = arg;
    const seine_json *other = seine_json_get(c->other, name);

    if (is_free(c, name) || (other && is_equal(value, other, &c->err)))
        return true;
    snprintf(c->differs, SEINE_DIAG_MEMBER, "%s", name);
    return false;
}

static seine_err
parse(const char *text, seine_json **out_json)
{
    seine_json_fault fault;

    return seine_json_parse(text, strlen(text), out_json, &fault);
}

/* Each member of one is in the other, and the other way round. */
static seine_err
compare(const seine_json *was, const seine_json *is, const char *const *free_ones,
        char differs[SEINE_DIAG_MEMBER])
{
    comparison c = {is, free_ones, differs, SEINE_OK};

    if (seine_json_each(was, compare_member, &c)) {
        c.other = was;
        (void)seine_json_each(is, compare_member, &c);
    }
    return c.err;
}

seine_err
sn_job_spec_check(const char *was, const char *is, const char *const *free_ones,
                  seine_diag *diag)
{
    char differs[SEINE_DIAG_MEMBER] = "";
    seine_json *a = NULL, *b = NULL;

    if (strcmp(was, is) == 0)
        return SEINE_OK;
    seine_err e = parse(was, &a);
    if (e == SEINE_OK)
        e = parse(is, &b);
    if (e == SEINE_OK)
        e = compare(a, b, free_ones, differs);
    seine_json_free(a);
    seine_json_free(b);
    if (e == SEINE_E_NOMEM || (e == SEINE_OK && differs[0] == '\0'))
        return e;
    if (differs[0] == '\0')
        snprintf(differs, sizeof differs, "spec");
    return sn_diag_option(diag, differs, "the job was started with another value");
}
