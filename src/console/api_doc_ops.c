/* SPDX-License-Identifier: Apache-2.0 */
/* Edits over HTTP: operations, and the return of an older text. Both are pushes. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/api_docs.h"
#include "console/json_out.h"
#include "console/message_read.h"

#define FINE SN_API_ERROR_COUNT

/* A call that edits: it waits for the document, then for the commit. */
typedef struct edit_call {
    sn_doc_call base;
    sn_hub_wait wait;
    char client[SN_CLIENT_ID + 1];
    uint64_t seq, from; /* the base */
    seine_unit unit;
    seine_edit edits[SN_PUSH_MOST]; /* texts are those of the call's body */
    size_t n;
    bool restores;
    uint64_t version; /* that is restored */
    seine_text text;  /* of it */
    uint64_t reached;
    size_t again;
} edit_call;

static edit_call *
edit_of(sn_hub_wait *w)
{
    return (edit_call *)(void *)((char *)w - offsetof(edit_call, wait));
}

static void
free_edit(sn_doc_call *w)
{
    seine_text_free(&((edit_call *)(void *)w)->text);
}

static edit_call *
new_edit(sn_call *call)
{
    edit_call *e = sn_doc_call_new(call, sizeof *e);

    if (e)
        e->base.fini = free_edit;
    return e;
}

/* Answering. */

static void
on_committed(sn_hub_wait *w, sn_live_doc *d, sn_api_error why)
{
    edit_call *e = edit_of(w);
    sn_docs *docs = e->base.docs;
    sn_live_doc *pinned = sn_hub_find(docs->hub, e->base.id);
    sn_buf *b = &e->base.out;

    if (!d) {
        sn_call_fail_after(e->base.call, why, "the store failed; send it again", 1);
    } else {
        sn_buf_char(b, '{');
        sn_json_out_text(b, "doc", e->base.id);
        sn_json_out_int(b, "base", (int64_t)e->from);
        sn_json_out_int(b, "version", (int64_t)e->reached);
        sn_json_out_int(b, "accepted", (int64_t)(e->n - e->again));
        sn_json_out_int(b, "duplicate", (int64_t)e->again);
        sn_json_out_time(b, "last_modified", d->facts.modified_ms);
        sn_buf_char(b, '}');
        sn_docs_audit(e->base.call, e->restores ? "doc.restore" : "doc.edit", e->base.id);
        sn_call_json(e->base.call, 200, b);
    }
    sn_hub_unpin(pinned, docs->console->loop.now);
    sn_doc_call_free(e);
}

static void
refuse(edit_call *e, sn_live_doc *d, sn_api_error why, const char *text)
{
    sn_call_fail(e->base.call, why, text, NULL);
    if (d)
        sn_hub_unpin(d, e->base.docs->console->loop.now);
    sn_doc_call_free(e);
}

/* Making change sets. */

/* Replaces what differs between two texts. */
static seine_err
differ(sn_str a, sn_str b, seine_changes *c)
{
    size_t from = 0, end = 0;
    uint64_t before = 0, gone = 0, behind = 0;
    seine_err e;

    while (from < a.len && from < b.len && a.ptr[from] == b.ptr[from])
        from++;
    while (from > 0 && ((from < a.len && ((unsigned char)a.ptr[from] & 0xc0) == 0x80) ||
                        (from < b.len && ((unsigned char)b.ptr[from] & 0xc0) == 0x80)))
        from--;
    while (end < a.len - from && end < b.len - from &&
           a.ptr[a.len - 1 - end] == b.ptr[b.len - 1 - end])
        end++;
    while (end > 0 && ((unsigned char)a.ptr[a.len - end] & 0xc0) == 0x80)
        end--;
    e = seine_changes_units(a.ptr, from, &before);
    if (e == SEINE_OK)
        e = seine_changes_units(a.ptr + from, a.len - from - end, &gone);
    if (e == SEINE_OK)
        e = seine_changes_units(a.ptr + a.len - end, end, &behind);
    if (e == SEINE_OK && before > 0)
        e = seine_changes_keep(c, before);
    if (e == SEINE_OK && (gone > 0 || b.len > from + end))
        e = seine_changes_replace(c, gone, b.ptr + from, b.len - from - end);
    if (e == SEINE_OK && behind > 0)
        e = seine_changes_keep(c, behind);
    return e;
}

/* The sets of the call, on the text at its base. */
static seine_err
make_sets(const edit_call *e, const seine_text *text, seine_changes **sets, size_t *out_n)
{
    if (!e->restores)
        return sn_edits_read(e->edits, e->n, e->unit, text, sets, out_n);
    seine_err err = seine_changes_new(&sets[0]);
    *out_n = err == SEINE_OK;
    return err == SEINE_OK ? differ((sn_str){text->bytes, text->len},
                                    (sn_str){e->text.bytes, e->text.len}, sets[0])
                           : err;
}

static sn_api_error
push(edit_call *e, sn_live_doc *d, seine_changes **sets, size_t n, sn_hub_why *why)
{
    sn_hub_edit edit = {.client = e->client,
                        .user = e->base.call->user.id,
                        .base = e->from,
                        .seq = e->seq,
                        .sets = sets,
                        .n = n};
    sn_api_error refused =
        sn_hub_push(d, &edit, e->base.docs->console->loop.now, &e->again, why);

    e->reached = d->doc->version;
    return refused;
}

static sn_api_error
edit_text(edit_call *e, sn_live_doc *d, sn_hub_why *why)
{
    seine_changes *sets[SN_PUSH_MOST] = {NULL};
    size_t made = 0;
    seine_text text;
    sn_api_error refused = FINE;

    if (e->from > d->doc->committed || e->from < d->doc->first) {
        bool is_new = e->from > d->doc->committed;

        snprintf(why->text, sizeof why->text,
                 is_new ? "base %llu is beyond the document"
                        : "the history since version %llu is not kept",
                 (unsigned long long)e->from);
        return is_new ? SN_API_BAD_BASE : SN_API_TOO_OLD;
    }
    if (sn_doc_is_far(d->doc, e->from)) {
        snprintf(why->text, sizeof why->text,
                 "version %llu lies too far back for a text of this length",
                 (unsigned long long)e->from);
        return SN_API_TOO_OLD;
    }
    if (sn_doc_text(d->doc, e->from, &text) != SEINE_OK) {
        snprintf(why->text, sizeof why->text, "out of memory");
        return SN_API_UNAVAILABLE;
    }
    seine_err err = make_sets(e, &text, sets, &made);
    seine_text_free(&text);
    if (err != SEINE_OK) {
        snprintf(why->text, sizeof why->text,
                 "operation %zu: a position inside of a character or beyond the end, or "
                 "nothing to do",
                 made > 0 ? made - 1 : 0);
        refused = err == SEINE_E_NOMEM ? SN_API_UNAVAILABLE : SN_API_BAD_CHANGE;
    }
    if (refused == FINE)
        refused = push(e, d, sets, made, why);
    for (size_t i = 0; i < made; i++)
        seine_changes_free(sets[i]);
    return refused;
}

static void
on_there(sn_hub_wait *w, sn_live_doc *d, sn_api_error why)
{
    edit_call *e = edit_of(w);
    sn_hub_why text = {"the store cannot be asked now"};

    if (!d || d->is_deleted) {
        bool is_none = d || why == SN_API_NOT_FOUND;

        refuse(e, d, is_none ? SN_API_NOT_FOUND : why,
               is_none ? "no such document" : text.text);
        return;
    }
    why = edit_text(e, d, &text);
    if (why != FINE) {
        refuse(e, d, why, text.text);
        return;
    }
    e->wait.fn = on_committed;
    sn_hub_settled(d, &e->wait);
}

static void
begin(edit_call *e)
{
    e->wait.fn = on_there;
    sn_hub_want(e->base.docs->hub, e->base.id, &e->wait, e->base.docs->console->loop.now);
}

/* Reading the call. */

/* False: the call is answered. */
static bool
read_author(edit_call *e, const seine_json *object)
{
    sn_call *call = e->base.call;
    sn_str client = {NULL, 0};

    if (!sn_call_member_text(call, object, "client", true, SN_CLIENT_ID, &client) ||
        !sn_call_member_u64(call, object, "seq", true, SN_MESSAGE_INT, &e->seq) ||
        !sn_call_member_u64(call, object, "base", true, SN_MESSAGE_INT, &e->from))
        return false;
    if (!sn_message_is_client(client)) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "client: 22 letters, digits, - and _",
                     NULL);
        return false;
    }
    snprintf(e->client, sizeof e->client, "%.*s", SN_FMT(client));
    return true;
}

static bool
read_unit(edit_call *e, const seine_json *object)
{
    static const char *const words[] = {
        [SEINE_UTF16] = "utf16", [SEINE_CODEPOINT] = "codepoint", [SEINE_UTF8] = "utf8"};
    sn_str unit = SN_STR("utf16");

    if (!sn_call_member_text(e->base.call, object, "unit", false, 16, &unit))
        return false;
    for (size_t i = 0; i < 3; i++)
        if (sn_str_eq(unit, sn_str_of(words[i]))) {
            e->unit = (seine_unit)i;
            return true;
        }
    sn_call_fail(e->base.call, SN_API_BAD_MESSAGE, "unit: utf16, codepoint or utf8",
                 NULL);
    return false;
}

static bool
read_op(edit_call *e, const seine_json *op)
{
    static const char *const words[] = {[SEINE_EDIT_INSERT] = "insert",
                                        [SEINE_EDIT_DELETE] = "delete",
                                        [SEINE_EDIT_REPLACE] = "replace"};
    sn_call *call = e->base.call;
    seine_edit *edit = &e->edits[e->n];
    sn_str word = {NULL, 0}, text = {"", 0};
    size_t i = 0;

    if (seine_json_type_of(op) != SEINE_JSON_OBJECT) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "ops: a list of objects", NULL);
        return false;
    }
    if (!sn_call_member_text(call, op, "op", true, 16, &word) ||
        !sn_call_member_u64(call, op, "position", true, SN_MESSAGE_INT, &edit->position))
        return false;
    while (i < 3 && !sn_str_eq(word, sn_str_of(words[i])))
        i++;
    edit->op = (seine_edit_op)i;
    if (i == 3) {
        sn_call_fail(call, SN_API_BAD_MESSAGE, "op: insert, delete or replace", NULL);
        return false;
    }
    if (!sn_call_member_u64(call, op, "length", edit->op != SEINE_EDIT_INSERT,
                            SN_MESSAGE_INT, &edit->length) ||
        !sn_call_member_text(call, op, "text", edit->op != SEINE_EDIT_DELETE,
                             SN_HUB_UNITS, &text))
        return false;
    edit->text = text.ptr;
    edit->text_len = text.len;
    e->n++;
    return true;
}

static bool
read_ops(edit_call *e, const seine_json *object)
{
    const seine_json *ops = seine_json_get(object, "ops");

    if (seine_json_type_of(ops) != SEINE_JSON_ARRAY || seine_json_size(ops) == 0) {
        sn_call_fail(e->base.call, SN_API_BAD_MESSAGE, "ops: a list of operations", NULL);
        return false;
    }
    if (seine_json_size(ops) > SN_PUSH_MOST) {
        sn_call_fail(e->base.call, SN_API_TOO_LARGE, "at most 64 operations", NULL);
        return false;
    }
    for (size_t i = 0; i < seine_json_size(ops); i++)
        if (!read_op(e, seine_json_at(ops, i)))
            return false;
    return true;
}

void
sn_api_doc_ops(sn_call *call)
{
    const seine_json *object = sn_call_object(call);
    edit_call *e = object ? new_edit(call) : NULL;

    if (!e)
        return;
    if (read_author(e, object) && read_unit(e, object) && read_ops(e, object))
        begin(e);
    else
        sn_doc_call_free(e);
}

/* Restoring. */

static seine_err
run_old(sn_docstore *s, sn_store_job *job)
{
    edit_call *e = (edit_call *)(void *)job;

    return sn_docstore_text(s, e->base.id, e->version, &e->text);
}

static void
on_old(sn_doc_job *j)
{
    edit_call *e = (edit_call *)(void *)j;

    if (j->job.err != SEINE_OK)
        sn_doc_call_fail(e, j->job.err);
    else
        begin(e);
}

void
sn_api_doc_restore(sn_call *call)
{
    const seine_json *object = sn_call_object(call);
    edit_call *e = object ? new_edit(call) : NULL;

    if (!e)
        return;
    if (!read_author(e, object) ||
        !sn_call_member_u64(call, object, "version", true, SN_MESSAGE_INT, &e->version)) {
        sn_doc_call_free(e);
        return;
    }
    e->restores = true;
    e->n = 1;
    if (!sn_docs_read(e->base.docs, &e->base.job, run_old, on_old))
        sn_doc_call_fail(e, SEINE_E_FULL);
}
