/* SPDX-License-Identifier: Apache-2.0 */
/* Text and the end of the page, by the rules of each mode. */
#include <string.h>

#include "text/tree_build.h"

/* Text that is not yet inserted, within the tree's text. */
typedef struct run {
    uint32_t at, len;
} run;

static const char *
bytes(const sn_build *b, run r)
{
    return b->tree->text.ptr + r.at;
}

static uint32_t
blanks(const sn_build *b, run r)
{
    const char *p = bytes(b, r);
    uint32_t n = 0;

    while (n < r.len && sn_is_space(p[n]))
        n++;
    return n;
}

/* Removes leading blanks, and inserts them if `keep`. */
static run
skip_blanks(sn_build *b, run r, bool keep)
{
    uint32_t n = blanks(b, r);

    if (keep)
        sn_build_put_text(b, r.at, n);
    return (run){r.at + n, r.len - n};
}

/* Inserts the blanks alone. */
static void
put_blanks(sn_build *b, run r)
{
    char *p = b->tree->text.ptr + r.at;
    uint32_t n = 0;

    for (uint32_t i = 0; i < r.len; i++)
        if (sn_is_space(p[i]))
            p[n++] = p[i];
    sn_build_put_text(b, r.at, n);
}

static void
body_text(sn_build *b, run r)
{
    sn_build_reopen(b);
    sn_build_put_text(b, r.at, r.len);
    if (b->frameset_ok && blanks(b, r) < r.len)
        b->frameset_ok = false;
}

static bool
in_table_part(sn_build *b)
{
    return sn_build_at(b, EL_TABLE) || sn_build_at(b, EL_TBODY) ||
           sn_build_at(b, EL_TEMPLATE) || sn_build_at(b, EL_TFOOT) ||
           sn_build_at(b, EL_THEAD) || sn_build_at(b, EL_TR);
}

static void
table_text(sn_build *b, run r)
{
    if (in_table_part(b) && blanks(b, r) == r.len) {
        sn_build_put_text(b, r.at, r.len);
        return;
    }
    b->foster = true;
    body_text(b, r);
    b->foster = false;
}

/* The modes before a body: text opens what is missing, one element at a time. */
static run
head_text(sn_build *b, run r)
{
    r = skip_blanks(b, r, b->mode >= MODE_IN_HEAD);
    if (r.len == 0)
        return r;
    switch ((sn_tree_mode)b->mode) {
    case MODE_INITIAL:
        b->tree->quirks = true;
        b->mode = MODE_BEFORE_HTML;
        break;
    case MODE_BEFORE_HTML:
        sn_build_html(b);
        break;
    case MODE_BEFORE_HEAD:
        b->head = sn_build_implied(b, EL_HEAD);
        b->mode = MODE_IN_HEAD;
        break;
    case MODE_IN_HEAD:
        sn_build_pop(b);
        b->mode = MODE_AFTER_HEAD;
        break;
    case MODE_IN_NOSCRIPT:
        sn_build_pop(b);
        b->mode = MODE_IN_HEAD;
        break;
    default:
        sn_build_implied(b, EL_BODY);
        b->mode = MODE_IN_BODY;
        break;
    }
    return r;
}

static run
colgroup_text(sn_build *b, run r)
{
    if (!sn_build_at(b, EL_COLGROUP)) {
        put_blanks(b, r);
        return (run){0, 0};
    }
    r = skip_blanks(b, r, true);
    if (r.len > 0) {
        sn_build_pop(b);
        b->mode = MODE_IN_TABLE;
    }
    return r;
}

static run
after_text(sn_build *b, run r)
{
    if (blanks(b, r) == r.len) {
        body_text(b, r);
        return (run){0, 0};
    }
    b->mode = MODE_IN_BODY;
    return r;
}

/* One turn; returns what is left for the mode that is then current. */
static run
text_turn(sn_build *b, run r)
{
    switch ((sn_tree_mode)b->mode) {
    case MODE_INITIAL:
    case MODE_BEFORE_HTML:
    case MODE_BEFORE_HEAD:
    case MODE_IN_HEAD:
    case MODE_IN_NOSCRIPT:
    case MODE_AFTER_HEAD:
        return head_text(b, r);
    case MODE_TEXT:
        sn_build_put_text(b, r.at, r.len);
        break;
    case MODE_IN_TABLE:
    case MODE_IN_TBODY:
    case MODE_IN_ROW:
        table_text(b, r);
        break;
    case MODE_IN_COLGROUP:
        return colgroup_text(b, r);
    case MODE_AFTER_BODY:
    case MODE_AFTER_AFTER_BODY:
        return after_text(b, r);
    case MODE_IN_FRAMESET:
    case MODE_AFTER_FRAMESET:
    case MODE_AFTER_AFTER_FRAMESET:
        put_blanks(b, r);
        break;
    default:
        body_text(b, r);
        break;
    }
    return (run){0, 0};
}

static void
foreign_text(sn_build *b, run r)
{
    sn_build_put_text(b, r.at, r.len);
    if (!b->has_nul_alone && blanks(b, r) < r.len)
        b->frameset_ok = false;
}

void
sn_build_flush(sn_build *b)
{
    if (!b->has_text)
        return;
    b->has_text = false;
    if (sn_buf_done(&b->tree->text) != SEINE_OK) {
        sn_build_fail(b, SEINE_E_NOMEM);
        return;
    }
    run r = {b->pending, b->pending_len};
    if (b->skip_lf && r.len > 0 && *bytes(b, r) == '\n')
        r = (run){r.at + 1, r.len - 1};
    b->skip_lf = false;
    if (sn_build_is_foreign_text(b)) {
        foreign_text(b, r);
        return;
    }
    while (r.len > 0 && b->err == SEINE_OK)
        r = text_turn(b, r);
}

/* The page ends inside of a template: closes it. True if the end must be looked at
 * again. */
static bool
end_template(sn_build *b)
{
    if (b->open[EL_TEMPLATE] == 0)
        return false;
    sn_build_pop_el(b, EL_TEMPLATE);
    sn_build_clear_formats(b);
    b->templates--;
    sn_build_reset_mode(b);
    return true;
}

static bool
end_turn(sn_build *b)
{
    switch ((sn_tree_mode)b->mode) {
    case MODE_INITIAL:
        b->tree->quirks = true;
        b->mode = MODE_BEFORE_HTML;
        return true;
    case MODE_BEFORE_HTML:
        sn_build_html(b);
        return true;
    case MODE_BEFORE_HEAD:
        b->head = sn_build_implied(b, EL_HEAD);
        b->mode = MODE_IN_HEAD;
        return true;
    case MODE_IN_HEAD:
        sn_build_pop(b);
        b->mode = MODE_AFTER_HEAD;
        return true;
    case MODE_IN_NOSCRIPT:
        sn_build_pop(b);
        b->mode = MODE_IN_HEAD;
        return true;
    case MODE_AFTER_HEAD:
        sn_build_implied(b, EL_BODY);
        b->mode = MODE_IN_BODY;
        return true;
    case MODE_TEXT:
        sn_build_pop(b);
        b->mode = b->original;
        return true;
    case MODE_IN_COLGROUP:
        if (!sn_build_at(b, EL_COLGROUP))
            return b->templates > 0 && end_template(b);
        sn_build_pop(b);
        b->mode = MODE_IN_TABLE;
        return true;
    case MODE_AFTER_BODY:
    case MODE_IN_FRAMESET:
    case MODE_AFTER_FRAMESET:
    case MODE_AFTER_AFTER_BODY:
    case MODE_AFTER_AFTER_FRAMESET:
        return false;
    default:
        return b->templates > 0 && end_template(b);
    }
}

void
sn_build_flush_end(sn_build *b)
{
    while (b->err == SEINE_OK && end_turn(b))
        continue;
}
