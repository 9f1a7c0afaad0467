/* SPDX-License-Identifier: Apache-2.0 */
#include "console/doc_hub.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"

#define DOC  "01JD2Z6W9N0000000000000001"
#define USER "01JD2Z6W9N0000000000000003"

enum { JOBS = 64, HEARD = 16384 };

/* Somebody who listens. */
typedef struct listener {
    sn_session session;
    char heard[HEARD]; /* messages, a line each */
} listener;

/* A hub whose store answers when the test says so. */
typedef struct place {
    sn_hub *hub;
    sn_append *appends[JOBS];
    size_t n_appends, n_loads, n_snapshots;
    uint64_t snapshot;
    bool is_full;
    seine_time now;
} place;

static void
send_text(void *peer, sn_str text, void *arg)
{
    listener *l = peer;
    size_t n = strlen(l->heard);

    (void)arg;
    snprintf(l->heard + n, HEARD - n, "%.*s\n", SN_FMT(text));
}

static bool
has_room(void *arg)
{
    return !((place *)arg)->is_full;
}

static void
load(const char *doc, void *arg)
{
    (void)doc;
    ((place *)arg)->n_loads++;
}

static void
append(sn_append *give, void *arg)
{
    place *p = arg;

    p->appends[p->n_appends++] = give;
}

static void
snapshot(sn_snapshot *give, void *arg)
{
    place *p = arg;

    p->n_snapshots++;
    p->snapshot = give->version;
    sn_snapshot_free(give);
}

static int64_t
wall_ms(void *arg)
{
    (void)arg;
    return 1000;
}

static void
open_hub_with(place *p, const sn_hub_opts *limits)
{
    sn_hub_opts opts = *limits;

    opts.send = send_text;
    opts.has_room = has_room;
    opts.load = load;
    opts.append = append;
    opts.snapshot = snapshot;
    opts.wall_ms = wall_ms;
    opts.arg = p;
    memset(p, 0, sizeof *p);
    CHECK_EQ(sn_hub_new(&opts, &p->hub), SEINE_OK);
}

static void
open_hub(place *p)
{
    open_hub_with(p, &(sn_hub_opts){.arg = NULL});
}

/* Answers a load with a document of this text. */
static void
loaded(place *p, const char *text, const char *damage)
{
    sn_doc_loaded got = {.facts = {.id = DOC, .epoch = USER, .title = "t"},
                         .doc = sn_doc_new(DOC, "t", sn_str_of(text), 0),
                         .damage = damage};

    sn_hub_loaded(p->hub, DOC, SEINE_OK, &got, p->now);
}

static void
join(place *p, listener *l, const char *client)
{
    memset(l, 0, sizeof *l);
    l->session = (sn_session){.peer = l, .color = "#0072B2", .may_edit = true};
    snprintf(l->session.client, sizeof l->session.client, "%s", client);
    snprintf(l->session.user, sizeof l->session.user, "%s", USER);
    sn_hub_join(p->hub, &l->session, p->now);
}

static void
open_doc(place *p, listener *l)
{
    sn_hub_open_ask ask = {.doc = DOC};
    sn_hub_why why;

    CHECK_EQ(sn_hub_open(p->hub, &l->session, &ask, p->now, &why), SN_API_ERROR_COUNT);
}

static void
leave(place *p, listener *l)
{
    sn_hub_leave(p->hub, &l->session, "gone", p->now);
}

/* Updates as a message has them. */
static sn_api_error
push_sets(place *p, listener *l, const char *const *json, size_t n)
{
    seine_changes *sets[4];
    size_t again;
    sn_hub_why why;

    for (size_t i = 0; i < n; i++) {
        CHECK_EQ(seine_changes_new(&sets[i]), SEINE_OK);
        CHECK_EQ(seine_changes_parse(sets[i], json[i], strlen(json[i])), SEINE_OK);
    }
    sn_hub_edit edit = {.client = l->session.client,
                        .user = l->session.user,
                        .seq = 1,
                        .sets = sets,
                        .n = n,
                        .session = l->session.number};
    sn_api_error refused =
        sn_hub_push(sn_hub_find(p->hub, DOC), &edit, p->now, &again, &why);
    for (size_t i = 0; i < n; i++)
        seine_changes_free(sets[i]);
    return refused;
}

/* One insertion at the beginning. */
static sn_api_error
push(place *p, listener *l, uint64_t base, uint64_t seq, uint64_t units, const char *text)
{
    seine_changes *set;
    size_t again;
    sn_hub_why why;

    CHECK_EQ(seine_changes_new(&set), SEINE_OK);
    CHECK_EQ(seine_changes_replace(set, 0, text, strlen(text)), SEINE_OK);
    if (units > 0)
        CHECK_EQ(seine_changes_keep(set, units), SEINE_OK);
    sn_hub_edit edit = {.client = l->session.client,
                        .user = l->session.user,
                        .base = base,
                        .seq = seq,
                        .sets = &set,
                        .n = 1,
                        .session = l->session.number};
    sn_api_error refused =
        sn_hub_push(sn_hub_find(p->hub, DOC), &edit, p->now, &again, &why);
    seine_changes_free(set);
    return refused;
}

/* The store answers the oldest job. */
static void
commit(place *p, seine_err err)
{
    sn_append *first = p->appends[0];

    memmove(p->appends, p->appends + 1, --p->n_appends * sizeof *p->appends);
    sn_hub_committed(p->hub, first, err, p->now);
}

static unsigned
count(const listener *l, const char *what)
{
    unsigned n = 0;

    for (const char *at = l->heard; (at = strstr(at, what)); at++)
        n++;
    return n;
}

TEST(hub_tells_an_update_only_when_it_is_committed)
{
    place p;
    listener ann, bob;

    open_hub(&p);
    join(&p, &ann, "ann");
    join(&p, &bob, "bob");
    open_doc(&p, &ann);
    open_doc(&p, &bob);
    CHECK_EQ(p.n_loads, 1);
    CHECK_EQ(count(&ann, "opened"), 0);
    loaded(&p, "abc", NULL);
    CHECK_EQ(count(&ann, "\"text\":\"abc\""), 1);
    CHECK_EQ(push(&p, &ann, 0, 1, 3, "x"), SN_API_ERROR_COUNT);
    CHECK_EQ(count(&ann, "\"t\":\"updates\""), 0);
    CHECK_EQ(count(&bob, "\"t\":\"updates\""), 0);
    commit(&p, SEINE_OK);
    /* the author, too: that is the acknowledgement */
    CHECK_EQ(count(&ann, "\"v\":0,\"updates\":[{\"c\":\"ann\""), 1);
    CHECK_EQ(count(&bob, "\"v\":0,\"updates\":[{\"c\":\"ann\""), 1);
    leave(&p, &ann);
    leave(&p, &bob);
    sn_hub_free(p.hub);
}

TEST(hub_takes_back_what_could_not_be_stored_and_nobody_saw_it)
{
    place p;
    listener ann, bob;

    open_hub(&p);
    join(&p, &ann, "ann");
    join(&p, &bob, "bob");
    open_doc(&p, &ann);
    open_doc(&p, &bob);
    loaded(&p, "abc", NULL);
    CHECK_EQ(push(&p, &ann, 0, 1, 3, "x"), SN_API_ERROR_COUNT);
    CHECK_EQ(push(&p, &bob, 0, 1, 3, "y"), SN_API_ERROR_COUNT);
    CHECK_EQ(sn_hub_find(p.hub, DOC)->doc->version, 2);
    commit(&p, SEINE_E_DISK_FULL);
    commit(&p, SEINE_E_INVAL); /* its version does not follow any more */
    CHECK_EQ(sn_hub_find(p.hub, DOC)->doc->version, 0);
    CHECK_STR(sn_hub_find(p.hub, DOC)->doc->text.bytes, "abc");
    CHECK_EQ(count(&ann, "unavailable"), 1);
    CHECK_EQ(count(&bob, "unavailable"), 1);
    CHECK_EQ(count(&ann, "\"t\":\"updates\"") + count(&bob, "\"t\":\"updates\""), 0);
    /* the same numbers again */
    CHECK_EQ(push(&p, &bob, 0, 1, 3, "y"), SN_API_ERROR_COUNT);
    CHECK_EQ(push(&p, &ann, 0, 1, 3, "x"), SN_API_ERROR_COUNT);
    commit(&p, SEINE_OK);
    commit(&p, SEINE_OK);
    CHECK_EQ(sn_hub_find(p.hub, DOC)->doc->committed, 2);
    CHECK_EQ(count(&ann, "\"t\":\"updates\""), 2);
    leave(&p, &ann);
    leave(&p, &bob);
    sn_hub_free(p.hub);
}

TEST(hub_freezes_a_document_that_somebody_else_wrote)
{
    place p;
    listener ann;

    open_hub(&p);
    join(&p, &ann, "ann");
    open_doc(&p, &ann);
    loaded(&p, "abc", NULL);
    CHECK_EQ(push(&p, &ann, 0, 1, 3, "x"), SN_API_ERROR_COUNT);
    commit(&p, SEINE_E_INVAL);
    CHECK_EQ(push(&p, &ann, 0, 1, 3, "x"), SN_API_READ_ONLY);
    leave(&p, &ann);
    sn_hub_free(p.hub);
}

TEST(hub_answers_an_open_behind_the_commits_on_their_way)
{
    place p;
    listener ann, bob;

    open_hub(&p);
    join(&p, &ann, "ann");
    open_doc(&p, &ann);
    loaded(&p, "abc", NULL);
    CHECK_EQ(push(&p, &ann, 0, 1, 3, "x"), SN_API_ERROR_COUNT);
    join(&p, &bob, "bob");
    open_doc(&p, &bob);
    CHECK_EQ(count(&bob, "opened"), 0);
    CHECK_EQ(push(&p, &ann, 0, 2, 3, "y"), SN_API_BAD_SEQ); /* 1 is in its base's way */
    CHECK_EQ(push(&p, &ann, 1, 2, 4, "y"), SN_API_ERROR_COUNT);
    commit(&p, SEINE_OK);
    CHECK_EQ(count(&bob, "\"v\":1,\"seq\":0"), 1);
    CHECK_EQ(count(&bob, "\"text\":\"xabc\""), 1);
    commit(&p, SEINE_OK);
    CHECK_EQ(count(&bob, "\"t\":\"updates\""), 1);
    leave(&p, &ann);
    leave(&p, &bob);
    sn_hub_free(p.hub);
}

TEST(hub_lets_nobody_push_to_a_damaged_document_or_a_full_store)
{
    place p;
    listener ann;

    open_hub(&p);
    join(&p, &ann, "ann");
    open_doc(&p, &ann);
    loaded(&p, "abc", "its checksum is wrong");
    CHECK_EQ(count(&ann, "\"ro\":true,\"frozen\":\"its checksum is wrong\""), 1);
    CHECK_EQ(push(&p, &ann, 0, 1, 3, "x"), SN_API_READ_ONLY);
    sn_hub_find(p.hub, DOC)->damage = NULL;
    p.is_full = true;
    CHECK_EQ(push(&p, &ann, 0, 1, 3, "x"), SN_API_UNAVAILABLE);
    p.is_full = false;
    CHECK_EQ(push(&p, &ann, 0, 1, 3, "x"), SN_API_ERROR_COUNT);
    commit(&p, SEINE_OK);
    leave(&p, &ann);
    sn_hub_free(p.hub);
}

TEST(hub_lets_nobody_wait_for_versions_that_no_store_has_heard_of)
{
    place p;
    listener ann, bob, cid;

    open_hub(&p);
    join(&p, &ann, "ann");
    join(&p, &bob, "bob");
    join(&p, &cid, "cid");
    open_doc(&p, &ann);
    loaded(&p, "abc", NULL);
    sn_live_doc *d = sn_hub_find(p.hub, DOC);
    CHECK_EQ(push(&p, &ann, 0, 1, 3, "x"), SN_API_ERROR_COUNT);
    CHECK_EQ(push(&p, &ann, 1, 2, 4, "y"), SN_API_ERROR_COUNT);
    open_doc(&p, &bob); /* behind both commits */
    /* There is no memory to hand the second one to the store. */
    d->damage = "out of memory";
    d->appends--;
    sn_append_free(p.appends[--p.n_appends]);
    CHECK_STR(bob.heard, "");
    commit(&p, SEINE_OK);
    CHECK_EQ(count(&bob, "\"code\":\"unavailable\""), 1);
    open_doc(&p, &cid); /* afterwards */
    CHECK_EQ(count(&cid, "\"v\":1"), 1);
    CHECK_EQ(count(&cid, "\"ro\":true,\"frozen\":\"out of memory\""), 1);
    CHECK_EQ(d->pins, 0);
    leave(&p, &ann);
    leave(&p, &bob);
    leave(&p, &cid);
    sn_hub_free(p.hub);
}

TEST(hub_writes_a_snapshot_every_200_updates_and_unloads_after_a_minute)
{
    place p;
    listener ann;

    open_hub(&p);
    join(&p, &ann, "ann");
    open_doc(&p, &ann);
    loaded(&p, "", NULL);
    for (uint64_t i = 0; i < 201; i++) {
        ann.heard[0] = '\0';
        CHECK_EQ(push(&p, &ann, i, i + 1, i, "x"), SN_API_ERROR_COUNT);
        commit(&p, SEINE_OK);
    }
    CHECK_EQ(p.n_snapshots, 1);
    CHECK_EQ(p.snapshot, 200);
    leave(&p, &ann);
    p.now += SEINE_SECS(60) - 1;
    sn_hub_sweep(p.hub, p.now);
    CHECK_EQ(sn_hub_docs(p.hub), 1);
    sn_hub_sweep(p.hub, p.now + 1);
    CHECK_EQ(sn_hub_docs(p.hub), 0);
    CHECK_EQ(p.snapshot, 201);
    sn_hub_free(p.hub);
}

TEST(hub_obeys_the_limits_that_it_is_given)
{
    place p;
    listener ann, bob, cid;
    sn_hub_why why;

    open_hub_with(&p, &(sn_hub_opts){.max_units = 4,
                                     .max_updates = 1,
                                     .max_sections = 2,
                                     .max_sessions = 2,
                                     .max_docs = 1});
    join(&p, &ann, "ann");
    join(&p, &bob, "bob");
    join(&p, &cid, "cid");
    open_doc(&p, &ann);
    loaded(&p, "ab", NULL);
    open_doc(&p, &bob);
    open_doc(&p, &cid);
    CHECK_EQ(count(&bob, "\"t\":\"opened\""), 1);
    CHECK_EQ(count(&cid, "too_many"), 1);
    CHECK_EQ(sn_hub_open(p.hub, &ann.session, &(sn_hub_open_ask){.doc = USER}, 0, &why),
             SN_API_TOO_MANY);
    CHECK_STR(why.text, "1 documents are open already");
    CHECK_EQ(push_sets(&p, &ann, (const char *[]){"[1,[0,\"x\"],1]"}, 1),
             SN_API_TOO_LARGE); /* three sections */
    CHECK_EQ(push_sets(&p, &ann, (const char *[]){"[2,[0,\"x\"]]", "[3,[0,\"x\"]]"}, 2),
             SN_API_TOO_LARGE);
    CHECK_EQ(push_sets(&p, &ann, (const char *[]){"[2,[0,\"xyz\"]]"}, 1),
             SN_API_DOC_FULL);
    CHECK_EQ(push_sets(&p, &ann, (const char *[]){"[2,[0,\"xy\"]]"}, 1),
             SN_API_ERROR_COUNT);
    commit(&p, SEINE_OK);
    leave(&p, &ann);
    leave(&p, &bob);
    leave(&p, &cid);
    sn_hub_free(p.hub);
}

TEST(hub_has_32_people_in_a_document_and_8_documents_for_each)
{
    enum { PEOPLE = 32, DOCUMENTS = 8 };
    static listener all[PEOPLE + 1];
    place p;

    open_hub(&p);
    for (size_t i = 0; i <= PEOPLE; i++) {
        char name[8];

        snprintf(name, sizeof name, "c%zu", i);
        join(&p, &all[i], name);
        open_doc(&p, &all[i]);
        if (i == 0)
            loaded(&p, "", NULL);
    }
    CHECK_EQ(count(&all[PEOPLE - 1], "\"t\":\"opened\""), 1);
    CHECK_EQ(count(&all[PEOPLE], "too_many"), 1);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        sn_hub_open_ask ask = {.doc = DOC};
        sn_hub_why why;

        ask.doc[25] = (char)('A' + i);
        CHECK_EQ(sn_hub_open(p.hub, &all[0].session, &ask, 0, &why),
                 i + 1 < DOCUMENTS ? SN_API_ERROR_COUNT : SN_API_TOO_MANY);
    }
    for (size_t i = 0; i < DOCUMENTS - 1; i++) {
        char doc[] = DOC;

        doc[25] = (char)('A' + i);
        sn_hub_loaded(p.hub, doc, SEINE_E_UNKNOWN, NULL, 0);
    }
    CHECK_EQ(count(&all[0], "not_found"), DOCUMENTS - 1);
    for (size_t i = 0; i <= PEOPLE; i++)
        leave(&p, &all[i]);
    CHECK_EQ(sn_hub_sessions(p.hub), 0);
    sn_hub_free(p.hub);
}

TEST(hub_hides_the_caret_of_who_did_nothing_for_half_an_hour)
{
    place p;
    listener ann, bob;
    uint64_t sel[1][2] = {{1, 2}};

    open_hub(&p);
    join(&p, &ann, "ann");
    join(&p, &bob, "bob");
    open_doc(&p, &ann);
    open_doc(&p, &bob);
    loaded(&p, "abc", NULL);
    CHECK_EQ(
        sn_hub_select(p.hub, &ann.session, DOC, 0, (const uint64_t(*)[2])sel, 1, true),
        SN_API_ERROR_COUNT);
    CHECK_EQ(count(&bob, "\"sel\":[[1,2]]"), 1);
    sn_hub_active(p.hub, &bob.session, SEINE_SECS(1800));
    sn_hub_sweep(p.hub, SEINE_SECS(1800) - 1);
    CHECK_EQ(count(&bob, "\"ev\":\"cursor\",\"client\":\"ann\",\"sel\":null"), 0);
    sn_hub_sweep(p.hub, SEINE_SECS(1800));
    CHECK_EQ(count(&bob, "\"ev\":\"cursor\",\"client\":\"ann\",\"sel\":null"), 1);
    sel[0][1] = 4;
    CHECK_EQ(
        sn_hub_select(p.hub, &ann.session, DOC, 0, (const uint64_t(*)[2])sel, 1, true),
        SN_API_BAD_MESSAGE);
    leave(&p, &ann);
    leave(&p, &bob);
    sn_hub_free(p.hub);
}

TEST(hub_keeps_a_client_id_for_its_user)
{
    place p;
    listener ann, thief;

    open_hub(&p);
    join(&p, &ann, "ann");
    open_doc(&p, &ann);
    loaded(&p, "abc", NULL);
    CHECK_EQ(push(&p, &ann, 0, 1, 3, "x"), SN_API_ERROR_COUNT);
    commit(&p, SEINE_OK);
    leave(&p, &ann);
    join(&p, &thief, "ann");
    thief.session.user[0] = 'Z';
    open_doc(&p, &thief);
    CHECK_EQ(count(&thief, "forbidden"), 1);
    CHECK_EQ(push(&p, &thief, 1, 2, 4, "y"), SN_API_FORBIDDEN);
    leave(&p, &thief);
    sn_hub_free(p.hub);
}
