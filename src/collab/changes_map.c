/* SPDX-License-Identifier: Apache-2.0 */
/* One change set, rewritten so that it fits behind another one. Both are walked at once.
 * Of two changes that begin at one place the one with fewer old units goes first, and of
 * equal ones the one that the caller says. A text is placed once, also when the other set
 * cuts the units that it replaces. */
#include "collab/changes.h"

typedef struct walk {
    const seine_changes *set;
    size_t i; /* section */
    const sn_section *at;
    uint64_t left;  /* units of the section */
    bool is_fresh;  /* nothing of it is walked over */
    bool is_placed; /* its text is written */
} walk;

static void
enter(walk *w)
{
    w->at = w->i < sn_changes_count(w->set) ? sn_changes_section(w->set, w->i) : NULL;
    w->left = w->at ? w->at->units : 0;
    w->is_fresh = true;
    w->is_placed = false;
}

static walk
begin(const seine_changes *set)
{
    walk w = {.set = set};

    enter(&w);
    return w;
}

/* Walks over units of the section; over its last, to the next section. */
static void
advance(walk *w, uint64_t units)
{
    if (!w->at)
        return;
    if (units < w->left) {
        w->left -= units;
        w->is_fresh = false;
        return;
    }
    w->i++;
    enter(w);
}

static bool
keeps(const walk *w)
{
    return w->at && w->at->is_kept;
}

static bool
changes(const walk *w)
{
    return w->at && !w->at->is_kept;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static seine_err
put_kept(seine_changes *out, uint64_t units)
{
    return sn_changes_add(out, true, units, true, (sn_str){0}, 0);
}

/* Writes that so many units are replaced by the text, unless it stands there already. */
static seine_err
put_change(seine_changes *out, walk *a, uint64_t units)
{
    bool again = a->is_placed;

    a->is_placed = true;
    return sn_changes_add(out, true, units, false,
                          again ? (sn_str){0} : sn_changes_text(a->set, a->at),
                          again ? 0 : a->at->text_units);
}

static bool
goes_first(const walk *b, const walk *a, bool before)
{
    if (!changes(b))
        return false;
    if (!changes(a) || a->is_placed)
        return true;
    return a->is_fresh && (b->left < a->left || (b->left == a->left && !before));
}

/* What b writes is kept; what it takes away is not there any more for a. */
static seine_err
pass_change(seine_changes *out, walk *a, walk *b)
{
    uint64_t left = b->left;
    seine_err e = put_kept(out, b->at->text_units);

    while (left > 0 && e == SEINE_OK) {
        uint64_t units = smaller(a->left, left);

        if (!a->at)
            return SEINE_E_RANGE;
        if (changes(a) && !a->is_placed && a->left <= units)
            e = put_change(out, a, 0);
        advance(a, units);
        left -= units;
    }
    advance(b, b->left);
    return e;
}

/* A change of a, up to where b writes something. */
static seine_err
write_change(seine_changes *out, walk *a, walk *b)
{
    uint64_t left = a->left, there = 0;

    while (left > 0) {
        if (keeps(b)) {
            uint64_t units = smaller(left, b->left);

            there += units;
            left -= units;
            advance(b, units);
        } else if (changes(b) && b->at->len == 0 && b->left < left) {
            left -= b->left;
            advance(b, b->left);
        } else {
            break;
        }
    }
    if (!a->at || (left > 0 && !b->at))
        return SEINE_E_RANGE;
    seine_err e = put_change(out, a, there);
    advance(a, a->left - left);
    return e;
}

static seine_err
step(seine_changes *out, walk *a, walk *b, bool before)
{
    if (keeps(a) && keeps(b)) {
        uint64_t units = smaller(a->left, b->left);
        seine_err e = put_kept(out, units);

        advance(a, units);
        advance(b, units);
        return e;
    }
    return goes_first(b, a, before) ? pass_change(out, a, b) : write_change(out, a, b);
}

seine_err
seine_changes_map(const seine_changes *a, const seine_changes *b, bool before,
                  seine_changes *out)
{
    if (!a || !b || !out || out == a || out == b)
        return SEINE_E_INVAL;
    seine_changes_clear(out);
    if (a->from != b->from)
        return SEINE_E_RANGE;
    walk x = begin(a), y = begin(b);
    seine_err e = SEINE_OK;
    while (e == SEINE_OK && (x.at || y.at))
        e = step(out, &x, &y, before);
    if (e != SEINE_OK)
        seine_changes_clear(out);
    return e;
}
