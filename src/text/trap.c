/* SPDX-License-Identifier: Apache-2.0 */
#include "text/trap.h"

#include <string.h>

enum { LOOKED_AT = 8 << 10, ROUND = 4 };

static sn_str
bounded(sn_str s)
{
    return sn_str_slice(s, 0, s.len < LOOKED_AT ? s.len : LOOKED_AT);
}

/* Takes the next segment after a slash; false at the end. */
static bool
next_segment(sn_str *path, sn_str *out_segment)
{
    if (path->len == 0)
        return false;
    sn_str rest = sn_str_slice(*path, 1, path->len);
    size_t end = sn_str_find(rest, '/');

    *out_segment = sn_str_slice(rest, 0, end);
    *path = sn_str_slice(rest, end, rest.len);
    return true;
}

/* Counts how often in a row the last `n` segments stand at the end. */
static unsigned
rounds(const sn_str *segments, unsigned count, unsigned n)
{
    unsigned times = 1;

    for (unsigned at = count; at >= 2 * n; at -= n, times++)
        for (unsigned i = 0; i < n; i++)
            if (!sn_str_eq(segments[at - 1 - i], segments[at - 1 - n - i]))
                return times;
    return times;
}

static unsigned
same(const sn_str *segments, unsigned count)
{
    unsigned times = 0;

    for (unsigned i = 0; i < count; i++)
        times += sn_str_eq(segments[i], segments[count - 1]);
    return times;
}

static const char *
path_shape(sn_str path)
{
    sn_str segments[SN_TRAP_SEGMENTS], segment;
    unsigned n = 0, all = 0;

    while (next_segment(&path, &segment)) {
        if (segment.len == 0 && path.len == 0) /* the trailing slash */
            break;
        if (++all > SN_TRAP_SEGMENTS)
            return "more than 32 path segments";
        if (segment.len == 0) /* empty segments do not count as repetition */
            continue;
        segments[n++] = segment;
        if (same(segments, n) >= SN_TRAP_SAME)
            return "a path segment 4 times";
        for (unsigned run = 1; run <= ROUND; run++)
            if (rounds(segments, n, run) >= SN_TRAP_ROUNDS)
                return "a path that goes round 3 times";
    }
    return NULL;
}

/* Takes the name of the next parameter; false at the end. */
static bool
next_name(sn_str *query, sn_str *out_name)
{
    sn_str part;

    while (query->len > 0) {
        size_t end = sn_str_find(*query, '&');
        part = sn_str_slice(*query, 0, end);
        *query = sn_str_slice(*query, end + (end < query->len), query->len);
        if (part.len > 0) {
            *out_name = sn_str_slice(part, 0, sn_str_find(part, '='));
            return true;
        }
    }
    return false;
}

/* Collects the different names and counts the most frequent one. Returns `room` + 1 if
 * there are more than `room` names. */
static uint32_t
read_names(sn_str query, sn_str *names, uint32_t room, uint32_t *out_all,
           uint32_t *out_most)
{
    uint32_t times[SN_TRAP_PARAMS + 1] = {0}, n = 0;
    sn_str name;

    *out_all = *out_most = 0;
    while (next_name(&query, &name)) {
        uint32_t i = 0;

        while (i < n && !sn_str_eq(names[i], name))
            i++;
        if (i == room)
            return room + 1;
        if (i == n)
            names[n++] = name;
        ++*out_all;
        if (++times[i] > *out_most)
            *out_most = times[i];
    }
    return n;
}

const char *
sn_trap_shape(sn_str path, sn_str query)
{
    sn_str names[SN_TRAP_PARAMS];
    uint32_t all, most;
    uint32_t n = read_names(bounded(query), names, SN_TRAP_PARAMS, &all, &most);

    if (n <= SN_TRAP_PARAMS && most > SN_TRAP_NAME)
        return "a query parameter more than 8 times";
    if (n > SN_TRAP_PARAMS || all > SN_TRAP_PARAMS)
        return "more than 32 query parameters";
    return path_shape(bounded(path));
}

/* Patterns. */

typedef struct pen {
    char *out;
    size_t len;
    bool cut;
} pen;

static void
put_str(pen *p, sn_str text)
{
    if (p->cut || p->len + text.len > SN_TRAP_ROOM - 3) {
        p->cut = true;
        return;
    }
    if (text.len > 0)
        memcpy(p->out + p->len, text.ptr, text.len);
    p->len += text.len;
}

static bool
is_joint(char c)
{
    return c == '-' || c == '_' || c == '.' || c == ':';
}

/* 2026, 2026-11-15, 1.2.3: digits, alone or joined. */
static bool
is_number(sn_str s)
{
    bool digit = false;

    for (size_t i = 0; i < s.len; i++) {
        if (!sn_is_digit(s.ptr[i]) && !(digit && is_joint(s.ptr[i])))
            return false;
        digit = sn_is_digit(s.ptr[i]);
    }
    return digit;
}

static bool
is_uuid(sn_str s)
{
    static const char form[] = "00000000-0000-0000-0000-000000000000";

    if (s.len != sizeof form - 1)
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (form[i] == '-' ? s.ptr[i] != '-' : sn_hex_digit(s.ptr[i]) < 0)
            return false;
    return true;
}

/* At least eight hexadecimal digits, one of them a decimal digit. */
static bool
is_hex(sn_str s)
{
    bool digit = false;

    for (size_t i = 0; i < s.len; i++) {
        if (sn_hex_digit(s.ptr[i]) < 0)
            return false;
        digit = digit || sn_is_digit(s.ptr[i]);
    }
    return s.len >= 8 && digit;
}

/* At least 20 letters and digits, with both among them. */
static bool
is_token(sn_str s)
{
    bool digit = false, letter = false;

    for (size_t i = 0; i < s.len; i++) {
        if (sn_is_digit(s.ptr[i]))
            digit = true;
        else if (sn_is_alpha(s.ptr[i]))
            letter = true;
        else
            return false;
    }
    return s.len >= 20 && digit && letter;
}

/* Writes in lower case, runs of digits as one sign. True if there was a run. */
/* %C3 is a letter of another script; its digits do not vary. */
static bool
is_escape(sn_str s, size_t at)
{
    return s.ptr[at] == '%' && at + 2 < s.len && sn_hex_digit(s.ptr[at + 1]) >= 0 &&
           sn_hex_digit(s.ptr[at + 2]) >= 0;
}

static bool
ends_escape(sn_str s, size_t at)
{
    return at >= 2 && is_escape(s, at - 2);
}

static bool
put_text(pen *p, sn_str s)
{
    bool varies = false;

    for (size_t i = 0; i < s.len; i++) {
        char c = sn_lower(s.ptr[i]);

        if (is_escape(s, i)) {
            char escape[3] = {'%', sn_lower(s.ptr[i + 1]), sn_lower(s.ptr[i + 2])};
            put_str(p, (sn_str){escape, 3});
            i += 2;
        } else if (!sn_is_digit(c)) {
            put_str(p, (sn_str){&c, 1});
        } else if (i == 0 || !sn_is_digit(s.ptr[i - 1]) || ends_escape(s, i - 1)) {
            put_str(p, SN_STR("#"));
            varies = true;
        }
    }
    return varies;
}

/* Writes a segment; true if its pattern stands for many. */
static bool
put_segment(pen *p, sn_str s)
{
    if (is_number(s))
        put_str(p, SN_STR("#"));
    else if (is_uuid(s) || is_hex(s))
        put_str(p, SN_STR("%x"));
    else if (is_token(s))
        put_str(p, SN_STR("%t"));
    else
        return put_text(p, s);
    return true;
}

static void
sort(sn_str *names, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        sn_str name = names[i];
        uint32_t at = i;

        for (; at > 0 && sn_str_cmp(name, names[at - 1]) < 0; at--)
            names[at] = names[at - 1];
        names[at] = name;
    }
}

static uint32_t
put_query(pen *p, sn_str query)
{
    sn_str names[SN_TRAP_PARAMS];
    uint32_t all, most;
    uint32_t n = read_names(query, names, SN_TRAP_PARAMS, &all, &most);
    uint32_t shown = n < SN_TRAP_PARAMS ? n : SN_TRAP_PARAMS;

    sort(names, shown);
    for (uint32_t i = 0; i < shown; i++) {
        put_str(p, i == 0 ? SN_STR("?") : SN_STR("&"));
        put_str(p, names[i]);
    }
    return n;
}

size_t
sn_trap_pattern(sn_str path, sn_str query, char out[SN_TRAP_ROOM], sn_trap_kind *out_kind)
{
    pen p = {.out = out};
    sn_str segment;
    unsigned n = 0;

    *out_kind = (sn_trap_kind){false, 0};
    path = bounded(path);
    query = bounded(query);
    while (n < SN_TRAP_SHOWN && next_segment(&path, &segment)) {
        put_str(&p, SN_STR("/"));
        out_kind->varies |= put_segment(&p, segment);
        n++;
    }
    if (path.len > 0) {
        put_str(&p, SN_STR("/**"));
        out_kind->varies = true;
    }
    out_kind->params = put_query(&p, query);
    out_kind->varies |= query.len > 0;
    if (p.cut) {
        memcpy(out + p.len, "**", 2);
        p.len += 2;
        out_kind->varies = true;
    }
    return p.len;
}
