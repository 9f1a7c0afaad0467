/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"

void
seine_wipe(void *bytes, size_t n)
{
    if (n > 0)
        explicit_bzero(bytes, n);
}

seine_err
seine_secrets_new(seine_secrets **out_secrets)
{
    if (!out_secrets)
        return SEINE_E_INVAL;
    seine_secrets *s = sn_zalloc(sizeof *s);

    if (!s)
        return SEINE_E_NOMEM;
    sn_trie_init(&s->plain);
    sn_trie_init(&s->coded);
    sn_recent_init(&s->recent);
    *out_secrets = s;
    return SEINE_OK;
}

void
seine_secrets_free(seine_secrets *s)
{
    if (!s)
        return;
    sn_trie_fini(&s->plain);
    sn_trie_fini(&s->coded);
    sn_recent_fini(&s->recent);
    sn_free(s);
}

/* Who takes the spellings of a value. */
typedef struct sink {
    seine_err (*add)(void *arg, sn_str pattern, unsigned flags, bool is_coded);
    void *arg;
} sink;

static seine_err
add_to_tries(void *arg, sn_str pattern, unsigned flags, bool is_coded)
{
    seine_secrets *s = arg;

    return sn_trie_add(is_coded ? &s->coded : &s->plain, pattern, flags);
}

/* The list begins with the value itself. */
static seine_err
add_to_list(void *arg, sn_str pattern, unsigned flags, bool is_coded)
{
    sn_recent_pattern **list = arg;
    sn_recent_pattern *p = sn_recent_pattern_new(pattern, (uint8_t)flags, is_coded);

    if (!p)
        return SEINE_E_NOMEM;
    if (*list) {
        p->newer = (*list)->newer;
        (*list)->newer = p;
    } else {
        *list = p;
    }
    return SEINE_OK;
}

/* Decodes %41 to A, once, from left to right. */
static size_t
unescape(const char *from, size_t n, char *to)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        int high = n - i > 2 ? sn_hex_digit(from[i + 1]) : -1;
        int low = n - i > 2 ? sn_hex_digit(from[i + 2]) : -1;
        bool escape = from[i] == '%' && high >= 0 && low >= 0;

        to[len] = from[i];
        if (escape)
            to[len] = (char)(high << 4 | low);
        len++;
        i += escape ? 2 : 0;
    }
    return len;
}

/* Adds the spellings of the value in forms and URLs. */
static seine_err
add_spellings(const sink *to, sn_str value, char *room)
{
    size_t n = unescape(value.ptr, value.len, room);
    seine_err e = SEINE_OK;

    if (n < value.len && n >= SEINE_SECRET_LEAST)
        e = to->add(to->arg, (sn_str){room, n}, 0, false);
    if (e != SEINE_OK || !memchr(value.ptr, ' ', value.len))
        return e;
    for (size_t i = 0; i < value.len; i++)
        room[i] = value.ptr[i] == ' ' ? '+' : value.ptr[i];
    return to->add(to->arg, (sn_str){room, value.len}, 0, false);
}

/* Adds what base64 makes of the value behind `before` other bytes. A base64 character
 * holds six bits: takes the characters from the first to the last that hold only bits of
 * the value. */
static seine_err
add_coded(const sink *to, sn_str value, size_t before, char *room)
{
    size_t bits = 8 * (before + value.len), first = (8 * before + 5) / 6, end = bits / 6;
    char *text = room + before + value.len;

    memset(room, 0, before);
    memcpy(room + before, value.ptr, value.len);
    sn_base64(room, before + value.len, text);
    return to->add(to->arg, (sn_str){text + first, end - first},
                   (before ? SN_TRIE_LEFT : 0u) | (bits % 6 ? SN_TRIE_RIGHT : 0u), true);
}

/* Adds all spellings but the value itself. */
static seine_err
add_others(const sink *to, sn_str value)
{
    size_t size = value.len + 2 + SN_BASE64_ROOM(value.len + 2);
    char *room = sn_alloc(size);

    if (!room)
        return SEINE_E_NOMEM;
    seine_err e = add_spellings(to, value, room);
    for (size_t before = 0; e == SEINE_OK && before < 3; before++)
        e = add_coded(to, value, before, room);
    seine_wipe(room, size);
    sn_free(room);
    return e;
}

/* Is the value in the set as a whole? */
static bool
is_known(const seine_secrets *s, sn_str value)
{
    uint64_t steps = 0;
    uint32_t at = 0;

    if (s->n == 0)
        return false;
    for (size_t i = value.len; i-- > 0;)
        at = sn_trie_step(&s->plain, at, (uint8_t)value.ptr[i], &steps);
    const sn_trie_node *hit = sn_trie_hit(&s->plain, at);
    return hit && hit->len == value.len && hit->flags & SN_TRIE_WHOLE;
}

seine_err
seine_secrets_add(seine_secrets *s, const char *bytes, size_t n)
{
    if (!s)
        return SEINE_E_INVAL;
    sn_str value = {bytes, n};

    if (n < SEINE_SECRET_LEAST || is_known(s, value))
        return SEINE_OK;
    if (n > SEINE_SECRET_MOST)
        return SEINE_E_RANGE;
    if (s->n == SEINE_SECRETS)
        return SEINE_E_FULL;
    seine_err e = add_others(&(sink){add_to_tries, s}, value);
    /* The whole value comes last: its presence says that all spellings are there. */
    if (e == SEINE_OK)
        e = sn_trie_add(&s->plain, value, SN_TRIE_WHOLE);
    if (e == SEINE_OK)
        s->n++;
    return e;
}

seine_err
seine_secrets_learn(seine_secrets *s, const char *bytes, size_t n)
{
    if (!s)
        return SEINE_E_INVAL;
    sn_recent_pattern *list = NULL;
    sink to = {add_to_list, &list};
    sn_str value = {bytes, n};

    if (n < SEINE_SECRET_LEAST || sn_recent_has(&s->recent, value))
        return SEINE_OK;
    if (n > SEINE_SECRET_MOST)
        return SEINE_E_RANGE;
    seine_err e = to.add(to.arg, value, 0, false);
    if (e == SEINE_OK)
        e = add_others(&to, value);
    if (e == SEINE_OK)
        return sn_recent_give(&s->recent, list);
    sn_recent_drop(list);
    return e;
}

/* "joe:pw": adds the whole, and the part behind the colon. */
static seine_err
add_login(seine_secrets *s, sn_str login)
{
    sn_str name, word;
    seine_err e = seine_secrets_add(s, login.ptr, login.len);

    sn_str_cut(login, ':', &name, &word);
    return e == SEINE_OK ? seine_secrets_add(s, word.ptr, word.len) : e;
}

/* "Bearer abc", "Basic am9lOnB3". */
static seine_err
add_credentials(seine_secrets *s, sn_str value)
{
    sn_str scheme, rest;
    size_t n;

    if (!sn_str_cut(value, ' ', &scheme, &rest))
        return SEINE_OK;
    rest = sn_str_trim(rest);
    seine_err e = seine_secrets_add(s, rest.ptr, rest.len);
    if (e != SEINE_OK || rest.len == 0 || !sn_str_eq_nocase(scheme, SN_STR("Basic")))
        return e;
    char *login = sn_alloc(rest.len);
    if (!login)
        return SEINE_E_NOMEM;
    if (sn_base64_read(rest, login, &n) == SEINE_OK)
        e = add_login(s, (sn_str){login, n});
    seine_wipe(login, rest.len);
    sn_free(login);
    return e;
}

/* "a=1; b=2". */
static seine_err
add_cookies(seine_secrets *s, sn_str value)
{
    sn_str pair, name, word;
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && sn_str_next(&value, ';', &pair)) {
        sn_str_cut(sn_str_trim(pair), '=', &name, &word);
        e = seine_secrets_add(s, word.ptr, word.len);
    }
    return e;
}

seine_err
seine_secrets_add_field(seine_secrets *s, const char *name, size_t name_len,
                        const char *value, size_t value_len)
{
    if (!s)
        return SEINE_E_INVAL;
    sn_str field = {name, name_len}, text = {value, value_len};

    if (!seine_secret_is_field(name, name_len))
        return SEINE_OK;
    seine_err e = seine_secrets_add(s, value, value_len);
    if (e != SEINE_OK)
        return e;
    if (sn_str_eq_nocase(field, SN_STR("Cookie")))
        return add_cookies(s, text);
    if (sn_str_eq_nocase(field, SN_STR("Authorization")) ||
        sn_str_eq_nocase(field, SN_STR("Proxy-Authorization")))
        return add_credentials(s, text);
    return SEINE_OK;
}

bool
seine_secret_is_field(const char *name, size_t n)
{
    static const char *const open[] = {
        "User-Agent",
        "From",
        "Accept",
        "Accept-Language",
        "Accept-Encoding",
        "Host",
        "Connection",
        "Cache-Control",
        "Pragma",
        "Range",
        "Referer",
        "Date",
        "If-Match",
        "If-None-Match",
        "If-Range",
        "If-Modified-Since",
        "If-Unmodified-Since",
    };
    sn_str field = {name, n};

    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (sn_str_eq_nocase(field, sn_str_of(open[i])))
            return false;
    return !sn_str_starts_nocase(field, SN_STR("Content-"));
}
