/* SPDX-License-Identifier: Apache-2.0 */
#include "base/redact.h"

#include <string.h>

#include "base/alloc.h"

#define SMALL      1024                 /* texts up to so many bytes need no heap */
#define TAIL       UINT64_C(0xffffffff) /* SN_RECENT_TAIL bytes */
#define STEPS      65536                /* of the search for what was learnt, … */
#define STEPS_EACH 64                   /* … and for each byte of the text */
#define NAME       64 /* letters of a parameter's name; a longer name counts as secret */

/* Names that mark a secret, compared in lower case and without punctuation. */
static const char *const names[] = {
    "auth", "authorization", "code", "credential", "credentials", "jwt", "key",
    "otp",  "pass",          "pin",  "pwd",        "session",     "sig", "sid",
};

/* Endings that mark a secret: "csrf_token", "client-secret", "user[password]",
 * "JSESSIONID". */
static const char *const ends[] = {
    "token",  "secret",    "password",  "passwd",    "signature",  "apikey",
    "sessid", "accesskey", "sessionid", "secretkey", "privatekey",
};

/* Beginnings that mark a secret: signed requests of Amazon and Google. */
static const char *const starts[] = {"xamz", "xgoog"};

/* The next character of a name, with %74 decoded to t; advances past it. */
static char
letter(sn_str name, size_t *at)
{
    char c = name.ptr[(*at)++];

    if (c != '%' || name.len - *at < 2)
        return c;
    int high = sn_hex_digit(name.ptr[*at]), low = sn_hex_digit(name.ptr[*at + 1]);
    if (high < 0 || low < 0)
        return c;
    *at += 2;
    return (char)(high * 16 + low);
}

static bool
is_secret(sn_str name)
{
    char bytes[NAME];
    sn_str plain = {bytes, 0};

    for (size_t at = 0; at < name.len;) {
        char c = letter(name, &at);

        if (!sn_is_alpha(c) && !sn_is_digit(c))
            continue;
        if (plain.len == NAME)
            return true;
        bytes[plain.len++] = sn_lower(c);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (sn_str_eq(plain, sn_str_of(names[i])))
            return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sn_str_ends(plain, sn_str_of(ends[i])))
            return true;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (sn_str_starts(plain, sn_str_of(starts[i])))
            return true;
    return false;
}

/* The text, and the ranges to hide: from each byte up to ends[byte]. */
typedef struct work {
    sn_str text;
    uint32_t *ends;
    uint8_t *units; /* the text with its escapes decoded */
    uint32_t *at;   /* where each unit begins in the text, and where the last ends */
    uint32_t n_units;
    uint64_t steps;
    void *heap;
    uint32_t small_ends[SMALL], small_at[SMALL + 1];
    uint8_t small_units[SMALL];
} work;

/* False: no memory, or the text is longer than 32 bits count. */
static bool
begin_work(work *w, sn_str text)
{
    size_t n = text.len;

    w->text = text;
    w->steps = 0;
    w->heap = NULL;
    w->ends = w->small_ends;
    w->at = w->small_at;
    w->units = w->small_units;
    if (n > SMALL) {
        if (n >= UINT32_MAX / 16)
            return false;
        w->heap = sn_alloc(n * (2 * sizeof(uint32_t) + 1) + sizeof(uint32_t));
        if (!w->heap)
            return false;
        w->ends = w->heap;
        w->at = w->ends + n;
        w->units = (uint8_t *)(w->at + n + 1);
    }
    memset(w->ends, 0, n * sizeof *w->ends);
    return true;
}

/* Wipes the decoded text, which may hold a secret. */
static void
wipe_work(work *w)
{
    if (w->heap)
        explicit_bzero(w->units, w->text.len);
    else
        explicit_bzero(w->small_units, sizeof w->small_units);
    sn_free(w->heap);
}

static void
mark(work *w, size_t from, size_t to)
{
    if (to > from && w->ends[from] < to)
        w->ends[from] = (uint32_t)to;
}

/* URLs. */

/* Bytes of `s` before the first that is in `set`. */
static size_t
span(sn_str s, const char *set)
{
    size_t n = 0;

    while (n < s.len && (s.ptr[n] == '\0' || !strchr(set, s.ptr[n])))
        n++;
    return n;
}

static bool
is_slash(char c)
{
    return c == '/' || c == '\\'; /* browsers treat both as a slash */
}

static sn_str
skip(sn_str s, size_t n)
{
    return sn_str_slice(s, n, s.len);
}

/* Where user information would begin: behind "//", or at the start. */
static size_t
authority(sn_str url)
{
    size_t n = span(url, "/?#\\");

    if (url.len - n >= 2 && is_slash(url.ptr[n]) && is_slash(url.ptr[n + 1]) &&
        (n == 0 || url.ptr[n - 1] == ':'))
        return n + 2;
    return 0;
}

/* The last "@" of the authority ends the user information. */
static sn_str
user_at(sn_str url, size_t start)
{
    size_t host = start;

    for (size_t i = start, n = start + span(skip(url, start), "/?#\\"); i < n; i++)
        if (url.ptr[i] == '@')
            host = i + 1;
    return sn_str_slice(url, start, host);
}

sn_str
sn_redact_user(sn_str url)
{
    return user_at(url, authority(url));
}

/* Characters that end a value: those that begin the next parameter. A secret may hold a
 * slash or a semicolon, except in a path, where both end it. */
static const char *
value_end(char part)
{
    switch (part) {
    case '?':
        return "&#";
    case '#':
        return "&";
    default:
        return "/?#;&";
    }
}

static void
mark_user(work *w, sn_str user)
{
    size_t from = (size_t)(user.ptr - w->text.ptr);

    if (user.len > 1)
        mark(w, from, from + user.len - 1);
}

static void
mark_parameters(work *w, sn_str rest)
{
    char part = '/'; /* '/' path, '?' query or '#' fragment */

    for (;;) {
        size_t n = span(rest, "?#&;");

        if (n == rest.len)
            return;
        if ((rest.ptr[n] == '?' && part == '/') || rest.ptr[n] == '#')
            part = rest.ptr[n];
        rest = skip(rest, n + 1);

        sn_str name = sn_str_slice(rest, 0, span(rest, "=?#&;"));
        if (name.len == rest.len || rest.ptr[name.len] != '=' || !is_secret(name))
            continue;
        rest = skip(rest, name.len + 1);
        size_t from = (size_t)(rest.ptr - w->text.ptr), len = span(rest, value_end(part));
        mark(w, from, from + len);
        rest = skip(rest, len);
    }
}

static void
mark_url(work *w, sn_str url)
{
    size_t start = authority(url);
    sn_str user = user_at(url, start);

    mark_user(w, user);
    mark_parameters(w, skip(url, start + user.len));
}

/* Words that may be URLs. */

static bool
is_gap(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f || c == '"' || c == '<' || c == '>' ||
           c == '`';
}

/* Strips the punctuation of the sentence around a URL: "(see https://e.org/),". */
static sn_str
bare(sn_str word)
{
    while (word.len > 0 && memchr("'),.:;]}", word.ptr[word.len - 1], 8))
        word.len--;
    return word;
}

/* An authority begins at every "//" behind a colon, and at one that begins the word. */
static void
mark_users(work *w, sn_str word)
{
    for (size_t i = 0; i + 2 < word.len; i++)
        if (is_slash(word.ptr[i]) && is_slash(word.ptr[i + 1]) &&
            (i == 0 || word.ptr[i - 1] == ':' || word.ptr[i - 1] == '\'' ||
             word.ptr[i - 1] == '(')) {
            mark_user(w, user_at(word, i + 2));
            i++;
        }
}

static void
mark_words(work *w)
{
    sn_str text = w->text;

    for (size_t i = 0; i < text.len;) {
        size_t n = i;

        while (n < text.len && !is_gap(text.ptr[n]))
            n++;
        sn_str word = bare(sn_str_slice(text, i, n));
        if (word.len > 2) {
            mark_users(w, word);
            mark_parameters(w, word);
        }
        i = n + 1;
    }
}

/* Secrets of the set. */

static bool
is_escape(sn_str text, size_t i)
{
    return text.len - i > 2 && text.ptr[i] == '%' && sn_hex_digit(text.ptr[i + 1]) >= 0 &&
           sn_hex_digit(text.ptr[i + 2]) >= 0;
}

/* False: the text holds no escape. */
static bool
undo_escapes(work *w)
{
    sn_str text = w->text;
    bool any = false;
    size_t i = 0;

    w->n_units = 0;
    for (; i < text.len; w->n_units++) {
        bool escape = is_escape(text, i);

        w->at[w->n_units] = (uint32_t)i;
        w->units[w->n_units] = (uint8_t)text.ptr[i];
        if (escape)
            w->units[w->n_units] = (uint8_t)(sn_hex_digit(text.ptr[i + 1]) << 4 |
                                             sn_hex_digit(text.ptr[i + 2]));
        i += escape ? 3 : 1;
        any = any || escape;
    }
    w->at[w->n_units] = (uint32_t)i;
    return any;
}

/* One pass over the text, as it is or decoded, for plain values or base64 ones. */
typedef struct pass {
    work *w;
    const sn_trie *trie;
    const uint8_t *bytes;
    const uint32_t *at; /* NULL: each byte is a unit */
    size_t n;
    bool coded;
    const sn_recent *recent; /* NULL: nothing was learnt */
} pass;

static size_t
place_of(const pass *p, size_t unit)
{
    return p->at ? p->at[unit] : unit;
}

/* Maps both alphabets of base64 to one. */
static uint8_t
plain_digit(uint8_t c)
{
    return c == '-' ? '+' : c == '_' ? '/' : c;
}

static bool
is_digit(uint8_t c)
{
    return sn_is_alpha((char)c) || sn_is_digit((char)c) || (c && memchr("+/-_", c, 4));
}

static uint8_t
read_byte(const pass *p, uint8_t c)
{
    return p->coded ? plain_digit(c) : c;
}

/* `from` is where the hit begins in the text; `unit` is the first unit behind the hit. */
static void
mark_hit(const pass *p, size_t from, size_t first, size_t unit, unsigned flags)
{
    if (flags & SN_TRIE_LEFT && first > 0 && is_digit(p->bytes[first - 1]))
        from = place_of(p, first - 1);
    if (flags & SN_TRIE_RIGHT && unit < p->n && is_digit(p->bytes[unit]))
        unit++;
    for (int i = 0; p->coded && i < 2 && unit < p->n && p->bytes[unit] == '='; i++)
        unit++;
    mark(p->w, from, place_of(p, unit));
}

/* An escape counts as one character, but a value may also begin with its digits: tries
 * that first. */
static void
try_digits(const pass *p, size_t k, uint32_t state)
{
    const sn_trie *t = p->trie;
    const char *escape = p->w->text.ptr + p->at[k];
    uint8_t low = read_byte(p, (uint8_t)escape[2]),
            high = read_byte(p, (uint8_t)escape[1]);

    for (uint32_t at = t->nodes[state].near; at; at = t->nodes[t->nodes[at].fail].near) {
        uint32_t one = sn_trie_child(t, at, low, &p->w->steps);
        uint32_t two = one ? sn_trie_child(t, one, high, &p->w->steps) : 0;

        p->w->steps++;
        if (one && t->nodes[one].len)
            mark_hit(p, p->at[k] + 2, 0, k + t->nodes[one].len, t->nodes[one].flags);
        if (two && t->nodes[two].len)
            mark_hit(p, p->at[k] + 1, 0, k + t->nodes[two].len - 1, t->nodes[two].flags);
    }
}

static void
look(const pass *p)
{
    uint32_t state = 0;

    if (!p->trie->nodes)
        return;
    for (size_t k = p->n; k-- > 0;) {
        if (p->at && p->at[k + 1] - p->at[k] == 3)
            try_digits(p, k, state);
        state = sn_trie_step(p->trie, state, read_byte(p, p->bytes[k]), &p->w->steps);
        const sn_trie_node *hit = sn_trie_hit(p->trie, state);
        if (hit)
            mark_hit(p, place_of(p, k), k, k + hit->len, hit->flags);
    }
}

/* Do the first `n` bytes of the pattern, one or two, end the escape that is this unit? */
static bool
ends_escape(const pass *p, const sn_recent_pattern *r, size_t n, size_t unit)
{
    if (n > 2 || !p->at || p->at[unit + 1] - p->at[unit] != 3)
        return false;
    const char *digits = p->w->text.ptr + p->at[unit + 1] - n;
    for (size_t i = 0; i < n; i++)
        if (read_byte(p, (uint8_t)digits[i]) != (uint8_t)r->bytes[i])
            return false;
    return true;
}

/* Hides the learnt pattern if it ends before unit `end`. */
static void
try_recent(const pass *p, const sn_recent_pattern *r, size_t end)
{
    size_t left = r->len, unit = end;

    if (r->is_coded != p->coded)
        return;
    for (; left > 0 && unit > 0; left--) {
        p->w->steps++;
        if (ends_escape(p, r, left, --unit))
            mark_hit(p, p->at[unit + 1] - left, 0, end, r->flags);
        if (read_byte(p, p->bytes[unit]) != (uint8_t)r->bytes[left - 1])
            return;
    }
    if (left == 0)
        mark_hit(p, place_of(p, unit), unit, end, r->flags);
}

/* Looks for what was learnt while the program ran. A text that takes too many steps,
 * which somebody must have made for it, is hidden as a whole. */
static void
look_recent(const pass *p)
{
    uint64_t tail = 0, most = p->w->steps + STEPS + STEPS_EACH * (uint64_t)p->n;

    for (size_t k = 0; k < p->n; k++) {
        tail = (tail << 8 | read_byte(p, p->bytes[k])) & TAIL;
        if (k + 1 < SN_RECENT_TAIL)
            continue;
        const sn_recent_pattern *r = sn_recent_first(p->recent, tail);
        for (; r && p->w->steps < most; r = sn_recent_next(r))
            try_recent(p, r, k + 1);
    }
    if (p->w->steps >= most)
        mark(p->w, 0, p->w->text.len);
}

static void
look_for_all(work *w, const seine_secrets *s, const sn_recent *recent, bool undone)
{
    for (int coded = 0; coded < 2; coded++) {
        pass p = {w,
                  coded ? &s->coded : &s->plain,
                  undone ? w->units : (const uint8_t *)w->text.ptr,
                  undone ? w->at : NULL,
                  undone ? w->n_units : w->text.len,
                  coded,
                  recent};

        look(&p);
        if (recent)
            look_recent(&p);
    }
}

static bool
has_values(const seine_secrets *s)
{
    return s && (s->n > 0 || !sn_recent_is_empty(&s->recent));
}

static void
mark_values(work *w, const seine_secrets *s)
{
    if (!has_values(s) || w->text.len == 0)
        return;
    /* Another thread may learn a value meanwhile: looking takes the lock. */
    sn_recent *recent = sn_recent_is_empty(&s->recent) ? NULL : (sn_recent *)&s->recent;
    if (recent)
        sn_recent_begin(recent);
    look_for_all(w, s, recent, false);
    if (undo_escapes(w))
        look_for_all(w, s, recent, true);
    if (recent)
        sn_recent_end(recent);
}

/* Output. */

typedef struct pen {
    char *to;
    size_t cap, len; /* len may exceed cap */
} pen;

static void
put_bytes(pen *p, const char *bytes, size_t n)
{
    size_t room = p->len < p->cap ? p->cap - p->len : 0;

    if (n > 0 && room > 0)
        memcpy(p->to + p->len, bytes, n < room ? n : room);
    p->len += n;
}

/* Merges ranges that touch. */
static size_t
end_of(const work *w, size_t i)
{
    size_t last = w->ends[i];

    for (size_t k = i + 1; k <= last && k < w->text.len; k++)
        if (w->ends[k] > last)
            last = w->ends[k];
    return last;
}

static size_t
write_out(const work *w, char *out_bytes, size_t cap)
{
    pen p = {out_bytes, cap, 0};
    size_t from = 0;

    for (size_t i = 0; i < w->text.len;) {
        if (w->ends[i] <= i) {
            i++;
            continue;
        }
        put_bytes(&p, w->text.ptr + from, i - from);
        put_bytes(&p, SN_REDACTED, sizeof SN_REDACTED - 1);
        from = i = end_of(w, i);
    }
    put_bytes(&p, w->text.ptr + from, w->text.len - from);
    return p.len;
}

static size_t
copy(sn_str text, char *out_bytes, size_t cap)
{
    pen p = {out_bytes, cap, 0};

    put_bytes(&p, text.ptr, text.len);
    return p.len;
}

/* A quick test: most texts hold no URL with a secret. */
static bool
may_hide(const seine_secrets *s, sn_str text)
{
    return text.len > 0 && (has_values(s) || memchr(text.ptr, '@', text.len) ||
                            memchr(text.ptr, '=', text.len));
}

static size_t
redact(const seine_secrets *s, sn_str text, bool is_url, char *out_bytes, size_t cap)
{
    work w;

    if (!may_hide(s, text))
        return copy(text, out_bytes, cap);
    if (!begin_work(&w, text))
        return copy(SN_STR(SN_REDACTED), out_bytes, cap);
    if (is_url)
        mark_url(&w, text);
    else
        mark_words(&w);
    mark_values(&w, s);
    size_t n = write_out(&w, out_bytes, cap);
    wipe_work(&w);
    return n;
}

size_t
sn_redact(const seine_secrets *secrets, sn_str text, char *out_bytes, size_t cap)
{
    return redact(secrets, text, false, out_bytes, cap);
}

size_t
sn_redact_url(const seine_secrets *secrets, sn_str url, char *out_bytes, size_t cap)
{
    return redact(secrets, url, true, out_bytes, cap);
}

size_t
seine_redact(const seine_secrets *s, const char *text, size_t n, char *out_bytes,
             size_t cap)
{
    return redact(s, (sn_str){text, n}, false, out_bytes, cap);
}

bool
sn_redact_field(sn_str name)
{
    return seine_secret_is_field(name.ptr, name.len);
}

uint64_t
sn_redact_steps(const seine_secrets *secrets, sn_str text)
{
    work w;

    if (!begin_work(&w, text))
        return 0;
    mark_words(&w);
    mark_values(&w, secrets);
    wipe_work(&w);
    return w.steps;
}
