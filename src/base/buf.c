/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define SMALLEST 64 /* the first allocation is one cache line */

void
sn_buf_init(sn_buf *b, size_t cap)
{
    /* The terminator needs a byte of its own. */
    *b = (sn_buf){.cap = cap < SIZE_MAX ? cap : SIZE_MAX - 1};
}

void
sn_buf_init_secret(sn_buf *b, size_t cap)
{
    sn_buf_init(b, cap);
    b->wipes = true;
}

/* Zeros from `from` to the end of the content. */
static void
wipe_from(sn_buf *b, size_t from)
{
    if (b->wipes && b->len > from)
        explicit_bzero(b->ptr + from, b->len - from);
}

void
sn_buf_fini(sn_buf *b)
{
    wipe_from(b, 0);
    sn_free(b->ptr);
    *b = (sn_buf){0};
}

void
sn_buf_reset(sn_buf *b)
{
    sn_buf_truncate(b, 0);
    b->err = SEINE_OK;
}

/* Doubles the room until it holds `need` bytes, up to the cap and the terminator. */
static size_t
next_room(const sn_buf *b, size_t need)
{
    size_t room = b->room > SMALLEST / 2 ? b->room : SMALLEST / 2;

    room = room > b->cap / 2 ? b->cap + 1 : room * 2;
    return room > need ? room : need;
}

/* A block that grows may move and leave a copy behind; a secret does not. */
static char *
resize(sn_buf *b, size_t room)
{
    if (!b->wipes || !b->ptr)
        return sn_realloc(b->ptr, room);
    char *ptr = sn_alloc(room);
    if (!ptr)
        return NULL;
    memcpy(ptr, b->ptr, b->len);
    wipe_from(b, 0);
    sn_free(b->ptr);
    return ptr;
}

/* Makes room for n bytes, and up to twice the room that there was; false: see err. */
static bool
make_room(sn_buf *b, size_t n, bool doubles)
{
    if (b->err != SEINE_OK)
        return false;
    if (n > b->cap - b->len) {
        b->err = SEINE_E_FULL;
        return false;
    }

    size_t need = b->len + n + 1;
    if (need <= b->room)
        return true;
    size_t room = doubles ? next_room(b, need) : need;
    char *ptr = resize(b, room);

    if (!ptr) {
        b->err = SEINE_E_NOMEM;
        return false;
    }
    b->ptr = ptr;
    b->room = room;
    b->ptr[b->len] = '\0';
    return true;
}

char *
sn_buf_reserve(sn_buf *b, size_t n)
{
    return make_room(b, n, true) ? b->ptr + b->len : NULL;
}

void
sn_buf_reserve_exactly(sn_buf *b, size_t n)
{
    make_room(b, n, false);
}

void
sn_buf_commit(sn_buf *b, size_t n)
{
    if (b->err != SEINE_OK || n == 0)
        return;
    b->len += n;
    b->ptr[b->len] = '\0';
}

void
sn_buf_add(sn_buf *b, const void *bytes, size_t n)
{
    char *to = n > 0 ? sn_buf_reserve(b, n) : NULL;

    if (!to)
        return;
    memcpy(to, bytes, n);
    sn_buf_commit(b, n);
}

void
sn_buf_str(sn_buf *b, sn_str s)
{
    sn_buf_add(b, s.ptr, s.len);
}

void
sn_buf_text(sn_buf *b, const char *terminated)
{
    sn_buf_str(b, sn_str_of(terminated));
}

void
sn_buf_char(sn_buf *b, char c)
{
    sn_buf_add(b, &c, 1);
}

void
sn_buf_u64(sn_buf *b, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    sn_buf_add(b, digits + at, sizeof digits - at);
}

void
sn_buf_i64(sn_buf *b, int64_t n)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%lld", (long long)n);

    sn_buf_add(b, text, (size_t)len);
}

void
sn_buf_printf(sn_buf *b, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    sn_buf_vprintf(b, fmt, args);
    va_end(args);
}

/* Measures first: output that turns out too long would have to be undone. */
void
sn_buf_vprintf(sn_buf *b, const char *fmt, va_list args)
{
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n < 0 && b->err == SEINE_OK)
        b->err = SEINE_E_INVAL; /* the locale cannot write a character */
    char *to = n > 0 ? sn_buf_reserve(b, (size_t)n) : NULL;
    if (to) {
        vsnprintf(to, (size_t)n + 1, fmt, again);
        sn_buf_commit(b, (size_t)n);
    }
    va_end(again);
}

void
sn_buf_truncate(sn_buf *b, size_t len)
{
    if (len >= b->len)
        return;
    wipe_from(b, len);
    b->len = len;
    b->ptr[len] = '\0';
}

void
sn_buf_drop(sn_buf *b, size_t n)
{
    if (n > b->len)
        n = b->len;
    if (n == 0)
        return;
    memmove(b->ptr, b->ptr + n, b->len - n);
    sn_buf_truncate(b, b->len - n);
}

sn_str
sn_buf_view(const sn_buf *b)
{
    return (sn_str){b->ptr, b->len};
}

seine_err
sn_buf_done(const sn_buf *b)
{
    return b->err;
}

seine_err
sn_buf_take(sn_buf *b, seine_text *out_text)
{
    if (!b->ptr)
        (void)sn_buf_reserve(b, 0); /* even an empty text has its terminator */
    if (b->err != SEINE_OK)
        return b->err;
    *out_text = (seine_text){b->ptr, b->len};
    *b = (sn_buf){.cap = b->cap, .wipes = b->wipes};
    return SEINE_OK;
}
