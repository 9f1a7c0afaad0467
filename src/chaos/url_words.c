/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/url_words.h"

#include <string.h>

#include "chaos/arg.h"

#define DEEPEST 4 /* nesting of words that stand for words */

const char *
snc_plan_field(snc_plan *p, sn_str name, sn_str value)
{
    if (p->line_count == SNC_PLAN_LINES)
        return "more than 32 fields";
    p->lines[p->line_count++] = (snc_plan_line){name, value};
    return NULL;
}

static const snc_url_word *
find_word(const snc_url_word *table, sn_str name)
{
    for (; table->name; table++)
        if (sn_str_eq(sn_str_of(table->name), name))
            return table;
    return NULL;
}

static const snc_url_word *
look_up(sn_str name)
{
    const snc_url_word *word = find_word(snc_url_words_served, name);

    if (!word)
        word = find_word(snc_url_words_coded, name);
    return word ? word : find_word(snc_url_words_sent, name);
}

bool
snc_url_words_known(sn_str name)
{
    return look_up(name);
}

static bool
wrong(snc_wrong *out, sn_str segment, const char *why)
{
    *out = (snc_wrong){segment, why};
    return false;
}

/* Splits into up to `max` arguments; the last one has the rest. */
static unsigned
split(sn_str text, unsigned max, sn_str arg[2], sn_arena *arena)
{
    unsigned n = 0;

    for (bool more = true; more && n < max; n++) {
        arg[n] = text;
        more = n + 1 < max && sn_str_cut(text, ':', &arg[n], &text);
        arg[n] = snc_arg_decode(arg[n], arena);
    }
    return n;
}

static bool apply_all(sn_str path, const snc_scene *s, snc_plan *p, int depth,
                      snc_wrong *out_wrong);

static bool
apply_added(const snc_added *added, const snc_scene *s, snc_plan *p, int depth,
            snc_wrong *out_wrong)
{
    if (depth >= DEEPEST)
        return wrong(out_wrong, added->name, "stands for itself");
    if (!apply_all(added->words, s, p, depth + 1, out_wrong))
        return false;
    if (added->bytes.ptr) {
        p->final = SNC_FINAL_RAW;
        p->has_final = true;
        p->raw = added->bytes;
    }
    return true;
}

static bool
apply_one(sn_str segment, const snc_scene *s, const snc_spot *at, snc_plan *p, int depth,
          snc_wrong *out_wrong)
{
    sn_str name, text, arg[2] = {{NULL, 0}, {NULL, 0}};
    bool has_args = sn_str_cut(segment, ':', &name, &text);
    const snc_added *added = s->added ? sn_map_get(s->added, name) : NULL;
    const snc_url_word *word = look_up(name);

    if (added)
        return apply_added(added, s, p, depth, out_wrong);
    if (!word)
        return wrong(out_wrong, segment, "no such word");
    if (p->has_final && (p->final != SNC_FINAL_STATUS || !word->final))
        return wrong(out_wrong, segment, "stands behind the last word");
    if (has_args && word->max == 0)
        return wrong(out_wrong, segment, "takes no argument");
    unsigned n = has_args ? split(text, word->max, arg, s->arena) : 0;
    if (n < word->min)
        return wrong(out_wrong, segment, "lacks an argument");
    const char *why = word->apply(p, arg, s, at);
    if (why)
        return wrong(out_wrong, segment, why);
    p->has_final |= word->final;
    p->stop |= word->takes_rest;
    return true;
}

bool
snc_url_words_one(sn_str segment, const snc_scene *s, const snc_spot *at, snc_plan *p,
                  snc_wrong *out_wrong)
{
    return apply_one(segment, s, at, p, 0, out_wrong);
}

static bool
apply_all(sn_str path, const snc_scene *s, snc_plan *p, int depth, snc_wrong *out_wrong)
{
    size_t from = path.len > 0 && path.ptr[0] == '/';

    while (from < path.len && !p->stop) {
        size_t end = from + sn_str_find(sn_str_slice(path, from, path.len), '/');
        snc_spot at = {sn_str_slice(path, 0, from > 0 ? from - 1 : 0),
                       sn_str_slice(path, end, path.len), sn_str_slice(path, from, end)};

        if (!apply_one(at.segment, s, &at, p, depth, out_wrong))
            return false;
        from = end + 1;
    }
    if (!p->has_final && p->has_content)
        p->final = SNC_FINAL_HTML;
    return true;
}

bool
snc_url_words_apply(sn_str path, const snc_scene *s, snc_plan *p, snc_wrong *out_wrong)
{
    return apply_all(path, s, p, 0, out_wrong);
}

bool
snc_url_words_hold(sn_str path, sn_str name)
{
    sn_str segment, word, args;

    while (sn_str_next(&path, '/', &segment)) {
        sn_str_cut(segment, ':', &word, &args);
        if (sn_str_eq(word, name))
            return true;
    }
    return false;
}

static void
help_of(const snc_url_word *table, sn_buf *out)
{
    const char *group = "";

    for (; table->name; table++) {
        if (strcmp(group, table->group) != 0)
            sn_buf_printf(out, "%s:\n", table->group);
        group = table->group;

        size_t from = out->len;
        sn_buf_printf(out, "  %s%s%s", table->name, table->args[0] ? ":" : "",
                      table->args);
        while (out->err == SEINE_OK && out->len - from < 24)
            sn_buf_char(out, ' ');
        sn_buf_printf(out, " %s\n", table->help);
    }
}

void
snc_url_words_help(sn_buf *out)
{
    sn_buf_text(out, "A path is words, applied from left to right: "
                     "/delay:100ms/reset:1000/bytes:5000\n\n");
    help_of(snc_url_words_served, out);
    help_of(snc_url_words_coded, out);
    help_of(snc_url_words_sent, out);
    sn_buf_text(
        out,
        "flow (query, counted per key=, default host and path):\n"
        "  fail=2 with=status:503   hits 1 and 2 get `with`, later ones the path\n"
        "  pattern=5ok5fail         cyclic\n"
        "  seq=status:500,reset:0,ok  hit n gets element n, the last repeats; ok: the "
        "path\n"
        "  rate=10 retry_after=2    429 above 10 per second, with this Retry-After\n"
        "  p=0.1                    fails with this probability\n"
        "  max=4                    503 when more than 4 are in flight\n"
        "witness:\n"
        "  /_chaos/report /_chaos/log /_chaos/reset /_chaos/secret /_chaos/script\n");
}
