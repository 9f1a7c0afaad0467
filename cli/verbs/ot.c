/* SPDX-License-Identifier: Apache-2.0 */
/* Change sets of two people, for who tries them with other programs' cases: operations
 * in the form of ot.js, a number that keeps, a negative one that deletes, a string that
 * is inserted. */
#include <string.h>

#include <seine/changes.h>
#include <seine/plumbing.h>

#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    bool jsonl;
} settings;

static int run_ot_transform(const args *a);

/* clang-format off */
static const option options[] = {
    {"jsonl", NULL, KIND_FLAG, .at = offsetof(settings, jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `doc` (text), `a` and `b` (operations on it, as arrays: a number above 0 keeps, one below deletes, a string is "
             "inserted; units of UTF-16). Out: `a_prime` fits behind `b`, `b_prime` behind `a`, `converged` is the text that both make. "
             "`id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."},
    {.name = NULL},
};

static const example examples[] = {
    {"printf '{\"doc\":\"ab\",\"a\":[1,\"X\",1],\"b\":[1,\"Y\",1]}' | seine ot transform --jsonl", "Two people insert at one place; a stands first:"},
    {NULL, NULL},
};

const command cmd_ot_transform = {
    .name = "ot transform",
    .is_small = true,
    .arguments = "",
    .about = "fit two changes of one text behind each other",
    .text = "Two people change one text at once. What one of them did is rewritten so that it fits behind what the other did, and both arrive "
            "at the same text. Where both insert at one place, `a` stands first.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = 0,
    .run = run_ot_transform,
};
/* clang-format on */

/* The sets and texts of a case. */
typedef struct meeting {
    seine_changes *a, *b, *a_prime, *b_prime;
    seine_text with_a, converged;
} meeting;

static void
end_meeting(meeting *m)
{
    seine_changes_free(m->a);
    seine_changes_free(m->b);
    seine_changes_free(m->a_prime);
    seine_changes_free(m->b_prime);
    seine_text_free(&m->with_a);
    seine_text_free(&m->converged);
}

static seine_changes *
new_set(void)
{
    seine_changes *c = NULL;

    if (seine_changes_new(&c) != SEINE_OK)
        (void)xalloc_json(NULL); /* ends the program */
    return c;
}

static seine_err
read_operation(seine_changes *c, const seine_json *json)
{
    const char *text;
    size_t len;
    int64_t n;

    if (seine_json_string(json, &text, &len))
        return seine_changes_replace(c, 0, text, len);
    if (!seine_json_int(json, &n) || n == INT64_MIN)
        return SEINE_E_INVAL;
    return n > 0 ? seine_changes_keep(c, (uint64_t)n)
                 : seine_changes_replace(c, (uint64_t)-n, "", 0);
}

static bool
read_operations(const seine_json *in, const char *name, seine_changes *c, reason *why)
{
    const seine_json *all = jsonl_array(in, name, why);

    for (size_t i = 0; all && i < seine_json_size(all); i++)
        if (read_operation(c, seine_json_at(all, i)) != SEINE_OK)
            return reason_set(why, "%s[%zu]: not a number or a text, or nothing", name,
                              i);
    return all != NULL;
}

/* Adds the section; an insertion behind a deletion goes in front of it, as in ot.js. */
static void
add_operation(seine_json *to, const seine_section *s, const seine_section *deleted)
{
    if (s->is_kept)
        jsonl_add(to, seine_json_new_int((int64_t)s->units));
    if (!s->is_kept && s->text.len > 0)
        jsonl_add(to, seine_json_new_string(s->text.ptr, s->text.len));
    uint64_t gone = deleted->units + (s->is_kept ? 0 : s->units);
    if (!s->is_kept && gone > 0)
        jsonl_add(to, seine_json_new_int(-(int64_t)gone));
}

static bool
is_deletion(const seine_section *s)
{
    return !s->is_kept && s->text.len == 0;
}

static seine_json *
operations_of(const seine_changes *c)
{
    seine_json *all = xalloc_json(seine_json_new_array());
    seine_section s, next;

    for (size_t i = 0; seine_changes_at(c, i, &s); i++) {
        seine_section deleted = {.units = 0};

        if (is_deletion(&s) && seine_changes_at(c, i + 1, &next) && !next.is_kept) {
            deleted = s;
            s = next;
            i++;
        }
        add_operation(all, &s, &deleted);
    }
    return all;
}

static bool
meet(meeting *m, const char *doc, reason *why)
{
    if (!doc)
        return reason_set(why, "no member 'doc'");
    seine_err e = seine_changes_apply(m->a, doc, strlen(doc), &m->with_a);
    if (e != SEINE_OK)
        return reason_set(why, "a: does not fit the text: %s", seine_err_name(e));
    e = seine_changes_map(m->a, m->b, true, m->a_prime);
    if (e == SEINE_OK)
        e = seine_changes_map(m->b, m->a, false, m->b_prime);
    if (e == SEINE_OK)
        e = seine_changes_apply(m->b_prime, m->with_a.bytes, m->with_a.len,
                                &m->converged);
    if (e != SEINE_OK)
        return reason_set(why, "b: does not fit the text: %s", seine_err_name(e));
    return true;
}

static bool
one_case(const seine_json *in, seine_json *out, reason *why)
{
    meeting m = {new_set(), new_set(), new_set(), new_set(), {0}, {0}};
    const char *doc = NULL;
    bool good =
        jsonl_known(in, "id doc a b after_a after_b a_prime b_prime converged", why) &&
        jsonl_text(in, "doc", &doc, why);

    good = good && read_operations(in, "a", m.a, why) &&
           read_operations(in, "b", m.b, why) && meet(&m, doc, why);
    if (good) {
        jsonl_set(out, "a_prime", operations_of(m.a_prime));
        jsonl_set(out, "b_prime", operations_of(m.b_prime));
        jsonl_set(out, "converged",
                  seine_json_new_string(m.converged.bytes, m.converged.len));
    }
    end_meeting(&m);
    return good;
}

static int
run_ot_transform(const args *a)
{
    const settings *set = a->settings;

    if (!set->jsonl)
        return say_fail(SAY_USAGE, "seine ot transform --jsonl <cases.jsonl",
                        "ot transform reads cases from standard input");
    return jsonl_run(NULL, one_case);
}
