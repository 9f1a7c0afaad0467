/* SPDX-License-Identifier: Apache-2.0 */
#include "console/preview.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/doc_hub_parts.h"
#include "console/message.h"
#include "console/preview_rows.h"
#include "console/recipe_check.h"

enum { PAUSE_MS = 150, FRAME = 2 << 20 };

/* Work for the pool: a check, or the rows of a page. */
typedef struct work {
    sn_doc_job job; /* reads the page first */
    sn_mail mail;
    sn_docs *docs;
    seine_job run;
    sn_call *call; /* of a validation by HTTP; NULL: of the editor */
    char doc[SN_ULID], page[SN_ULID];
    uint64_t version, asker;
    seine_text text;
    seine_text url, type, body; /* of the page */
    uint16_t status;
    sn_buf out;
    bool is_dropped;
} work;

static void
free_work(work *w)
{
    seine_text_free(&w->text);
    seine_text_free(&w->url);
    seine_text_free(&w->type);
    seine_text_free(&w->body);
    sn_buf_fini(&w->out);
    sn_free(w);
}

static bool
copy_text(sn_str from, seine_text *to)
{
    char *bytes = sn_alloc(from.len + 1);

    if (!bytes)
        return false;
    if (from.len > 0)
        memcpy(bytes, from.ptr, from.len);
    bytes[from.len] = '\0';
    *to = (seine_text){bytes, from.len};
    return true;
}

static work *
new_work(sn_docs *docs, const char *doc, sn_str text, uint64_t version)
{
    work *w = sn_zalloc(sizeof *w);

    if (!w)
        return NULL;
    w->docs = docs;
    w->version = version;
    snprintf(w->doc, sizeof w->doc, "%s", doc);
    sn_buf_init(&w->out, FRAME);
    if (!copy_text(text, &w->text)) {
        free_work(w);
        return NULL;
    }
    return w;
}

static work *
work_of(sn_mail *m)
{
    return (work *)(void *)((char *)m - offsetof(work, mail));
}

/* On the pool. */

static seine_err
run_check(seine_ctx *ctx, void *arg)
{
    work *w = arg;
    sn_recipe_zones zones = {.n = 0};
    seine_recipe *recipe;

    (void)ctx;
    sn_recipe_check((sn_str){w->text.bytes, w->text.len}, &zones, &recipe, &w->out);
    seine_recipe_free(recipe);
    sn_recipe_zones_fini(&zones);
    sn_console_post(w->docs->console, &w->mail);
    return SEINE_OK;
}

static seine_err
run_rows(seine_ctx *ctx, void *arg)
{
    work *w = arg;
    sn_preview_page page = {.url = w->url.bytes,
                            .content_type = w->type.bytes,
                            .body = {w->body.bytes, w->body.len},
                            .status = w->status};

    (void)ctx;
    sn_preview_rows((sn_str){w->text.bytes, w->text.len}, &page, &w->out);
    sn_console_post(w->docs->console, &w->mail);
    return SEINE_OK;
}

/* The pool ends before its turn. */
static void
drop_work(void *arg)
{
    work *w = arg;

    w->is_dropped = true;
    sn_console_post(w->docs->console, &w->mail);
}

/* Counts the time; the work may be gone when it has posted its answer. */
static seine_err
run_timed(seine_ctx *ctx, void *arg)
{
    const work *w = arg;
    sn_docs *d = w->docs;
    seine_time began = seine_now();
    seine_err e = w->run(ctx, arg);

    seine_counter_add(d->busy, 0, (uint64_t)(seine_now() - began));
    return e;
}

static bool
submit(work *w, seine_job run, void (*deliver)(sn_mail *m, seine_console *c))
{
    w->mail.deliver = deliver;
    w->run = run;
    return seine_pool_try_submit(w->docs->pool, run_timed, w, drop_work) == SEINE_OK;
}

/* Checks. */

static void
tell_problems(sn_live_doc *d, const work *w)
{
    sn_buf *b = &d->hub->out;

    sn_buf_printf(b, "{\"t\":\"diag\",\"doc\":\"%s\",\"v\":%llu,\"items\":", d->facts.id,
                  (unsigned long long)w->version);
    sn_buf_str(b, sn_buf_view(&w->out));
    sn_buf_char(b, '}');
    if (sn_buf_done(b) == SEINE_OK)
        sn_hub_tell(d, sn_buf_view(b));
    sn_buf_reset(b);
}

static void
done_check(sn_mail *m, seine_console *c)
{
    work *w = work_of(m);
    sn_live_doc *d = sn_hub_find(w->docs->hub, w->doc);

    if (d) {
        d->is_checking = false;
        if (!w->is_dropped && sn_buf_done(&w->out) == SEINE_OK)
            tell_problems(d, w);
        sn_hub_unpin(d, c->loop.now);
        if (d->doc->committed != w->version)
            sn_preview_changed(d, w->docs);
    }
    free_work(w);
}

static void
begin_check(sn_docs *docs, sn_live_doc *d)
{
    uint64_t units;
    work *w =
        new_work(docs, d->facts.id, sn_doc_stable(d->doc, &units), d->doc->committed);

    d->has_checked = true;
    d->checked = d->doc->committed;
    if (!w)
        return;
    if (!submit(w, run_check, done_check)) {
        d->has_checked = false; /* later */
        free_work(w);
        return;
    }
    d->is_checking = true;
    d->pins++;
}

static bool
needs_check(const sn_live_doc *d)
{
    return d->doc && d->facts.kind == SN_DOC_RECIPE && !d->is_checking &&
           (!d->has_checked || d->checked != d->doc->committed) && d->n_members > 0;
}

void
sn_preview_check(sn_timer *t, seine_time now)
{
    sn_docs *docs = (sn_docs *)(void *)((char *)t - offsetof(sn_docs, check));
    seine_time next = SEINE_NEVER;

    SN_MAP_EACH(entry, &docs->hub->docs) {
        sn_live_doc *d = entry->value;
        seine_time due = d->changed + SEINE_MS(PAUSE_MS);

        if (!needs_check(d))
            continue;
        if (due <= now) {
            begin_check(docs, d);
            due = now + SEINE_MS(PAUSE_MS);
        }
        if (needs_check(d) && due < next)
            next = due;
    }
    if (next != SEINE_NEVER)
        sn_timer_set(&docs->console->loop, t, next);
}

void
sn_preview_changed(sn_live_doc *d, void *arg)
{
    sn_docs *docs = arg;
    seine_time due = docs->console->loop.now + SEINE_MS(PAUSE_MS);

    (void)d;
    if (docs->check.slot == 0 || docs->check.at > due)
        sn_timer_set(&docs->console->loop, &docs->check, due);
}

/* Previews. */

static void begin_preview(sn_docs *docs, sn_live_doc *d);

static void
tell_rows(sn_docs *docs, const work *w)
{
    sn_session *s = sn_hub_session(docs->hub, w->asker);
    sn_buf *b = &docs->hub->out;

    if (!s)
        return;
    sn_buf_printf(b, "{\"t\":\"preview\",\"doc\":\"%s\",\"v\":%llu,\"page\":\"%s\",",
                  w->doc, (unsigned long long)w->version, w->page);
    sn_buf_str(b, sn_buf_view(&w->out));
    sn_buf_char(b, '}');
    sn_hub_send(docs->hub, s);
}

/* Ends a preview, well or not; the newest one that was asked for meanwhile follows. */
static void
end_preview(work *w, sn_api_error why, const char *text)
{
    sn_docs *docs = w->docs;
    sn_live_doc *d = sn_hub_find(docs->hub, w->doc);
    sn_session *s = sn_hub_session(docs->hub, w->asker);

    if (why == SN_REFUSE_NONE)
        tell_rows(docs, w);
    else if (s)
        sn_hub_refuse(docs->hub, s, why, "preview", w->doc, NULL, text);
    free_work(w);
    d->is_previewing = false;
    if (d->wants_preview)
        begin_preview(docs, d);
    sn_hub_unpin(d, docs->console->loop.now);
}

static void
done_rows(sn_mail *m, seine_console *c)
{
    work *w = work_of(m);
    bool is_fine = !w->is_dropped && sn_buf_done(&w->out) == SEINE_OK;

    (void)c;
    end_preview(w, is_fine ? SN_REFUSE_NONE : SN_API_UNAVAILABLE,
                "the preview could not be made");
}

static void
copy_page(const sn_page_row *p, void *arg)
{
    work *w = arg;

    w->status = (uint16_t)p->status;
    if (!copy_text(sn_str_of(p->final_url), &w->url) ||
        (p->content_type && !copy_text(sn_str_of(p->content_type), &w->type)) ||
        !copy_text(p->body, &w->body))
        w->is_dropped = true;
}

static seine_err
run_page(sn_docstore *s, sn_store_job *job)
{
    work *w = (work *)(void *)job;
    seine_err e = sn_docstore_get_page(s, w->page, copy_page, w);

    return e == SEINE_OK && w->is_dropped ? SEINE_E_NOMEM : e;
}

static void
done_page(sn_doc_job *j)
{
    work *w = (work *)(void *)j;

    if (j->job.err == SEINE_E_UNKNOWN)
        end_preview(w, SN_API_NOT_FOUND, "no such page; fetch it again");
    else if (j->job.err != SEINE_OK || !submit(w, run_rows, done_rows))
        end_preview(w, SN_API_UNAVAILABLE, "the preview could not be made");
}

static void
begin_preview(sn_docs *docs, sn_live_doc *d)
{
    uint64_t units;
    work *w =
        new_work(docs, d->facts.id, sn_doc_stable(d->doc, &units), d->doc->committed);

    d->wants_preview = false;
    if (!w)
        return;
    w->asker = d->asker;
    memcpy(w->page, d->page, sizeof w->page);
    d->is_previewing = true;
    d->pins++;
    if (!sn_docs_read(docs, &w->job, run_page, done_page))
        end_preview(w, SN_API_UNAVAILABLE, "the store has too much to do");
}

void
sn_preview_ask(sn_socket *s, sn_session *session, const sn_message *m)
{
    sn_docs *docs = sn_docs_of(s->console);
    sn_live_doc *d = sn_hub_opened(session, m->doc);

    if (!d) {
        sn_message_refuse(s, &(sn_message_refusal){.error = SN_API_NOT_OPEN,
                                                   .text = "the document is not open",
                                                   .re = m->t,
                                                   .doc = m->doc,
                                                   .id = m->has_id ? &m->id : NULL});
        return;
    }
    d->wants_preview = true;
    d->asker = session->number;
    memcpy(d->page, m->page, sizeof d->page);
    if (!d->is_previewing)
        begin_preview(docs, d);
}

/* Validation by HTTP. */

static void
done_validate(sn_mail *m, seine_console *c)
{
    work *w = work_of(m);
    sn_buf out;

    (void)c;
    sn_buf_init(&out, FRAME);
    sn_buf_printf(&out, "{\"version\":%llu,\"items\":", (unsigned long long)w->version);
    sn_buf_str(&out, sn_buf_view(&w->out));
    sn_buf_char(&out, '}');
    if (w->is_dropped)
        sn_call_fail(w->call, SN_API_UNAVAILABLE, "the server stops", NULL);
    else
        sn_call_json(w->call, 200, &out);
    sn_buf_fini(&out);
    free_work(w);
}

void
sn_preview_validate(sn_docs *docs, sn_call *call, sn_str text, uint64_t version)
{
    work *w = new_work(docs, "", text, version);

    if (w)
        w->call = call;
    if (w && submit(w, run_check, done_validate))
        return;
    if (w)
        free_work(w);
    sn_call_fail_after(call, SN_API_UNAVAILABLE, "too many recipes wait to be checked",
                       1);
}
