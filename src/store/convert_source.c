/* SPDX-License-Identifier: Apache-2.0 */
#include "store/convert_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

enum {
    BLOCK = 64 << 10,
    KEPT = 64 /* bytes that peek can put before a block */
};

static seine_err
refuse_source(sn_convert_source *s, int error, seine_diag *diag)
{
    char text[SN_DIAG_ERRNO];

    sn_diag_errno(error, text);
    sn_diag_text(diag, "cannot read %s: %s", s->name, text);
    return SEINE_E_INVAL;
}

static seine_err
open_path(sn_convert_source *s, const char *path, seine_diag *diag)
{
    struct stat st;

    sn_diag_path(path, s->name);
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (s->fd < 0)
        return refuse_source(s, errno, diag);
    s->is_own = true;
    if (fstat(s->fd, &st) != 0)
        return refuse_source(s, errno, diag);
    return S_ISDIR(st.st_mode) ? refuse_source(s, EISDIR, diag) : SEINE_OK;
}

seine_err
sn_source_open(sn_convert_source *s, const char *path, seine_diag *diag)
{
    seine_err e = SEINE_OK;

    *s = (sn_convert_source){.fd = STDIN_FILENO};
    if (path && strcmp(path, "-") != 0)
        e = open_path(s, path, diag);
    else
        sn_diag_path("standard input", s->name);
    if (e != SEINE_OK)
        return e;
    s->raw = sn_alloc(BLOCK);
    s->text = sn_alloc(BLOCK + KEPT);
    if (s->raw && s->text)
        return SEINE_OK;
    sn_diag_text(diag, "%s", seine_err_text(SEINE_E_NOMEM));
    return SEINE_E_NOMEM;
}

void
sn_source_close(sn_convert_source *s)
{
    if (s->is_own)
        close(s->fd);
    sn_codec_fini(&s->codec);
    sn_free(s->raw);
    sn_free(s->text);
    *s = (sn_convert_source){.fd = -1};
}

/* True if the next read would block. */
static bool
would_wait(const sn_convert_source *s)
{
    struct pollfd fd = {s->fd, POLLIN, 0};

    return poll(&fd, 1, 0) == 0;
}

/* Reads up to `room` bytes; 0 at the end. */
static seine_err
read_some(sn_convert_source *s, char *to, size_t room, size_t *out_n, seine_diag *diag)
{
    ssize_t got;
    char text[SN_DIAG_ERRNO];

    *out_n = 0;
    if (s->idle && would_wait(s)) {
        seine_err e = s->idle(s->arg);

        if (e != SEINE_OK)
            return e;
    }
    do {
        struct pollfd fd = {s->fd, POLLIN, 0};

        got = read(s->fd, to, room);
        if (got < 0 && errno == EAGAIN)
            (void)poll(&fd, 1, -1);
    } while (got < 0 && (errno == EINTR || errno == EAGAIN));
    if (got < 0) {
        sn_diag_errno(errno, text);
        sn_diag_text(diag, "cannot read %s: %s", s->name, text);
        return SEINE_E_IO;
    }
    *out_n = (size_t)got;
    return SEINE_OK;
}

static seine_err
damaged(sn_convert_source *s, const char *how, seine_diag *diag)
{
    sn_diag_text(diag, "%s: the packed bytes are %s", s->name, how);
    return SEINE_E_PARSE;
}

static seine_err
fail_codec(sn_convert_source *s, seine_err e, seine_diag *diag)
{
    if (e == SEINE_E_BAD_ENCODING)
        return damaged(s, "damaged", diag);
    sn_diag_text(diag, "%s", seine_err_text(e));
    return e;
}

/* Decompresses the next bytes; none at the end, which must be the end of a member. */
static seine_err
unpack(sn_convert_source *s, sn_str *out, seine_diag *diag)
{
    for (;;) {
        sn_codec_room room = {s->text, BLOCK};
        seine_err e = SEINE_OK;

        if (s->in.len == 0 && !s->is_over) {
            e = read_some(s, s->raw, BLOCK, &s->in.len, diag);
            s->in.ptr = s->raw;
            s->is_over = s->in.len == 0;
            if (e != SEINE_OK)
                return e;
        }
        if (s->is_between && s->in.len == 0) {
            *out = (sn_str){s->text, 0};
            return SEINE_OK;
        }
        if (s->is_between)
            e = sn_codec_begin(&s->codec, s->kind);
        if (e != SEINE_OK)
            return fail_codec(s, e, diag);
        s->is_between = false;

        sn_codec_event event = sn_codec_step(&s->codec, &s->in, &room, false);
        if (event == SN_CODEC_FAIL)
            return fail_codec(s, s->codec.err, diag);
        s->is_between = event == SN_CODEC_END;
        *out = (sn_str){s->text, BLOCK - room.len};
        if (out->len > 0)
            return SEINE_OK;
        if (event == SN_CODEC_MORE && s->is_over)
            return damaged(s, "cut off", diag);
    }
}

/* Reads enough of the first bytes to detect compression. */
static seine_err
begin_source(sn_convert_source *s, seine_diag *diag)
{
    static const sn_codec_kind kinds[] = {SN_CODEC_GZIP, SN_CODEC_ZSTD};
    bool maybe = true;

    s->is_begun = true;
    if (s->is_raw)
        return SEINE_OK;
    while (maybe && !s->is_over && s->in.len < 4) {
        size_t n;
        seine_err e = read_some(s, s->raw + s->in.len, BLOCK - s->in.len, &n, diag);

        if (e != SEINE_OK)
            return e;
        s->in = (sn_str){s->raw, s->in.len + n};
        s->is_over = n == 0;
        maybe = false;
        for (size_t i = 0; i < 2; i++)
            maybe |= sn_codec_match_of(kinds[i], s->in) == SN_CODEC_MAYBE;
    }
    for (size_t i = 0; i < 2 && !s->is_packed; i++)
        if (s->in.len > 0 && sn_codec_match_of(kinds[i], s->in) == SN_CODEC_YES) {
            s->is_packed = s->is_between = true;
            s->kind = kinds[i];
            sn_codec_init(&s->codec, &(sn_codec_opts){.way = SN_CODEC_DECODE});
        }
    return SEINE_OK;
}

static seine_err
next_block(sn_convert_source *s, sn_str *out, seine_diag *diag)
{
    seine_err e = s->is_begun ? SEINE_OK : begin_source(s, diag);

    if (e != SEINE_OK)
        return e;
    if (s->is_packed)
        return unpack(s, out, diag);
    if (s->in.len == 0 && !s->is_over) {
        e = read_some(s, s->raw, BLOCK, &s->in.len, diag);
        s->in.ptr = s->raw;
        s->is_over = s->in.len == 0;
    }
    *out = s->in;
    s->in.len = 0;
    return e;
}

bool
sn_source_rewind(sn_convert_source *s)
{
    if (lseek(s->fd, 0, SEEK_SET) != 0)
        return false;
    sn_codec_fini(&s->codec);
    s->codec = (sn_codec){.lib = NULL};
    s->is_raw = true;
    s->is_begun = s->is_packed = s->is_over = s->is_between = false;
    s->in = s->ready = (sn_str){NULL, 0};
    return true;
}

seine_err
sn_source_next(sn_convert_source *s, sn_str *out_block, seine_diag *diag)
{
    if (s->ready.len > 0) {
        *out_block = s->ready;
        s->ready.len = 0;
        return SEINE_OK;
    }
    return next_block(s, out_block, diag);
}

/* If a block is too short, moves it before the next one. */
seine_err
sn_source_peek(sn_convert_source *s, size_t n, sn_str *out_first, seine_diag *diag)
{
    seine_err e = SEINE_OK;

    if (s->ready.len == 0)
        e = next_block(s, &s->ready, diag);
    while (e == SEINE_OK && s->ready.len < n) {
        char kept[KEPT];
        size_t len = s->ready.len < sizeof kept ? s->ready.len : sizeof kept;
        sn_str more;

        memcpy(kept, s->ready.ptr, len);
        e = next_block(s, &more, diag);
        if (e != SEINE_OK || more.len == 0)
            break;
        memmove(s->text + len, more.ptr, more.len);
        memcpy(s->text, kept, len);
        s->ready = (sn_str){s->text, len + more.len};
    }
    *out_first = s->ready;
    return e;
}
