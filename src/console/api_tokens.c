/* SPDX-License-Identifier: Apache-2.0 */
/* api_tokens.c - tokens are made, listed and revoked; who did what is kept and shown. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/access_parts.h"
#include "console/docs.h"
#include "console/json_out.h"
#include "console/socket.h"

enum {
    NAME_CHARS = 40,
    LIST_MOST = 1 << 20,
    AUDIT_PAGE = 200,
    ACTION = 96,
    TARGET = 160
};

static void
add_token(sn_buf *b, const sn_token_row *t)
{
    sn_json_out_next(b);
    sn_buf_char(b, '{');
    sn_json_out_text(b, "id", t->id);
    sn_json_out_text(b, "name", t->name);
    sn_json_out_text(b, "role", t->role);
    sn_json_out_int(b, "created_ms", t->created_ms);
    if (t->expires_ms)
        sn_json_out_int(b, "expires_ms", t->expires_ms);
    if (t->revoked_ms)
        sn_json_out_int(b, "revoked_ms", t->revoked_ms);
}

void
sn_api_tokens(sn_call *call)
{
    const sn_access *a = sn_access_of(call->console);
    sn_buf b;

    sn_buf_init(&b, LIST_MOST);
    sn_buf_text(&b, "{\"tokens\":[");
    for (size_t i = 0; i < a->n; i++) {
        add_token(&b, &a->rows[i].row);
        sn_buf_char(&b, '}');
    }
    sn_buf_text(&b, "]}");
    sn_call_json(call, 200, &b);
}

/* A change of a token that is on its way to the disk. */
typedef struct change {
    sn_doc_job job; /* first */
    sn_call *call;
    sn_token_row row;
    char text[SN_TOKEN_TEXT]; /* of a new one */
} change;

static change *
change_of(sn_store_job *job)
{
    return (change *)(void *)job;
}

static void
free_change(change *ch)
{
    seine_wipe(ch->text, sizeof ch->text);
    sn_free(ch);
}

/* False: the call is answered. */
static bool
write_change(sn_call *call, change *ch,
             seine_err (*run)(sn_docstore *s, sn_store_job *job),
             void (*done)(sn_doc_job *j))
{
    sn_docs *docs = sn_docs_of(call->console);

    ch->call = call;
    if (docs && sn_docs_write(docs, &ch->job, run, done))
        return true;
    sn_call_fail(call, SN_API_UNAVAILABLE, "too much is waiting for the disk", NULL);
    free_change(ch);
    return false;
}

static seine_err
run_put(sn_docstore *s, sn_store_job *job)
{
    return sn_docstore_put_token(s, &change_of(job)->row);
}

static void
done_put(sn_doc_job *j)
{
    change *ch = (change *)(void *)j;
    sn_call *call = ch->call;
    sn_buf b;

    sn_access_of(call->console)->adding--;
    if (j->job.err != SEINE_OK)
        sn_call_fail_err(call, j->job.err);
    else if (!sn_access_add(sn_access_of(call->console), &ch->row))
        sn_call_fail(call, SN_API_UNAVAILABLE, "no room for another token", NULL);
    else {
        sn_buf_init_secret(&b, 4096);
        add_token(&b, &ch->row);
        sn_json_out_text(&b, "token", ch->text);
        sn_buf_char(&b, '}');
        sn_call_json(call, 201, &b);
    }
    free_change(ch);
}

static size_t
count_chars(sn_str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.ptr[i] & 0xc0) != 0x80;
    return n;
}

/* False: the call is answered. */
static bool
read_token(sn_call *call, sn_token_row *out)
{
    const seine_json *body = sn_call_object(call);
    sn_str name = {NULL, 0}, role = {NULL, 0};
    uint64_t expires = 0;
    sn_role parsed;

    if (!body ||
        !sn_call_member_text(call, body, "name", true, sizeof out->name - 1, &name) ||
        !sn_call_member_text(call, body, "role", true, sizeof out->role - 1, &role) ||
        !sn_call_member_u64(call, body, "expires_ms", false, INT64_MAX, &expires))
        return false;
    if (!sn_role_parse(role, &parsed))
        sn_call_fail(call, SN_API_BAD_MESSAGE, "role is viewer, editor or admin", NULL);
    else if (name.len == 0 || count_chars(name) > NAME_CHARS ||
             memchr(name.ptr, 0, name.len))
        sn_call_fail(call, SN_API_BAD_MESSAGE, "a name has 1 to 40 characters", NULL);
    else if (expires && (int64_t)expires <= sn_console_wall_ms(call->console))
        sn_call_fail(call, SN_API_BAD_MESSAGE, "expires_ms is in the past", NULL);
    else {
        snprintf(out->name, sizeof out->name, "%.*s", SN_FMT(name));
        snprintf(out->role, sizeof out->role, "%s", sn_role_name(parsed));
        out->expires_ms = (int64_t)expires;
        out->created_ms = sn_console_wall_ms(call->console);
        sn_ulid_new(sn_console_wall(call->console), out->id);
        return true;
    }
    return false;
}

void
sn_api_token_new(sn_call *call)
{
    change *ch;
    sn_access *a = sn_access_of(call->console);
    sn_token_row row = {.name = ""};

    if (!read_token(call, &row))
        return;
    if (a->n + a->adding >= SN_TOKENS_MOST) {
        sn_call_fail(call, SN_API_TOO_MANY, "there are 1,000 tokens already", NULL);
        return;
    }
    ch = sn_zalloc(sizeof *ch);
    if (!ch || sn_token_draw(ch->text, row.hash) != SEINE_OK) {
        sn_free(ch);
        sn_call_fail_err(call, SEINE_E_NOMEM);
        return;
    }
    ch->row = row;
    a->adding += write_change(call, ch, run_put, done_put);
}

static seine_err
run_revoke(sn_docstore *s, sn_store_job *job)
{
    change *ch = change_of(job);

    return sn_docstore_revoke(s, ch->row.id, ch->row.revoked_ms);
}

static void
done_revoke(sn_doc_job *j)
{
    change *ch = (change *)(void *)j;
    sn_call *call = ch->call;
    seine_console *c = call->console;

    if (j->job.err != SEINE_OK)
        sn_call_fail_err(call, j->job.err);
    else {
        sn_access_token *t = sn_access_find(sn_access_of(c), sn_str_of(ch->row.id));

        if (t)
            t->row.revoked_ms = ch->row.revoked_ms;
        sn_sockets_recheck(c);
        sn_call_empty(call, 204);
    }
    free_change(ch);
}

void
sn_api_token_revoke(sn_call *call)
{
    sn_access_token *t = sn_access_find(sn_access_of(call->console), call->param[0]);

    if (!t) {
        sn_call_fail(call, SN_API_NOT_FOUND, "no such token", NULL);
        return;
    }
    if (t->row.revoked_ms) {
        sn_call_empty(call, 204);
        return;
    }
    change *ch = sn_zalloc(sizeof *ch);
    if (!ch) {
        sn_call_fail_err(call, SEINE_E_NOMEM);
        return;
    }
    ch->row = t->row;
    ch->row.revoked_ms = sn_console_wall_ms(call->console);
    write_change(call, ch, run_revoke, done_revoke);
}

/* Audit. */

typedef struct audit {
    sn_doc_job job; /* first */
    sn_audit_row row;
    char user[SN_USER_NAME], peer[SN_PEER], action[ACTION], target[TARGET];
} audit;

static seine_err
run_audit(sn_docstore *s, sn_store_job *job)
{
    return sn_docstore_audit(s, &((audit *)(void *)job)->row);
}

static void
done_audit(sn_doc_job *j)
{
    sn_free(j);
}

void
sn_access_audit(const sn_call *call)
{
    sn_docs *docs = sn_docs_of(call->console);
    audit *a = docs ? sn_zalloc(sizeof *a) : NULL;

    if (!a)
        return;
    snprintf(a->user, sizeof a->user, "%s",
             call->user.name[0] ? call->user.name : "nobody");
    snprintf(a->peer, sizeof a->peer, "%s", call->peer);
    if (call->action)
        snprintf(a->action, sizeof a->action, "%s", call->action);
    else
        snprintf(a->action, sizeof a->action, "%s %s", sn_method_name(call->method),
                 call->route->path);
    if (call->target[0])
        snprintf(a->target, sizeof a->target, "%s", call->target);
    else
        snprintf(a->target, sizeof a->target, "%.*s", SN_FMT(call->param[0]));
    a->row = (sn_audit_row){.at_ms = sn_console_wall_ms(call->console),
                            .user = a->user,
                            .peer = a->peer,
                            .action = a->action,
                            .target = a->target[0] ? a->target : NULL,
                            .code = call->reply.status};
    if (!sn_docs_write(docs, &a->job, run_audit, done_audit))
        sn_free(a);
}

typedef struct audit_list {
    sn_doc_job job; /* first */
    sn_call *call;
    uint64_t before, limit;
    sn_buf out;
} audit_list;

static bool
add_audit(const sn_audit_row *a, void *arg)
{
    sn_buf *b = arg;

    sn_json_out_next(b);
    sn_buf_char(b, '{');
    sn_json_out_int(b, "seq", (int64_t)a->seq);
    sn_json_out_int(b, "at_ms", a->at_ms);
    sn_json_out_text(b, "user", a->user);
    sn_json_out_text(b, "peer", a->peer);
    sn_json_out_text(b, "action", a->action);
    if (a->target)
        sn_json_out_text(b, "target", a->target);
    sn_json_out_int(b, "code", a->code);
    if (a->detail)
        sn_json_out_text(b, "detail", a->detail);
    sn_buf_char(b, '}');
    return true;
}

static seine_err
run_audits(sn_docstore *s, sn_store_job *job)
{
    audit_list *l = (audit_list *)(void *)job;

    return sn_docstore_audits(s, l->before, l->limit, add_audit, &l->out);
}

static void
done_audits(sn_doc_job *j)
{
    audit_list *l = (audit_list *)(void *)j;

    sn_buf_text(&l->out, "]}");
    if (j->job.err == SEINE_OK)
        sn_call_json(l->call, 200, &l->out);
    else
        sn_call_fail_err(l->call, j->job.err);
    sn_buf_fini(&l->out);
    sn_free(l);
}

void
sn_api_audit(sn_call *call)
{
    sn_docs *docs = sn_docs_of(call->console);
    uint64_t before, limit;

    if (!sn_call_query_u64(call, "after", 0, INT64_MAX, 0, &before) ||
        !sn_call_query_u64(call, "limit", 1, AUDIT_PAGE, 100, &limit))
        return;
    audit_list *l = docs ? sn_zalloc(sizeof *l) : NULL;
    if (!l) {
        sn_call_fail_err(call, SEINE_E_NOMEM);
        return;
    }
    l->call = call;
    l->before = before;
    l->limit = limit;
    sn_buf_init(&l->out, LIST_MOST);
    sn_buf_text(&l->out, "{\"audit\":[");
    if (sn_docs_read(docs, &l->job, run_audits, done_audits))
        return;
    sn_call_fail(call, SN_API_UNAVAILABLE, "too much is waiting for the disk", NULL);
    sn_buf_fini(&l->out);
    sn_free(l);
}
