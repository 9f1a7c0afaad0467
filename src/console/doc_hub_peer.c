/* SPDX-License-Identifier: Apache-2.0 */
/* Presence: who has a document open, and where their carets are. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/doc_hub_parts.h"

void
sn_hub_put_sel(sn_buf *b, const sn_member *m)
{
    if (!m->is_shown) {
        sn_buf_text(b, "null");
        return;
    }
    sn_buf_char(b, '[');
    for (size_t i = 0; i < m->n_sel; i++)
        sn_buf_printf(b, "%s[%llu,%llu]", i > 0 ? "," : "",
                      (unsigned long long)m->sel[i][0], (unsigned long long)m->sel[i][1]);
    sn_buf_char(b, ']');
}

static void
begin_peer(sn_buf *b, const sn_member *m, const char *event)
{
    sn_buf_printf(
        b, "{\"t\":\"peer\",\"doc\":\"%s\",\"v\":%llu,\"ev\":\"%s\",\"client\":\"%s\"",
        m->d->facts.id, (unsigned long long)m->d->doc->committed, event,
        m->session->client);
}

/* For all but the one it is about. */
static void
tell_others(const sn_member *m)
{
    sn_hub *h = m->d->hub;

    if (sn_buf_done(&h->out) == SEINE_OK)
        for (size_t i = 0; i < m->d->n_members; i++)
            if (m->d->members[i] != m)
                h->opts.send(m->d->members[i]->session->peer, sn_buf_view(&h->out),
                             h->opts.arg);
    sn_buf_reset(&h->out);
}

void
sn_hub_tell_join(sn_member *m)
{
    sn_buf *b = &m->d->hub->out;

    begin_peer(b, m, "join");
    sn_buf_printf(b, ",\"user\":\"%s\",\"name\":", m->session->user);
    sn_hub_quote(b, sn_str_of(m->session->name));
    sn_buf_printf(b, ",\"color\":\"%s\",\"sel\":", m->session->color);
    sn_hub_put_sel(b, m);
    sn_buf_char(b, '}');
    tell_others(m);
}

void
sn_hub_tell_cursor(sn_member *m)
{
    sn_buf *b = &m->d->hub->out;

    begin_peer(b, m, "cursor");
    sn_buf_text(b, ",\"sel\":");
    sn_hub_put_sel(b, m);
    sn_buf_char(b, '}');
    tell_others(m);
}

static void
take_out(sn_member **list, size_t *n, const sn_member *m)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i] == m) {
            list[i] = list[--*n];
            return;
        }
}

void
sn_hub_part(sn_member *m, const char *why, seine_time now)
{
    sn_buf *b = &m->d->hub->out;

    begin_peer(b, m, "leave");
    sn_buf_printf(b, ",\"why\":\"%s\"}", why);
    tell_others(m);
    take_out(m->d->members, &m->d->n_members, m);
    take_out(m->session->members, &m->session->n_members, m);
    m->d->idle = now;
    sn_free(m);
}

void
sn_hub_active(sn_hub *h, sn_session *s, seine_time now)
{
    (void)h;
    s->active = now;
}

sn_api_error
sn_hub_close(sn_hub *h, sn_session *s, const char *doc, seine_time now)
{
    sn_member *m = sn_hub_member(s, doc);

    (void)h;
    if (!m)
        return SN_API_NOT_OPEN;
    sn_hub_part(m, "close", now);
    return SN_REFUSE_NONE;
}

/* Units of the text of a version that is known. */
static uint64_t
units_at(const sn_doc *d, uint64_t version)
{
    return version == d->version
               ? d->units
               : seine_changes_from(sn_doc_update(d, version + 1)->changes);
}

sn_api_error
sn_hub_select(sn_hub *h, sn_session *s, const char *doc, uint64_t version,
              const uint64_t (*sel)[2], size_t n, bool is_shown)
{
    sn_member *m = sn_hub_member(s, doc);

    (void)h;
    if (!m)
        return SN_API_NOT_OPEN;
    const sn_doc *d = m->d->doc;
    if (is_shown && version < d->first)
        return SN_REFUSE_NONE; /* too old to be placed: dropped */
    if (is_shown && version > d->committed)
        return SN_API_BAD_BASE;
    for (size_t i = 0; is_shown && i < n; i++)
        if (sel[i][0] > units_at(d, version) || sel[i][1] > units_at(d, version))
            return SN_API_BAD_MESSAGE;
    for (size_t i = 0; is_shown && i < n; i++)
        for (size_t end = 0; end < 2; end++)
            m->sel[i][end] =
                sn_doc_move(d, s->client, version, d->committed, sel[i][end]);
    m->n_sel = is_shown ? n : 0;
    m->is_shown = is_shown;
    sn_hub_tell_cursor(m);
    return SN_REFUSE_NONE;
}

/* News about the document itself. */

static void
tell_doc(sn_live_doc *d, const char *event, const char *name, const char *text,
         const uint64_t *version)
{
    sn_buf *b = &d->hub->out;

    sn_buf_printf(b, "{\"t\":\"doc\",\"doc\":\"%s\",\"ev\":\"%s\"", d->facts.id, event);
    if (version)
        sn_buf_printf(b, ",\"v\":%llu", (unsigned long long)*version);
    if (name) {
        sn_buf_printf(b, ",\"%s\":", name);
        sn_hub_quote(b, sn_str_of(text));
    }
    sn_buf_char(b, '}');
    if (sn_buf_done(b) == SEINE_OK)
        sn_hub_tell(d, sn_buf_view(b));
    sn_buf_reset(b);
}

void
sn_hub_retitle(sn_hub *h, const char *doc, const char *title, int64_t ms)
{
    sn_live_doc *d = sn_hub_find(h, doc);

    if (!d || !d->doc)
        return;
    snprintf(d->facts.title, sizeof d->facts.title, "%s", title);
    d->facts.modified_ms = ms;
    tell_doc(d, "title", "title", title, NULL);
}

void
sn_hub_labelled(sn_hub *h, const char *doc, uint64_t version, const char *label)
{
    sn_live_doc *d = sn_hub_find(h, doc);

    if (d && d->doc)
        tell_doc(d, "label", "label", label, &version);
}

void
sn_hub_deleted(sn_hub *h, const char *doc, seine_time now)
{
    sn_live_doc *d = sn_hub_find(h, doc);

    if (!d || !d->doc)
        return;
    d->is_deleted = true;
    d->damage = "the document was deleted";
    tell_doc(d, "deleted", NULL, NULL, NULL);
    while (d->n_members > 0)
        sn_hub_part(d->members[0], "deleted", now);
}
