/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "net/h1_parts.h"
#include "net/h1_scan.h"

#define STATUS_LINE 8192
#define INTERIM     32
#define CHUNK       512 /* bytes copied at a time: most heads fit */
#define VERSION_LEN 12  /* HTTP/1.1 200 */

/*
 * Bytes are copied to the head's text and parsed there, each once; a line is complete
 * when its LF is read. After the blank line the unused rest of the last copy is given
 * back to the input. Values are changed in place where needed: a bare CR becomes a blank,
 * folded lines are joined.
 *
 * The first byte that breaks a rule gives the error. Fields that frame the body are
 * checked when their line is complete. If another error comes first in that line, or the
 * connection ends, the incomplete value is checked too.
 */

/* The kind of the previous line. */
enum { NOTHING, FIELD, FRAMING, COOKIE, ODD };

static inline sn_str
trimmed(const sn_h1 *h, uint32_t from, uint32_t to)
{
    return sn_h1_trim((sn_str){h->head->text + from, to - from});
}

static sn_h1_step
wrong(sn_h1 *h, seine_err e)
{
    return sn_h1_wrong(h, sn_h1_head_blame(h, e));
}

/* True if the line up to `at` is within its limit. */
static bool
fits(const sn_h1 *h, uint32_t limit)
{
    return h->at - h->line <= limit;
}

/* Moves to the end of the line's content and behind its line end, if that stands before
 * `len`. */
static sn_h1_step
to_line_end(sn_h1 *h, uint32_t len, uint32_t limit, uint32_t *out_end)
{
    char *text = h->head->text;

    for (;; h->at++) {
        h->at = sn_h1_control(text, h->at, len);
        if (!fits(h, limit)) {
            h->at = h->line + limit; /* the offending byte stands before */
            return wrong(h, SEINE_E_HEADER_TOO_LARGE);
        }
        if (h->at == len)
            return SN_H1_WANT;
        if (len - h->at >= 2 && text[h->at] == '\r' && text[h->at + 1] == '\n') {
            *out_end = h->at;
            h->at += 2;
            return SN_H1_GO;
        }
        switch (text[h->at]) {
        case '\n':
            h->notes |= SN_NOTE_LF;
            *out_end = h->at++;
            return SN_H1_GO;
        case '\r':
            if (h->at + 1 == len)
                return SN_H1_WANT;
            text[h->at] = ' ';
            h->notes |= SN_NOTE_CR;
            break;
        case '\0':
            return wrong(h, SEINE_E_BAD_HEADER);
        default: /* a tab, or a control byte that outputs will escape */
            break;
        }
    }
}

static sn_h1_step
to_field_end(sn_h1 *h, uint32_t *out_end)
{
    return to_line_end(h, h->head->len, sn_h1_limits_of(h)->line_bytes, out_end);
}

/* True if c is valid at index `i` of "HTTP/1.1 200". */
static bool
is_version(char c, uint32_t i)
{
    if (i < 7)
        return c == "HTTP/1."[i];
    if (i == 7)
        return c == '0' || c == '1';
    if (i == 8)
        return c == ' ';
    return i == 9 ? c >= '1' && c <= '9' : sn_is_digit(c);
}

static sn_h1_step
at_version(sn_h1 *h)
{
    sn_head *head = h->head;
    const char *s = head->text + h->line;

    if (h->at == 0 && head->len >= 8 && sn_h1_eight(s) == sn_h1_eight("HTTP/1.1"))
        h->at = 8;
    for (; h->at < head->len && h->at < VERSION_LEN; h->at++)
        if (!is_version(s[h->at], h->at))
            return sn_h1_wrong(h, SEINE_E_BAD_STATUS_LINE);
    if (h->at == head->len)
        return SN_H1_WANT;
    if (s[VERSION_LEN] != ' ' && s[VERSION_LEN] != '\r' && s[VERSION_LEN] != '\n')
        return sn_h1_wrong(h, SEINE_E_BAD_STATUS_LINE);
    head->minor = (uint8_t)(s[7] - '0');
    head->status = (uint16_t)((s[9] - '0') * 100 + (s[10] - '0') * 10 + (s[11] - '0'));
    h->state = SN_H1_AT_REASON;
    return SN_H1_GO;
}

static sn_h1_step
at_reason(sn_h1 *h)
{
    sn_head *head = h->head;
    uint32_t end;
    sn_h1_step step = to_line_end(h, head->len, STATUS_LINE, &end);

    if (step != SN_H1_GO)
        return step;
    if (head->status == 101) /* seine never asks for an upgrade */
        return sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
    if (head->status < 200 && ++h->n_interim > INTERIM)
        return sn_h1_wrong(h, SEINE_E_TOO_MANY_INTERIM);
    sn_str reason = trimmed(h, VERSION_LEN, end);
    head->reason = (uint32_t)(reason.ptr - head->text);
    head->reason_len = (uint32_t)reason.len;
    h->state = SN_H1_AT_LINE;
    return SN_H1_GO;
}

/* Remembers fields that are read when the head is complete, because a later line may
 * continue them. */
static void
remember(sn_h1 *h, sn_str name)
{
    uint32_t i = h->head->n_fields - 1;

    if (SN_H1_IS_WORD(name, "connection") && !h->has_connection) {
        h->has_connection = true;
        h->connection = i;
    }
    if (SN_H1_IS_WORD(name, "keep-alive") && !h->has_keep_alive) {
        h->has_keep_alive = true;
        h->keep_alive = i;
    }
}

/* A field beyond the limit. */
static sn_h1_step
too_many(sn_h1 *h, uint32_t line, uint32_t colon, uint32_t end)
{
    h->state = SN_H1_AT_VALUE;
    h->line = line;
    h->colon = colon;
    h->at = end;
    return wrong(h, SEINE_E_HEADER_TOO_LARGE);
}

/* Stores a complete field: its line, its colon, the end of its value. */
static inline sn_h1_step
store(sn_h1 *h, uint32_t line, uint32_t colon, uint32_t end)
{
    sn_head *head = h->head;

    if (head->n_fields >= sn_h1_limits_of(h)->head_fields)
        return too_many(h, line, colon, end);
    seine_err e = sn_head_room(head, 0);
    if (e != SEINE_OK)
        return sn_h1_wrong(h, e);

    sn_str name = {head->text + line, colon - line};
    sn_str value = trimmed(h, colon + 1, end);
    sn_head_add(head,
                (sn_head_field){line, (uint32_t)name.len,
                                (uint32_t)(value.ptr - head->text), (uint32_t)value.len});
    h->last = FIELD;
    if (name.len == 10)
        remember(h, name);
    if (!sn_h1_is_framing(name))
        return SN_H1_GO;
    h->last = FRAMING;
    h->steps += value.len;
    return sn_h1_frame(h, name, value) ? SN_H1_GO : sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
}

/* Reads fields while they are complete and regular, as most are; stops before a line that
 * needs the slow path. */
static sn_h1_step
quick(sn_h1 *h)
{
    const sn_head *head = h->head;
    uint32_t at = h->at, len = head->len, limit = sn_h1_limits_of(h)->line_bytes;
    sn_h1_step step = SN_H1_GO;

    while (step == SN_H1_GO) {
        const char *text = head->text;
        uint32_t colon = sn_h1_token_end(text, at, len);

        if (colon == at || colon == len || text[colon] != ':')
            break;
        uint32_t end = sn_h1_control(text, colon + 1, len);
        if (len - end < 2 || text[end] != '\r' || text[end + 1] != '\n' ||
            end - at > limit)
            break;
        step = store(h, at, colon, end);
        h->line = at;
        at = end + 2;
    }
    h->at = at;
    return step;
}

static sn_h1_step
at_value(sn_h1 *h)
{
    uint32_t end;
    sn_h1_step step = to_field_end(h, &end);

    if (step != SN_H1_GO)
        return step;
    h->state = SN_H1_AT_LINE;
    return store(h, h->line, h->colon, end);
}

static sn_h1_step
at_name(sn_h1 *h)
{
    const char *text = h->head->text;
    uint32_t len = h->head->len, at = sn_h1_token_end(text, h->at, len);
    bool colon = at < len && text[at] == ':' && at > h->line;

    h->colon = at;
    h->at = at + colon;
    if (!fits(h, sn_h1_limits_of(h)->line_bytes))
        return sn_h1_wrong(h, SEINE_E_HEADER_TOO_LARGE);
    if (at == len)
        return SN_H1_WANT;
    h->state = colon ? SN_H1_AT_VALUE : SN_H1_AT_ODD_NAME;
    return SN_H1_GO;
}

/* Handles a line that begins with a blank. */
static sn_h1_step
fold(sn_h1 *h)
{
    sn_head *head = h->head;

    switch (h->last) {
    case FRAMING:
        return sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
    case FIELD:
        if (sn_str_eq_nocase(sn_head_field_of(head, head->n_fields - 1).name,
                             SN_STR("set-cookie"))) {
            head->n_fields--; /* a folded cookie is ambiguous */
            h->odd_headers++;
            h->notes |= SN_NOTE_ODD_HEADERS;
            h->last = COOKIE;
            h->state = SN_H1_AT_DROP;
        } else {
            h->colon = h->at; /* the limit of a line counts from the field's start */
            h->state = SN_H1_AT_FOLD;
        }
        return SN_H1_GO;
    case COOKIE:
        h->state = SN_H1_AT_DROP;
        return SN_H1_GO;
    default:
        h->line = h->at;
        h->state = SN_H1_AT_ODD_NAME;
        return SN_H1_GO;
    }
}

static sn_h1_step
at_line(sn_h1 *h)
{
    char *text = h->head->text;
    uint32_t at = h->at, len = h->head->len;

    if (at == len)
        return SN_H1_WANT;
    if (text[at] == '\n') {
        h->notes |= SN_NOTE_LF;
        h->at++;
        return SN_H1_WHOLE;
    }
    if (text[at] == '\r') {
        if (at + 1 == len)
            return SN_H1_WANT;
        if (text[at + 1] == '\n') {
            h->at += 2;
            return SN_H1_WHOLE;
        }
        text[at] = ' ';
        h->notes |= SN_NOTE_CR;
    }
    if (sn_h1_is_blank(text[at]))
        return fold(h);
    h->line = at;
    h->state = SN_H1_AT_NAME;
    return SN_H1_GO;
}

static sn_h1_step
at_fold(sn_h1 *h)
{
    sn_head *head = h->head;
    uint32_t end;
    sn_h1_step step = to_field_end(h, &end);

    if (step != SN_H1_GO)
        return step;
    sn_str more = trimmed(h, h->colon, end);
    sn_head_field *f = sn_head_at(head, head->n_fields - 1);
    h->state = SN_H1_AT_LINE;
    h->steps += more.len;
    if (more.len == 0)
        return SN_H1_GO;
    if (f->value_len == 0) {
        f->value = (uint32_t)(more.ptr - head->text);
        f->value_len = (uint32_t)more.len;
        return SN_H1_GO;
    }
    /* The line end between the two leaves room for a blank. */
    char *to = head->text + f->value + f->value_len;
    *to = ' ';
    memmove(to + 1, more.ptr, more.len);
    f->value_len += 1 + (uint32_t)more.len;
    return SN_H1_GO;
}

static sn_h1_step
at_drop(sn_h1 *h)
{
    uint32_t end;
    sn_h1_step step = to_field_end(h, &end);

    if (step == SN_H1_GO)
        h->state = SN_H1_AT_LINE;
    return step;
}

/* Ends an invalid line. */
static sn_h1_step
odd_end(sn_h1 *h)
{
    h->odd_headers++;
    h->notes |= SN_NOTE_ODD_HEADERS;
    h->last = ODD;
    h->state = SN_H1_AT_LINE;
    return SN_H1_GO;
}

/* Returns the offset after the first colon at or after `at` in this line. */
static uint32_t
behind_colon(const sn_head *head, uint32_t at)
{
    const char *from = head->text + at;
    const char *line_end = memchr(from, '\n', head->len - at);
    size_t len = line_end ? (size_t)(line_end - from) : head->len - at;
    const char *colon = memchr(from, ':', len);

    return colon ? (uint32_t)(colon + 1 - head->text) : head->len;
}

static sn_h1_step
at_odd_name(sn_h1 *h)
{
    const sn_head *head = h->head;
    uint32_t stop = behind_colon(head, h->at), end = stop;
    sn_h1_step step = to_line_end(h, stop, sn_h1_limits_of(h)->line_bytes, &end);
    bool has_colon = step == SN_H1_WANT && head->text[stop - 1] == ':';

    if (step != SN_H1_GO && !has_colon)
        return step;
    if (sn_h1_resembles_framing(h, (sn_str){head->text + h->line, end - h->line}))
        return sn_h1_wrong(h, SEINE_E_BAD_FRAMING);
    h->state = SN_H1_AT_ODD;
    return has_colon ? SN_H1_GO : odd_end(h);
}

static sn_h1_step
at_odd(sn_h1 *h)
{
    uint32_t end;
    sn_h1_step step = to_field_end(h, &end);

    return step == SN_H1_GO ? odd_end(h) : step;
}

static sn_h1_step
read_on(sn_h1 *h)
{
    for (;;) {
        sn_h1_step step = SN_H1_GO;

        switch (h->state) {
        case SN_H1_AT_VERSION:
            step = at_version(h);
            break;
        case SN_H1_AT_REASON:
            step = at_reason(h);
            break;
        case SN_H1_AT_LINE:
            step = quick(h);
            if (step == SN_H1_GO)
                step = at_line(h);
            break;
        case SN_H1_AT_NAME:
            step = at_name(h);
            break;
        case SN_H1_AT_VALUE:
            step = at_value(h);
            break;
        case SN_H1_AT_FOLD:
            step = at_fold(h);
            break;
        case SN_H1_AT_DROP:
            step = at_drop(h);
            break;
        case SN_H1_AT_ODD_NAME:
            step = at_odd_name(h);
            break;
        default:
            step = at_odd(h);
            break;
        }
        if (step != SN_H1_GO)
            return step;
    }
}

/* Copies some of the input; WANT: there is none. */
static sn_h1_step
copy(sn_h1 *h, sn_str *in)
{
    sn_head *head = h->head;
    size_t n = in->len < CHUNK ? in->len : CHUNK;
    size_t left = sn_h1_limits_of(h)->head_bytes - h->head_bytes - head->len;

    if (n == 0)
        return SN_H1_WANT;
    if (left == 0)
        return wrong(h, SEINE_E_HEADER_TOO_LARGE);
    n = n < left ? n : left;
    seine_err e = sn_head_room(head, n);
    if (e != SEINE_OK)
        return sn_h1_wrong(h, e);
    memmove(head->text + head->len, in->ptr, n); /* memcpy becomes a slow rep movs */
    head->len += (uint32_t)n;
    h->steps += n;
    in->ptr += n;
    in->len -= n;
    return SN_H1_GO;
}

/* An interim response (1xx) is complete: the next head replaces it. */
static void
skip_interim(sn_h1 *h)
{
    sn_head_reset(h->head);
    h->state = SN_H1_AT_VERSION;
    h->last = NOTHING;
    h->at = h->line = 0;
    h->length = 0;
    h->has_length = h->has_chunked = h->has_identity = false;
    h->has_connection = h->has_keep_alive = false;
}

sn_h1_step
sn_h1_head_step(sn_h1 *h, sn_str *in)
{
    sn_head *head = h->head;
    sn_h1_step step;

    for (;;) {
        step = copy(h, in);
        if (step == SN_H1_GO)
            step = read_on(h);
        if (step == SN_H1_WRONG)
            return step;
        if (step == SN_H1_WANT) {
            if (in->len == 0)
                return step;
            continue;
        }
        /* WHOLE: gives back what follows the blank line. */
        in->ptr -= head->len - h->at;
        in->len += head->len - h->at;
        head->len = h->at;
        h->head_bytes += head->len;
        if (head->status >= 200)
            break;
        skip_interim(h);
    }
    seine_err e = sn_h1_conclude(h);
    return e == SEINE_OK ? SN_H1_WHOLE : sn_h1_wrong(h, e);
}
