/* SPDX-License-Identifier: Apache-2.0 */
#include "console/api_call.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "console/json_out.h"

enum { ARENA_CHUNK = 2048, ARENA_MOST = 128 << 10, ERROR_MOST = 8192 };

static const char json_type[] = "application/json";

void
sn_call_init(sn_call *call)
{
    *call = (sn_call){.method = SN_GET};
    sn_arena_init(&call->arena, ARENA_CHUNK, ARENA_MOST);
    call->user.role = SN_ROLE_NONE;
}

void
sn_reply_fini(sn_reply *reply)
{
    if (reply->stream.end)
        reply->stream.end(reply->stream.arg);
    reply->stream = (sn_stream){.read = NULL};
    seine_text_free(&reply->text);
}

void
sn_call_fini(sn_call *call)
{
    sn_reply_fini(&call->reply);
    seine_json_free(call->json);
    call->json = NULL;
    sn_arena_fini(&call->arena);
}

/* The first answer counts. */
static bool
begin_reply(sn_call *call, int status)
{
    if (call->reply.status)
        return false;
    call->reply.status = (uint16_t)status;
    return true;
}

static void
send_reply(sn_call *call)
{
    if (call->on_reply)
        call->on_reply(call);
}

void
sn_call_text(sn_call *call, int status, const char *type, sn_buf *give)
{
    seine_text text;

    if (sn_buf_take(give, &text) != SEINE_OK) {
        sn_buf_fini(give);
        sn_call_fail(call, SN_API_INTERNAL, "the answer has no room", NULL);
        return;
    }
    if (!begin_reply(call, status)) {
        seine_text_free(&text);
        return;
    }
    call->reply.type = type;
    call->reply.text = text;
    send_reply(call);
}

void
sn_call_json(sn_call *call, int status, sn_buf *give)
{
    sn_call_text(call, status, json_type, give);
}

void
sn_call_copy(sn_call *call, int status, const char *type, sn_str bytes)
{
    sn_buf b;

    sn_buf_init(&b, bytes.len + 1);
    sn_buf_str(&b, bytes);
    sn_call_text(call, status, type, &b);
}

void
sn_call_fixed(sn_call *call, int status, const char *type, sn_str bytes)
{
    if (!begin_reply(call, status))
        return;
    call->reply.type = type;
    call->reply.fixed = bytes;
    send_reply(call);
}

void
sn_call_empty(sn_call *call, int status)
{
    if (!begin_reply(call, status))
        return;
    send_reply(call);
}

static void
fail(sn_call *call, sn_api_error error, const char *message, const char *hint,
     const char *cause)
{
    const sn_api_error_row *row = sn_api_error_of(error);
    sn_buf b;

    if (!begin_reply(call, row->status))
        return;
    sn_buf_init(&b, ERROR_MOST);
    sn_buf_text(&b, "{\"error\":{");
    sn_json_out_text(&b, "code", row->word);
    sn_json_out_text(&b, "message", message);
    if (hint)
        sn_json_out_text(&b, "hint", hint);
    if (cause)
        sn_json_out_text(&b, "cause", cause);
    sn_json_out_text(&b, "request", call->id);
    sn_buf_text(&b, "}}");
    call->reply.type = json_type;
    if (sn_buf_take(&b, &call->reply.text) != SEINE_OK)
        sn_buf_fini(&b); /* a status says something, too */
    send_reply(call);
}

void
sn_call_fail(sn_call *call, sn_api_error error, const char *message, const char *hint)
{
    if ((error == SN_API_UNAVAILABLE || error == SN_API_RATE_LIMITED) &&
        !call->reply.retry_after)
        call->reply.retry_after = 1;
    fail(call, error, message, hint, NULL);
}

void
sn_call_fail_after(sn_call *call, sn_api_error error, const char *message,
                   uint32_t retry_after_s)
{
    if (call->reply.status)
        return;
    call->reply.retry_after = retry_after_s;
    fail(call, error, message, NULL, NULL);
}

void
sn_call_fail_cause(sn_call *call, sn_api_error error, const char *message,
                   const char *cause)
{
    fail(call, error, message, NULL, cause);
}

void
sn_call_fail_err(sn_call *call, seine_err e)
{
    switch (e) {
    case SEINE_E_UNKNOWN:
        sn_call_fail(call, SN_API_NOT_FOUND, "there is no such thing", NULL);
        break;
    case SEINE_E_INVAL:
        sn_call_fail(call, SN_API_BAD_MESSAGE, seine_err_text(e), NULL);
        break;
    case SEINE_E_FULL:
        sn_call_fail(call, SN_API_UNAVAILABLE, "too much is waiting already", NULL);
        break;
    case SEINE_E_NOMEM:
    case SEINE_E_DISK_FULL:
    case SEINE_E_IO:
    case SEINE_E_STATE_LOCKED:
        sn_call_fail(call, SN_API_UNAVAILABLE, seine_err_text(e), NULL);
        break;
    default:
        sn_call_fail(call, SN_API_INTERNAL, seine_err_text(e), NULL);
    }
}

void
sn_call_stream(sn_call *call, const char *type, const char *file, const sn_stream *stream)
{
    if (!begin_reply(call, 200)) {
        stream->end(stream->arg);
        return;
    }
    call->reply.type = type;
    call->reply.stream = *stream;
    if (file)
        snprintf(call->reply.file, sizeof call->reply.file, "%s", file);
    send_reply(call);
}

void
sn_call_resume(sn_call *call)
{
    if (call->on_resume)
        call->on_resume(call);
}

bool
sn_call_query(sn_call *call, const char *name, sn_str *out_value)
{
    sn_str rest = call->query, pair, key, value;

    while (sn_str_next(&rest, '&', &pair)) {
        sn_str_cut(pair, '=', &key, &value);
        if (!sn_str_eq(key, sn_str_of(name)))
            continue;
        return sn_route_decode(value, true, &call->arena, out_value) == SEINE_OK;
    }
    return false;
}

static void
fail_named(sn_call *call, const char *what, const char *name, const char *why)
{
    char text[160];

    snprintf(text, sizeof text, "%s '%s': %s", what, name, why);
    sn_call_fail(call, SN_API_BAD_MESSAGE, text, NULL);
}

bool
sn_call_query_u64(sn_call *call, const char *name, uint64_t min, uint64_t max,
                  uint64_t missing, uint64_t *out_n)
{
    sn_str value;
    uint64_t n;
    char why[80];

    *out_n = missing;
    if (!sn_call_query(call, name, &value))
        return true;
    if (sn_str_u64(value, &n) == SEINE_OK && n >= min && n <= max) {
        *out_n = n;
        return true;
    }
    snprintf(why, sizeof why, "not a number from %llu to %llu", (unsigned long long)min,
             (unsigned long long)max);
    fail_named(call, "parameter", name, why);
    return false;
}

const seine_json *
sn_call_object(sn_call *call)
{
    seine_json_fault fault;
    char text[200];
    sn_str body = call->body.len ? call->body : SN_STR("{}");

    if (call->json)
        return call->json;
    if (seine_json_parse(body.ptr, body.len, &call->json, &fault) != SEINE_OK) {
        snprintf(text, sizeof text, "byte %zu: %s", fault.offset, fault.text);
        sn_call_fail(call, SN_API_BAD_JSON, text, "send one JSON object");
        return NULL;
    }
    if (seine_json_type_of(call->json) == SEINE_JSON_OBJECT)
        return call->json;
    sn_call_fail(call, SN_API_BAD_MESSAGE, "the body is not a JSON object", NULL);
    return NULL;
}

bool
sn_call_member_text(sn_call *call, const seine_json *object, const char *name,
                    bool needed, size_t most, sn_str *out_text)
{
    const seine_json *value = seine_json_get(object, name);
    sn_str text;

    if (!value || seine_json_type_of(value) == SEINE_JSON_NULL) {
        if (needed)
            fail_named(call, "member", name, "missing");
        return !needed;
    }
    if (!seine_json_string(value, &text.ptr, &text.len)) {
        fail_named(call, "member", name, "not a string");
        return false;
    }
    if (text.len > most) {
        fail_named(call, "member", name, "too long");
        return false;
    }
    *out_text = text;
    return true;
}

bool
sn_call_member_u64(sn_call *call, const seine_json *object, const char *name, bool needed,
                   uint64_t max, uint64_t *out_n)
{
    const seine_json *value = seine_json_get(object, name);
    int64_t n;

    if (!value || seine_json_type_of(value) == SEINE_JSON_NULL) {
        if (needed)
            fail_named(call, "member", name, "missing");
        return !needed;
    }
    if (!seine_json_int(value, &n) || n < 0 || (uint64_t)n > max) {
        fail_named(call, "member", name, "not a number of its range");
        return false;
    }
    *out_n = (uint64_t)n;
    return true;
}
