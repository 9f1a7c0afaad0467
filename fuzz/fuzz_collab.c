/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of two WebSocket clients, a line each, to one live document. A line that
 * begins with "2" is the second client's; one that begins with "!" lets the oldest commit
 * fail, any other commit is made at once. Whatever they say: the text stays valid and as
 * long as its version says, and what was accepted leads from the first text to the last.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console/doc_hub.h"
#include "console/message_read.h"
#include "seine/plumbing.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())
#define DOC        "01JD2Z6W9N0000000000000001"
#define FINE       SN_API_ERROR_COUNT

typedef struct place {
    sn_hub *hub;
    sn_session people[2];
    sn_append *waiting; /* at most one */
    bool fails;
} place;

/* What is sent is JSON. */
static void
send_text(void *peer, sn_str text, void *arg)
{
    seine_json *json = NULL;

    (void)peer;
    (void)arg;
    REQUIRE(seine_json_parse(text.ptr, text.len, &json, NULL) == SEINE_OK);
    seine_json_free(json);
}

static bool
has_room(void *arg)
{
    return !((place *)arg)->waiting;
}

static void
load(const char *doc, void *arg)
{
    (void)doc;
    (void)arg;
}

static void
append(sn_append *give, void *arg)
{
    ((place *)arg)->waiting = give;
}

static void
snapshot(sn_snapshot *give, void *arg)
{
    (void)arg;
    sn_snapshot_free(give);
}

static int64_t
wall_ms(void *arg)
{
    (void)arg;
    return 1;
}

static void
commit(place *p)
{
    sn_append *a = p->waiting;

    p->waiting = NULL;
    if (a)
        sn_hub_committed(p->hub, a, p->fails ? SEINE_E_IO : SEINE_OK, 0);
    p->fails = false;
}

static void
take(place *p, sn_session *s, sn_str text)
{
    sn_message m;
    sn_message_why why;
    sn_hub_why because;
    size_t again;
    sn_live_doc *d;

    if (sn_message_read(text, &m, &why) == FINE && strcmp(m.doc, DOC) == 0) {
        if (m.type == SN_MESSAGE_OPEN)
            (void)sn_hub_open(p->hub, s, &m.open, 0, &because);
        if (m.type == SN_MESSAGE_CLOSE)
            (void)sn_hub_close(p->hub, s, m.doc, 0);
        if (m.type == SN_MESSAGE_CURSOR)
            (void)sn_hub_select(p->hub, s, m.doc, m.version, (const uint64_t(*)[2])m.sel,
                                m.n, m.is_shown);
        if (m.type == SN_MESSAGE_PUSH && (d = sn_hub_opened(s, m.doc))) {
            sn_hub_edit edit = {.client = s->client,
                                .user = s->user,
                                .base = m.base,
                                .seq = m.seq,
                                .sets = m.sets,
                                .n = m.n,
                                .session = s->number};

            (void)sn_hub_push(d, &edit, 0, &again, &because);
        }
    }
    sn_message_fini(&m);
}

static void
check(const place *p)
{
    const sn_doc *d = sn_hub_find(p->hub, DOC)->doc;
    uint64_t units;
    seine_text text;

    REQUIRE(seine_changes_units(d->text.bytes, d->text.len, &units) == SEINE_OK);
    REQUIRE(units == d->units && d->committed == d->version);
    REQUIRE(!memchr(d->text.bytes, '\r', d->text.len) &&
            strlen(d->text.bytes) == d->text.len);
    REQUIRE(sn_doc_text(d, d->first, &text) == SEINE_OK);
    for (uint64_t v = d->first + 1; v <= d->version; v++) {
        seine_text next;

        REQUIRE(seine_changes_apply(sn_doc_update(d, v)->changes, text.bytes, text.len,
                                    &next) == SEINE_OK);
        seine_text_free(&text);
        text = next;
    }
    REQUIRE(strcmp(text.bytes, d->text.bytes) == 0);
    seine_text_free(&text);
}

static void
begin(place *p)
{
    sn_hub_opts opts = {.send = send_text,
                        .has_room = has_room,
                        .load = load,
                        .append = append,
                        .snapshot = snapshot,
                        .wall_ms = wall_ms,
                        .arg = p,
                        .max_units = 4096,
                        .max_kept = 64};
    sn_hub_open_ask ask = {.doc = DOC};
    sn_hub_why why;
    sn_doc_loaded loaded = {
        .facts = {.id = DOC, .epoch = DOC, .title = "t"},
        .doc =
            sn_doc_new(DOC, "t", SN_STR("name: demo\n\xf0\x9f\x98\x80 \xc3\xa9\n"), 0)};

    REQUIRE(sn_hub_new(&opts, &p->hub) == SEINE_OK && loaded.doc);
    for (int i = 0; i < 2; i++) {
        p->people[i] = (sn_session){.peer = p, .color = "#000000", .may_edit = true};
        snprintf(p->people[i].client, sizeof p->people[i].client, "client%d", i);
        sn_hub_join(p->hub, &p->people[i], 0);
        REQUIRE(sn_hub_open(p->hub, &p->people[i], &ask, 0, &why) == FINE);
    }
    sn_hub_loaded(p->hub, DOC, SEINE_OK, &loaded, 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    place p = {.hub = NULL};
    sn_str rest = {(const char *)bytes, n}, line;

    begin(&p);
    while (sn_str_next(&rest, '\n', &line)) {
        sn_session *who = &p.people[0];

        p.fails = line.len > 0 && line.ptr[0] == '!';
        if (line.len > 0 && (line.ptr[0] == '!' || line.ptr[0] == '2')) {
            who = &p.people[line.ptr[0] == '2'];
            line = sn_str_slice(line, 1, line.len);
        }
        take(&p, who, line);
        commit(&p);
    }
    check(&p);
    for (int i = 0; i < 2; i++)
        sn_hub_leave(p.hub, &p.people[i], "gone", 0);
    sn_hub_free(p.hub);
    return 0;
}
