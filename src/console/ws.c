/* SPDX-License-Identifier: Apache-2.0 */
#include "console/ws.h"

#include <string.h>
#include <wslay/wslay.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/hash.h"

enum { NODE = 128 }; /* what the library needs for a queued message, about */

struct sn_ws {
    sn_ws_opts opts;
    wslay_event_context_ptr ctx;
    sn_buf message;  /* put together here: the library would keep each fragment apart */
    bool is_binary;  /* the message */
    bool in_control; /* the frame that is being read is a control frame */
    bool has_failed;
    bool owes_close, has_closed; /* a close frame of our own is to be sent, was */
    sn_str feed;                 /* being read */
    sn_buf *out;                 /* being written */
    size_t room;                 /* of it */
};

static ssize_t
on_read(wslay_event_context_ptr ctx, uint8_t *to, size_t n, int flags, void *arg)
{
    sn_ws *ws = arg;
    size_t take = n < ws->feed.len ? n : ws->feed.len;

    (void)flags;
    if (take == 0) {
        wslay_event_set_error(ctx, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    memcpy(to, ws->feed.ptr, take);
    ws->feed = sn_str_slice(ws->feed, take, ws->feed.len);
    return (ssize_t)take;
}

static ssize_t
on_write(wslay_event_context_ptr ctx, const uint8_t *from, size_t n, int flags, void *arg)
{
    sn_ws *ws = arg;
    size_t take = n < ws->room ? n : ws->room;

    (void)flags;
    if (take > 0)
        sn_buf_add(ws->out, from, take);
    if (take == 0 || sn_buf_done(ws->out) != SEINE_OK) {
        wslay_event_set_error(ctx, WSLAY_ERR_WOULDBLOCK);
        return -1;
    }
    ws->room -= take;
    return (ssize_t)take;
}

static void
fail(sn_ws *ws, uint16_t code)
{
    ws->has_failed = true;
    sn_ws_close(ws, code, "");
    wslay_event_shutdown_read(ws->ctx);
}

static void
on_frame(wslay_event_context_ptr ctx,
         const struct wslay_event_on_frame_recv_start_arg *frame, void *arg)
{
    sn_ws *ws = arg;

    (void)ctx;
    ws->in_control = frame->opcode >= WSLAY_CONNECTION_CLOSE;
    if (ws->in_control || ws->has_failed)
        return;
    if (frame->opcode != WSLAY_CONTINUATION_FRAME) {
        sn_buf_reset(&ws->message);
        ws->is_binary = frame->opcode == WSLAY_BINARY_FRAME;
        if (ws->is_binary && !ws->opts.takes_binary) {
            fail(ws, 1003);
            return;
        }
    }
    if (frame->payload_length > ws->opts.max_message - ws->message.len)
        fail(ws, 1009);
}

static void
on_piece(wslay_event_context_ptr ctx,
         const struct wslay_event_on_frame_recv_chunk_arg *piece, void *arg)
{
    sn_ws *ws = arg;

    (void)ctx;
    if (ws->in_control || ws->has_failed)
        return;
    sn_buf_add(&ws->message, piece->data, piece->data_length);
    if (sn_buf_done(&ws->message) != SEINE_OK)
        fail(ws, 1009);
}

static void
on_message(wslay_event_context_ptr ctx, const struct wslay_event_on_msg_recv_arg *m,
           void *arg)
{
    sn_ws *ws = arg;

    (void)ctx;
    if (m->opcode >= WSLAY_CONNECTION_CLOSE || ws->has_failed)
        return;
    ws->opts.message(ws->opts.arg, sn_buf_view(&ws->message), ws->is_binary);
    sn_buf_reset(&ws->message);
    if (ws->message.room > 65536) { /* one long message does not hold its memory */
        sn_buf_fini(&ws->message);
        sn_buf_init(&ws->message, ws->opts.max_message);
    }
}

seine_err
sn_ws_new(const sn_ws_opts *opts, sn_ws **out_ws)
{
    struct wslay_event_callbacks calls = {
        .recv_callback = on_read,
        .send_callback = on_write,
        .on_frame_recv_start_callback = on_frame,
        .on_frame_recv_chunk_callback = on_piece,
        .on_msg_recv_callback = on_message,
    };
    sn_ws *ws = sn_zalloc(sizeof *ws);

    if (!ws)
        return SEINE_E_NOMEM;
    ws->opts = *opts;
    sn_buf_init(&ws->message, opts->max_message);
    if (wslay_event_context_server_init(&ws->ctx, &calls, ws) != 0) {
        sn_free(ws);
        return SEINE_E_NOMEM;
    }
    wslay_event_config_set_no_buffering(ws->ctx, 1);
    wslay_event_config_set_max_recv_msg_length(ws->ctx, opts->max_message);
    *out_ws = ws;
    return SEINE_OK;
}

void
sn_ws_free(sn_ws *ws)
{
    if (!ws)
        return;
    wslay_event_context_free(ws->ctx);
    sn_buf_fini(&ws->message);
    sn_free(ws);
}

void
sn_ws_set_max(sn_ws *ws, size_t max_message)
{
    ws->opts.max_message = max_message;
    ws->message.cap = max_message;
    wslay_event_config_set_max_recv_msg_length(ws->ctx, max_message);
}

/* For a frame that cannot be one the library queues a close without a code. Ours says
 * 1002; what the library would send is left out. */
static void
break_off(sn_ws *ws)
{
    ws->has_failed = ws->owes_close = true;
    wslay_event_shutdown_read(ws->ctx);
    wslay_event_shutdown_write(ws->ctx);
}

bool
sn_ws_feed(sn_ws *ws, sn_str bytes)
{
    ws->feed = bytes;
    while (ws->feed.len > 0 && wslay_event_want_read(ws->ctx)) {
        size_t before = ws->feed.len;

        if (wslay_event_recv(ws->ctx) != 0)
            break_off(ws);
        if (ws->feed.len == before)
            break;
    }
    ws->feed = (sn_str){NULL, 0};
    return wslay_event_want_read(ws->ctx) && !ws->has_failed;
}

seine_err
sn_ws_send(sn_ws *ws, sn_str bytes, bool is_binary)
{
    struct wslay_event_msg m = {
        .opcode = is_binary ? WSLAY_BINARY_FRAME : WSLAY_TEXT_FRAME,
        .msg = (const uint8_t *)bytes.ptr,
        .msg_length = bytes.len,
    };
    int code = wslay_event_queue_msg(ws->ctx, &m);

    return code == 0                       ? SEINE_OK
           : code == WSLAY_ERR_NO_MORE_MSG ? SEINE_E_CLOSED
                                           : SEINE_E_NOMEM;
}

void
sn_ws_ping(sn_ws *ws)
{
    struct wslay_event_msg m = {.opcode = WSLAY_PING};

    (void)wslay_event_queue_msg(ws->ctx, &m);
}

void
sn_ws_close(sn_ws *ws, uint16_t code, const char *reason)
{
    (void)wslay_event_queue_close(ws->ctx, code, (const uint8_t *)reason, strlen(reason));
}

size_t
sn_ws_write(sn_ws *ws, sn_buf *out, size_t most)
{
    size_t before = out->len;

    if (ws->owes_close) {
        static const char close_1002[] = {(char)0x88, 2, 0x03, (char)0xea};

        ws->owes_close = false;
        ws->has_closed = true;
        sn_buf_add(out, close_1002, sizeof close_1002);
        return out->len - before;
    }
    ws->out = out;
    ws->room = most;
    while (ws->room > 0 && wslay_event_want_write(ws->ctx)) {
        size_t had = out->len;

        if (wslay_event_send(ws->ctx) != 0) {
            ws->has_failed = true;
            wslay_event_shutdown_write(ws->ctx);
        }
        if (out->len == had)
            break;
    }
    ws->out = NULL;
    return out->len - before;
}

size_t
sn_ws_waiting(const sn_ws *ws)
{
    return wslay_event_get_queued_msg_length(ws->ctx) +
           NODE * wslay_event_get_queued_msg_count(ws->ctx);
}

bool
sn_ws_has_failed(const sn_ws *ws)
{
    return ws->has_failed;
}

bool
sn_ws_is_close_sent(const sn_ws *ws)
{
    return ws->has_closed || wslay_event_get_close_sent(ws->ctx);
}

bool
sn_ws_is_close_heard(const sn_ws *ws)
{
    return wslay_event_get_close_received(ws->ctx);
}

seine_err
sn_ws_accept(sn_str key, char out_accept[29])
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    char text[24 + sizeof guid], bytes[18];
    uint8_t digest[20];
    size_t n;

    if (key.len != 24 || sn_base64_read(key, bytes, &n) != SEINE_OK || n != 16)
        return SEINE_E_INVAL;
    memcpy(text, key.ptr, 24);
    memcpy(text + 24, guid, sizeof guid);
    seine_err e = sn_sha1(text, 24 + sizeof guid - 1, digest);
    if (e != SEINE_OK)
        return e;
    sn_base64(digest, sizeof digest, out_accept);
    out_accept[28] = '\0';
    return SEINE_OK;
}
