/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/collab.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "check.h"

#define T0 SEINE_SECS(1700000000)

typedef struct table {
    seine_collab *c;
    char id[SEINE_COLLAB_ID];
    uint64_t version;
} table;

/* A document with two people, anna and ben. */
static table
set_table(const seine_collab_opts *opts)
{
    seine_collab_opts usual = SEINE_COLLAB_OPTS;
    table t = {.c = NULL};

    CHECK_EQ(seine_collab_new(opts ? opts : &usual, &t.c), SEINE_OK);
    CHECK_EQ(seine_collab_create(t.c, "Notes", T0, t.id), SEINE_OK);
    CHECK_EQ(seine_collab_join(t.c, t.id, "anna", "Anna", T0, &t.version), SEINE_OK);
    CHECK_EQ(seine_collab_join(t.c, t.id, "ben", "Ben", T0, &t.version), SEINE_OK);
    return t;
}

static seine_err
edit(table *t, const char *who, uint64_t seq, uint64_t base, seine_edit one)
{
    one.text_len = one.text ? strlen(one.text) : 0;
    return seine_collab_edit(t->c, t->id, who, seq, base, SEINE_UTF16, &one, 1,
                             T0 + SEINE_SECS(1), &t->version);
}

static seine_err
insert(table *t, const char *who, uint64_t seq, uint64_t base, uint64_t at,
       const char *text)
{
    return edit(t, who, seq, base,
                (seine_edit){SEINE_EDIT_INSERT, .position = at, .text = text});
}

static seine_collab_doc
get(const table *t)
{
    seine_collab_doc d = {0};

    CHECK_EQ(seine_collab_get(t->c, t->id, &d), SEINE_OK);
    return d;
}

static void
check_content(const table *t, const char *want, uint64_t version)
{
    seine_collab_doc d = get(t);

    CHECK_STR(d.content.ptr ? d.content.ptr : "", want);
    CHECK_EQ(d.content.len, strlen(want));
    CHECK_EQ(d.version, version);
}

static uint64_t
cursor_of(const table *t, const char *who)
{
    seine_collaborator p;

    for (size_t i = 0; seine_collab_person(t->c, t->id, i, &p) == SEINE_OK; i++)
        if (strcmp(p.client, who) == 0)
            return p.cursor;
    return UINT64_MAX;
}

TEST(collab_creates_joins_and_inserts)
{
    table t = set_table(NULL);

    check_content(&t, "", 0);
    CHECK_EQ(strlen(t.id), 26);
    CHECK_EQ(insert(&t, "anna", 1, 0, 0, "Hello, World!"), SEINE_OK);
    CHECK_EQ(t.version, 1);
    check_content(&t, "Hello, World!", 1);
    CHECK_EQ(get(&t).last_modified, T0 + SEINE_SECS(1));
    CHECK_EQ(get(&t).units, 13);
    CHECK_STR(get(&t).title, "Notes");
    seine_collab_free(t.c);
}

TEST(collab_edits_of_one_call_stand_on_each_other_in_any_unit)
{
    static const struct {
        seine_unit unit;
        uint64_t smile, after;
    } rows[] = {{SEINE_UTF16, 2, 3}, {SEINE_CODEPOINT, 1, 2}, {SEINE_UTF8, 4, 5}};

    EACH_ROW(i, rows) {
        table t = set_table(NULL);
        seine_edit all[] = {
            {SEINE_EDIT_INSERT, 0, 0, "\U0001f600!", 5},
            {SEINE_EDIT_REPLACE, rows[i].smile, 1, "?", 1},
            {SEINE_EDIT_INSERT, rows[i].after, 0, "é", 2},
            {SEINE_EDIT_DELETE, 0, rows[i].smile, NULL, 0},
        };

        CHECK_EQ(seine_collab_edit(t.c, t.id, "anna", 1, 0, rows[i].unit, all, 4, T0,
                                   &t.version),
                 SEINE_OK);
        check_content(&t, "?é", 4);
        seine_collab_free(t.c);
    }
}

/* Nothing happens: no text, no version, and the next edit is taken. */
TEST(collab_refuses_what_does_not_fit_and_lives)
{
    static const struct {
        seine_edit edit;
        uint64_t seq, base;
        seine_err want;
    } rows[] = {
        {{SEINE_EDIT_INSERT, .position = 2, .text = "x"}, 2, 1, SEINE_E_INVAL}, /* cut */
        {{SEINE_EDIT_INSERT, .position = 9, .text = "x"}, 2, 1, SEINE_E_INVAL},
        {{SEINE_EDIT_DELETE, .position = 1, .length = 1}, 2, 1, SEINE_E_INVAL},
        {{SEINE_EDIT_DELETE, .position = 1, .length = UINT64_MAX}, 2, 1, SEINE_E_INVAL},
        {{SEINE_EDIT_DELETE, .position = UINT64_MAX, .length = 2}, 2, 1, SEINE_E_INVAL},
        {{SEINE_EDIT_DELETE, .position = 1, .length = 0}, 2, 1, SEINE_E_INVAL},
        {{SEINE_EDIT_INSERT, .position = 0, .text = ""}, 2, 1, SEINE_E_INVAL},
        {{SEINE_EDIT_INSERT, .position = 0, .text = "\r"}, 2, 1, SEINE_E_INVAL},
        {{SEINE_EDIT_INSERT, .position = 0, .text = "\xc3"}, 2, 1, SEINE_E_INVAL},
        {{SEINE_EDIT_INSERT, .position = 0, .text = "x"}, 2, 2, SEINE_E_INVAL}, /* base */
        {{SEINE_EDIT_INSERT, .position = 0, .text = "x"}, 3, 1, SEINE_E_INVAL}, /* seq */
        {{SEINE_EDIT_INSERT, .position = 0, .text = "x"}, 0, 1, SEINE_E_INVAL},
    };
    table t = set_table(NULL);

    CHECK_EQ(insert(&t, "anna", 1, 0, 0, "a\U0001f600b"), SEINE_OK);
    EACH_ROW(i, rows) {
        CHECK_EQ(edit(&t, "anna", rows[i].seq, rows[i].base, rows[i].edit), rows[i].want);
        check_content(&t, "a\U0001f600b", 1);
    }
    CHECK_EQ(insert(&t, "anna", 2, 1, 1, "-"), SEINE_OK);
    check_content(&t, "a-\U0001f600b", 2);
    seine_collab_free(t.c);
}

TEST(collab_edits_on_one_base_meet)
{
    table t = set_table(NULL);

    CHECK_EQ(insert(&t, "anna", 1, 0, 0, "one two"), SEINE_OK);
    CHECK_EQ(insert(&t, "anna", 2, 1, 0, "A"), SEINE_OK);
    CHECK_EQ(insert(&t, "ben", 1, 1, 7, "B"), SEINE_OK);
    check_content(&t, "Aone twoB", 3);
    CHECK_EQ(edit(&t, "ben", 2, 1, (seine_edit){SEINE_EDIT_DELETE, 3, 4, NULL, 0}),
             SEINE_E_INVAL); /* its own update came since */
    CHECK_EQ(edit(&t, "ben", 2, 3, (seine_edit){SEINE_EDIT_DELETE, 4, 4, NULL, 0}),
             SEINE_OK);
    check_content(&t, "AoneB", 4);
    seine_collab_free(t.c);
}

TEST(collab_takes_what_is_sent_again_once)
{
    table t = set_table(NULL);
    seine_edit two[] = {{SEINE_EDIT_INSERT, 0, 0, "a", 1},
                        {SEINE_EDIT_INSERT, 1, 0, "b", 1}};

    CHECK_EQ(insert(&t, "anna", 1, 0, 0, "a"), SEINE_OK);
    CHECK_EQ(insert(&t, "ben", 1, 1, 1, "!"), SEINE_OK);
    CHECK_EQ(insert(&t, "anna", 1, 0, 0, "a"), SEINE_OK);
    CHECK_EQ(t.version, 2);
    CHECK_EQ(
        seine_collab_edit(t.c, t.id, "anna", 1, 0, SEINE_UTF16, two, 2, T0, &t.version),
        SEINE_OK);               /* the first is known, the second is new */
    check_content(&t, "a!b", 3); /* ben was heard first */
    seine_collab_free(t.c);
}

TEST(collab_tells_every_update_once_and_by_whom)
{
    table t = set_table(NULL);
    seine_update u;
    seine_text json;

    CHECK_EQ(insert(&t, "anna", 1, 0, 0, "ab"), SEINE_OK);
    CHECK_EQ(insert(&t, "anna", 2, 1, 0, "A"), SEINE_OK);
    CHECK_EQ(insert(&t, "ben", 1, 1, 1, "B"), SEINE_OK);
    CHECK_EQ(seine_collab_update(t.c, t.id, 3, &u), SEINE_OK);
    CHECK_STR(u.client, "ben");
    CHECK_EQ(u.seq, 1);
    CHECK_EQ(seine_changes_print(u.changes, &json), SEINE_OK);
    CHECK_STR(json.bytes, "[2,[0,\"B\"],1]"); /* where it is behind those before */
    seine_text_free(&json);
    CHECK_EQ(seine_collab_update(t.c, t.id, 0, &u), SEINE_E_RANGE);
    CHECK_EQ(seine_collab_update(t.c, t.id, 4, &u), SEINE_E_RANGE);
    seine_collab_free(t.c);
}

TEST(collab_cursors_move_with_their_text)
{
    table t = set_table(NULL);

    CHECK_EQ(insert(&t, "anna", 1, 0, 0, "one two"), SEINE_OK);
    CHECK_EQ(cursor_of(&t, "anna"), 7);
    CHECK_EQ(seine_collab_cursor(t.c, t.id, "ben", 1, 4, T0), SEINE_OK);
    CHECK_EQ(insert(&t, "anna", 2, 1, 0, ">> "), SEINE_OK);
    CHECK_EQ(cursor_of(&t, "ben"), 7);
    CHECK_EQ(insert(&t, "anna", 3, 2, 7, "x"), SEINE_OK); /* where ben's caret is */
    CHECK_EQ(cursor_of(&t, "ben"), 7);
    CHECK_EQ(seine_collab_cursor(t.c, t.id, "ben", 1, 7, T0), SEINE_OK); /* an old base */
    CHECK_EQ(cursor_of(&t, "ben"), 11);
    CHECK_EQ(seine_collab_cursor(t.c, t.id, "ben", 3, 9999, T0), SEINE_OK);
    CHECK_EQ(cursor_of(&t, "ben"), 11);
    CHECK_EQ(seine_collab_cursor(t.c, t.id, "ben", 4, 0, T0), SEINE_E_INVAL);
    seine_collab_free(t.c);
}

TEST(collab_people_come_once_leave_once_and_are_swept)
{
    table t = set_table(NULL);
    seine_collaborator p, q;
    uint64_t version;

    CHECK_EQ(seine_collab_join(t.c, t.id, "anna", "Anna again", T0, &version), SEINE_OK);
    CHECK_EQ(get(&t).n_collaborators, 2);
    CHECK_EQ(seine_collab_person(t.c, t.id, 0, &p), SEINE_OK);
    CHECK_EQ(seine_collab_person(t.c, t.id, 1, &q), SEINE_OK);
    CHECK_STR(p.name, "Anna again");
    CHECK(p.color != q.color);
    CHECK_EQ(seine_collab_person(t.c, t.id, 2, &q), SEINE_E_RANGE);
    CHECK_EQ(get(&t).last_modified, T0); /* a join is no change */

    CHECK_EQ(insert(&t, "anna", 1, 0, 0, "a"), SEINE_OK);
    CHECK_EQ(seine_collab_leave(t.c, t.id, "anna"), SEINE_OK);
    CHECK_EQ(seine_collab_leave(t.c, t.id, "anna"), SEINE_E_CLOSED);
    CHECK_EQ(insert(&t, "anna", 2, 1, 0, "b"), SEINE_E_CLOSED);
    CHECK_EQ(insert(&t, "nobody", 1, 1, 0, "b"), SEINE_E_CLOSED);
    CHECK_EQ(seine_collab_join(t.c, t.id, "anna", "Anna", T0, &version), SEINE_OK);
    CHECK_EQ(insert(&t, "anna", 2, 1, 1, "b"), SEINE_OK); /* she is numbered on */

    CHECK_EQ(seine_collab_sweep(t.c, T0 + SEINE_SECS(45) - 1), 0);
    CHECK_EQ(seine_collab_sweep(t.c, T0 + SEINE_SECS(45)), 1); /* ben said nothing */
    CHECK_EQ(seine_collab_sweep(t.c, T0 + SEINE_SECS(46)), 1);
    CHECK_EQ(get(&t).n_collaborators, 0);
    seine_collab_free(t.c);
}

TEST(collab_has_limits)
{
    seine_collab_opts o = SEINE_COLLAB_OPTS;
    char id[SEINE_COLLAB_ID];
    uint64_t version;

    o.max_docs = 1;
    o.max_people = 2;
    o.max_units = 5;
    table t = set_table(&o);
    CHECK_EQ(seine_collab_create(t.c, "more", T0, id), SEINE_E_FULL);
    CHECK_EQ(seine_collab_join(t.c, t.id, "carl", "Carl", T0, &version), SEINE_E_FULL);
    CHECK_EQ(insert(&t, "anna", 1, 0, 0, "12345"), SEINE_OK);
    CHECK_EQ(insert(&t, "anna", 2, 1, 0, "6"), SEINE_E_FULL);
    check_content(&t, "12345", 1);
    CHECK_EQ(seine_collab_join(t.c, t.id, "", "x", T0, &version), SEINE_E_INVAL);
    CHECK_EQ(seine_collab_join(t.c, t.id, "a b", "x", T0, &version), SEINE_E_INVAL);
    CHECK_EQ(seine_collab_join(t.c, t.id, "anna", "\xff", T0, &version), SEINE_E_INVAL);
    CHECK_EQ(seine_collab_join(t.c, "none", "anna", "x", T0, &version), SEINE_E_UNKNOWN);
    CHECK_EQ(seine_collab_create(t.c, "", T0, id), SEINE_E_INVAL);
    seine_collab_free(t.c);
    o.max_updates = 0;
    CHECK_EQ(seine_collab_new(&o, &t.c), SEINE_E_INVAL);
}

TEST(collab_forgets_old_updates_and_says_so)
{
    seine_collab_opts o = SEINE_COLLAB_OPTS;
    seine_update u;

    o.max_updates = 64;
    table t = set_table(&o);
    for (uint64_t i = 0; i < 65; i++)
        CHECK_EQ(insert(&t, "anna", i + 1, i, i, "a"), SEINE_OK);
    CHECK_EQ(get(&t).oldest, 32);
    CHECK_EQ(seine_collab_update(t.c, t.id, 32, &u), SEINE_E_RANGE);
    CHECK_EQ(seine_collab_update(t.c, t.id, 33, &u), SEINE_OK);
    CHECK_EQ(insert(&t, "ben", 1, 31, 0, "B"), SEINE_E_RANGE);
    CHECK_EQ(seine_collab_cursor(t.c, t.id, "ben", 31, 0, T0), SEINE_E_RANGE);
    CHECK_EQ(insert(&t, "ben", 1, 32, 32, "B"), SEINE_OK); /* the text of then is known */
    CHECK_EQ(get(&t).content.ptr[65], 'B');
    seine_collab_free(t.c);
}

/* Many people, who hear late, send twice and do not know what arrived. */

enum { PEOPLE = 3, PENDING = 32 };

typedef struct person {
    char id[8];
    uint64_t version; /* heard of so far */
    uint64_t confirmed, typed;
    seine_text text; /* with what is pending */
    seine_changes *pending[PENDING];
    size_t n;
} person;

static seine_changes *
new_set(void)
{
    seine_changes *c = NULL;

    CHECK_EQ(seine_changes_new(&c), SEINE_OK);
    return c;
}

static void
change(seine_text *text, const seine_changes *c)
{
    seine_text next = {0};

    CHECK_EQ(seine_changes_apply(c, text->bytes, text->len, &next), SEINE_OK);
    seine_text_free(text);
    *text = next;
}

/* Types a letter, or deletes a stretch. All letters have one unit. */
static void
type_something(person *p, sn_rng *dice)
{
    uint64_t len = p->text.len, at = sn_rng_below(dice, len + 1);
    uint64_t gone = sn_rng_below(dice, 3) == 0 ? sn_rng_below(dice, len - at + 1) : 0;
    char letter = (char)('a' + sn_rng_below(dice, 26));

    if (p->n == PENDING)
        return;
    seine_changes *c = new_set();
    if (at > 0)
        CHECK_EQ(seine_changes_keep(c, at), SEINE_OK);
    CHECK_EQ(seine_changes_replace(c, gone, &letter, 1), SEINE_OK);
    if (at + gone < len)
        CHECK_EQ(seine_changes_keep(c, len - at - gone), SEINE_OK);
    change(&p->text, c);
    p->pending[p->n++] = c;
    p->typed++;
}

static void
send_pending(const table *t, const person *p, sn_rng *dice)
{
    uint64_t version;
    size_t n = p->n ? 1 + sn_rng_below(dice, p->n) : 0;

    if (n > 0)
        CHECK_EQ(seine_collab_push(t->c, t->id, p->id, p->confirmed + 1, p->version,
                                   (const seine_changes *const *)p->pending, n, T0,
                                   &version),
                 SEINE_OK);
}

/* Hears of one update. */
static bool
hear(const table *t, person *p)
{
    seine_update u;

    if (seine_collab_update(t->c, t->id, p->version + 1, &u) != SEINE_OK)
        return false;
    p->version++;
    if (strcmp(u.client, p->id) == 0) {
        seine_changes_free(p->pending[0]);
        memmove(p->pending, p->pending + 1, --p->n * sizeof *p->pending);
        p->confirmed++;
        return true;
    }
    seine_changes *heard = NULL;
    for (size_t i = 0; i < p->n; i++) {
        seine_changes *mine = new_set(), *theirs = new_set();
        const seine_changes *over = heard ? heard : u.changes;

        CHECK_EQ(seine_changes_map(p->pending[i], over, false, mine), SEINE_OK);
        CHECK_EQ(seine_changes_map(over, p->pending[i], true, theirs), SEINE_OK);
        seine_changes_free(p->pending[i]);
        seine_changes_free(heard);
        p->pending[i] = mine;
        heard = theirs;
    }
    change(&p->text, heard ? heard : u.changes);
    seine_changes_free(heard);
    return true;
}

static void
play(uint64_t seed)
{
    sn_rng dice = sn_rng_seed(seed);
    table t = set_table(NULL);
    person people[PEOPLE] = {{.id = "anna"}, {.id = "ben"}, {.id = "carl"}};
    uint64_t typed = 0;

    CHECK_EQ(seine_collab_join(t.c, t.id, "carl", "Carl", T0, &t.version), SEINE_OK);
    for (int step = 0; step < 120; step++) {
        person *p = &people[sn_rng_below(&dice, PEOPLE)];
        uint64_t what = sn_rng_below(&dice, 4);

        if (what == 0)
            send_pending(&t, p, &dice);
        else if (what == 1)
            (void)hear(&t, p);
        else
            type_something(p, &dice);
    }
    for (int rounds = 0, any = 1; any && rounds < 1000; rounds++) {
        any = 0;
        for (size_t i = 0; i < PEOPLE; i++) {
            send_pending(&t, &people[i], &dice);
            while (hear(&t, &people[i]))
                any = 1;
            any |= people[i].n > 0;
        }
    }
    seine_collab_doc d = get(&t);
    for (size_t i = 0; i < PEOPLE; i++) {
        CHECK_EQ(people[i].text.len, d.content.len);
        CHECK(d.content.len == 0 ||
              memcmp(people[i].text.bytes, d.content.ptr, d.content.len) == 0);
        CHECK_EQ(people[i].confirmed, people[i].typed);
        typed += people[i].typed;
        seine_text_free(&people[i].text);
    }
    CHECK_EQ(d.version, typed);
    seine_collab_free(t.c);
}

TEST(collab_people_who_hear_late_and_send_twice_end_with_one_text)
{
    for (uint64_t seed = 1; seed <= 500; seed++)
        play(seed);
}
