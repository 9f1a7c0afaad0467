/* SPDX-License-Identifier: Apache-2.0 */
/* What a document costs whoever sends it; what it says is in test_collab.c. */
#include "collab/collab_parts.h"

#include <string.h>

#include "check.h"
#include "collab/changes.h"

enum { UNITS = 1000, SECTIONS = 1000 };

static const seine_collab_opts opts = SEINE_COLLAB_OPTS;

static sn_doc *
new_doc(size_t units)
{
    static char text[1 << 18];

    memset(text, 'a', sizeof text);
    sn_doc *d = sn_doc_new("d", "t", (sn_str){text, units}, 0);
    CHECK(d != NULL);
    return d;
}

/* Replaces every second of the first units, in so many sections. */
static seine_changes *
choppy_of(uint64_t units)
{
    seine_changes *c = NULL;

    CHECK_EQ(seine_changes_new(&c), SEINE_OK);
    for (int i = 0; i < SECTIONS / 2; i++) {
        CHECK_EQ(seine_changes_keep(c, 1), SEINE_OK);
        CHECK_EQ(seine_changes_replace(c, 1, "b", 1), SEINE_OK);
    }
    if (units > SECTIONS)
        CHECK_EQ(seine_changes_keep(c, units - SECTIONS), SEINE_OK);
    return c;
}

static seine_changes *
choppy(void)
{
    return choppy_of(UNITS);
}

/* Replaces the whole text of so many units by itself. */
static seine_changes *
whole(size_t units)
{
    static char text[1 << 18];
    seine_changes *c = NULL;

    memset(text, 'c', sizeof text);
    CHECK_EQ(seine_changes_new(&c), SEINE_OK);
    CHECK_EQ(seine_changes_replace(c, units, text, units), SEINE_OK);
    return c;
}

static sn_refusal
push(sn_doc *d, const char *client, uint64_t seq, uint64_t base, seine_changes **sets,
     size_t n)
{
    size_t again;
    sn_push p = {.seq = seq, .base = base, .sets = sets, .n = n};

    return sn_doc_accept(d, &opts, sn_doc_client(d, client, true), &p, &again);
}

/* One update of `client` on the newest version, committed. */
static void
add(sn_doc *d, const char *client, uint64_t seq, seine_changes *give)
{
    CHECK_EQ(push(d, client, seq, d->version, &give, 1), SN_ACCEPTED);
    seine_changes_free(give);
    CHECK_EQ(sn_doc_commit(d, d->version), SEINE_OK);
}

TEST(collab_doc_refuses_a_push_that_takes_long_to_place)
{
    sn_doc *d = new_doc(UNITS);
    seine_changes *sets[SN_PUSH_MOST];
    size_t n = SN_PUSH_MOST;

    for (uint64_t i = 1; i <= 150; i++)
        add(d, "a", i, choppy());
    for (size_t i = 0; i < n; i++)
        sets[i] = choppy();
    CHECK_EQ(push(d, "b", 1, 0, sets, n), SN_TOO_OLD);
    CHECK(d->version == 150 && d->first == 0);
    for (size_t i = 0; i < n; i++)
        seine_changes_free(sets[i]);
    /* Little of it, or nearly the newest version, is no trouble. */
    sets[0] = choppy();
    CHECK_EQ(push(d, "b", 1, d->version - 20, sets, 1), SN_ACCEPTED);
    seine_changes_free(sets[0]);
    add(d, "a", 151, choppy_of(d->units));
    CHECK_EQ(d->version, 152);
    sn_doc_free(d);
}

TEST(collab_doc_places_what_a_person_typed_while_away)
{
    sn_doc *d = new_doc(UNITS);
    seine_changes *sets[SN_PUSH_MOST], *c;
    uint64_t units = UNITS;

    for (uint64_t i = 1; i <= 9000; i++, units++) {
        CHECK_EQ(seine_changes_new(&c), SEINE_OK);
        CHECK_EQ(seine_changes_keep(c, units / 2), SEINE_OK);
        CHECK_EQ(seine_changes_replace(c, 0, "x", 1), SEINE_OK);
        CHECK_EQ(seine_changes_keep(c, units - units / 2), SEINE_OK);
        add(d, "a", i, c);
    }
    for (size_t i = 0; i < SN_PUSH_MOST; i++) {
        CHECK_EQ(seine_changes_new(&sets[i]), SEINE_OK);
        CHECK_EQ(seine_changes_keep(sets[i], UNITS + i), SEINE_OK);
        CHECK_EQ(seine_changes_replace(sets[i], 0, "y", 1), SEINE_OK);
    }
    CHECK_EQ(push(d, "b", 1, 0, sets, SN_PUSH_MOST), SN_ACCEPTED);
    sn_doc_free(d);
}

TEST(collab_doc_keeps_no_more_bytes_of_updates_than_it_may)
{
    size_t units = 1 << 18;
    sn_doc *d = new_doc(units);
    uint64_t i = 1;

    for (; i <= 200; i++) {
        add(d, "a", i, whole(units));
        CHECK(d->kept <= SN_KEPT_BYTES);
    }
    CHECK(d->first > 100 && d->version == 200);
    /* What is not committed stays until it is, and what is taken back is not counted. */
    seine_changes *set = whole(units);
    size_t before = d->kept;
    CHECK_EQ(push(d, "a", i, d->version, &set, 1), SN_ACCEPTED);
    CHECK(d->kept > 0 && d->version == 201);
    sn_doc_rollback(d);
    CHECK(d->kept <= before && d->version == 200);
    seine_text text;
    CHECK_EQ(sn_doc_text(d, d->first, &text), SEINE_OK);
    CHECK_EQ(text.len, units);
    seine_text_free(&text);
    CHECK_EQ(sn_doc_forget(d, d->version), SEINE_OK);
    CHECK_EQ(d->kept, 0);
    sn_doc_free(d);
}

TEST(collab_doc_forgets_no_more_of_a_long_text_at_once_than_is_played_quickly)
{
    size_t units = 1 << 18;
    seine_collab_opts few = SEINE_COLLAB_OPTS;
    size_t again;
    const struct {
        size_t units;
        uint64_t forgotten;
    } rows[] = {{units, SN_TEXT_STEPS / (units + 1)}, {10, 300}};

    few.max_updates = 600;
    EACH_ROW(i, rows) {
        sn_doc *d = new_doc(rows[i].units);

        for (uint64_t n = 1; n <= few.max_updates + 1; n++) {
            seine_changes *c = NULL;
            sn_push p = {.seq = n, .base = n - 1, .sets = &c, .n = 1};

            CHECK_EQ(d->first, 0);
            CHECK_EQ(seine_changes_new(&c), SEINE_OK);
            CHECK_EQ(seine_changes_replace(c, 1, "b", 1), SEINE_OK);
            CHECK_EQ(seine_changes_keep(c, rows[i].units - 1), SEINE_OK);
            CHECK_EQ(sn_doc_accept(d, &few, sn_doc_client(d, "a", true), &p, &again),
                     SN_ACCEPTED);
            seine_changes_free(c);
            CHECK_EQ(sn_doc_commit(d, d->version), SEINE_OK);
        }
        CHECK_EQ(d->first, rows[i].forgotten);
        sn_doc_free(d);
    }
}

TEST(collab_doc_calls_a_text_far_by_how_much_is_moved_to_make_it)
{
    sn_doc *d = new_doc(UNITS);

    for (uint64_t i = 1; i <= 100; i++)
        add(d, "a", i, choppy());
    CHECK(!sn_doc_is_far(d, 99) && !sn_doc_is_far(d, 0));
    sn_doc_free(d);

    size_t units = 1 << 18;
    d = new_doc(units);
    for (uint64_t i = 1; i <= 400; i++) {
        seine_changes *c = NULL;

        CHECK_EQ(seine_changes_new(&c), SEINE_OK);
        CHECK_EQ(seine_changes_replace(c, 1, "z", 1), SEINE_OK);
        CHECK_EQ(seine_changes_keep(c, units - 1), SEINE_OK);
        add(d, "a", i, c);
    }
    CHECK_EQ(d->first, 0);
    CHECK(!sn_doc_is_far(d, 255) && sn_doc_is_far(d, 257));
    CHECK(!sn_doc_is_far(d, d->version)); /* that text is there */
    sn_doc_free(d);
}
