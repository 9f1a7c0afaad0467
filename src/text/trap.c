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

const char *
sn_trap_shape(sn_str path)
{
    sn_str segments[SN_TRAP_SEGMENTS], segment;
    unsigned n = 0;

    path = bounded(path);
    while (n < SN_TRAP_SEGMENTS && next_segment(&path, &segment)) {
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

/* Patterns. */

typedef struct pattern_writer {
    char *out;
    size_t len;
    size_t id_end; /* behind the last identifier; 0: there is none */
    bool cut, has_path_params;
} pattern_writer;

static void
put_str(pattern_writer *p, sn_str text)
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

/* Letters and digits that nobody would choose: at least 20 with both among them, or at
 * least 6 that change between the two three times or more. */
static bool
is_token(sn_str s)
{
    unsigned changes = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (!sn_is_digit(s.ptr[i]) && !sn_is_alpha(s.ptr[i]))
            return false;
        changes += i > 0 && sn_is_digit(s.ptr[i]) != sn_is_digit(s.ptr[i - 1]);
    }
    return (s.len >= 20 && changes >= 1) || (s.len >= 6 && changes >= 3);
}

/* %C3 is a letter of another script; its digits do not vary. */
static bool
is_escape(sn_str s, size_t at)
{
    return s.ptr[at] == '%' && at + 2 < s.len && sn_hex_digit(s.ptr[at + 1]) >= 0 &&
           sn_hex_digit(s.ptr[at + 2]) >= 0;
}

/* Returns the end of the letters and digits that begin at `at`. */
static size_t
word_end(sn_str s, size_t at)
{
    while (at < s.len && (sn_is_digit(s.ptr[at]) || sn_is_alpha(s.ptr[at])))
        at++;
    return at;
}

/* Writes a word in lower case, each run of digits as one sign. */
static bool
put_word(pattern_writer *p, sn_str s)
{
    bool varies = false;

    for (size_t i = 0; i < s.len; i++) {
        char c = sn_lower(s.ptr[i]);

        if (!sn_is_digit(c)) {
            put_str(p, (sn_str){&c, 1});
        } else if (i == 0 || !sn_is_digit(s.ptr[i - 1])) {
            put_str(p, SN_STR("#"));
            varies = true;
        }
    }
    return varies;
}

/* Every identifier has a digit, and most words have none. */
static bool
has_digit(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (sn_is_digit(s.ptr[i]))
            return true;
    return false;
}

/* Writes the sign of an identifier; false: the text is none. */
static bool
put_identifier(pattern_writer *p, sn_str s)
{
    if (s.len < 6 || !has_digit(s))
        return false;
    bool is_hexadecimal = is_uuid(s) || is_hex(s);

    if (!is_hexadecimal && !is_token(s))
        return false;
    put_str(p, is_hexadecimal ? SN_STR("%x") : SN_STR("%t"));
    p->id_end = p->len;
    return true;
}

/* Writes words and what stands between them. True: a part varies. */
static bool
put_text(pattern_writer *p, sn_str s)
{
    bool varies = false;

    for (size_t i = 0, end; i < s.len; i = end) {
        end = word_end(s, i);
        sn_str word = sn_str_slice(s, i, end);

        if (word.len > 0) {
            varies |=
                is_number(word) || !put_identifier(p, word) ? put_word(p, word) : true;
        } else if (is_escape(s, i)) {
            char escape[3] = {'%', sn_lower(s.ptr[i + 1]), sn_lower(s.ptr[i + 2])};
            put_str(p, (sn_str){escape, 3});
            end = i + 3;
        } else {
            put_str(p, sn_str_slice(s, i, i + 1));
            end = i + 1;
        }
    }
    return varies;
}

/* Writes the names of the path parameters of a segment: ";jsessionid". */
static void
put_path_params(pattern_writer *p, sn_str params)
{
    sn_str one;

    while (sn_str_next(&params, ';', &one)) {
        put_str(p, SN_STR(";"));
        put_word(p, sn_str_slice(one, 0, sn_str_find(one, '=')));
        p->has_path_params = true;
    }
}

/* Writes a segment; true if its pattern stands for many. */
static bool
put_segment(pattern_writer *p, sn_str s)
{
    size_t end = sn_str_find(s, ';');
    sn_str text = sn_str_slice(s, 0, end);
    bool varies = true;

    if (is_number(text))
        put_str(p, SN_STR("#"));
    else if (!put_identifier(p, text))
        varies = put_text(p, text);
    if (end < s.len)
        put_path_params(p, sn_str_slice(s, end + 1, s.len));
    return varies || end < s.len;
}

/* Takes the next parameter; false at the end. A semicolon separates as well. */
static bool
next_param(sn_str *query, sn_str *out_name, sn_str *out_value)
{
    while (query->len > 0) {
        size_t end = 0;

        while (end < query->len && query->ptr[end] != '&' && query->ptr[end] != ';')
            end++;
        sn_str part = sn_str_slice(*query, 0, end);
        *query = sn_str_slice(*query, end + (end < query->len), query->len);
        if (part.len > 0) {
            end = sn_str_find(part, '=');
            *out_name = sn_str_slice(part, 0, end);
            *out_value = sn_str_slice(part, end + (end < part.len), part.len);
            return true;
        }
    }
    return false;
}

/* Does the parameter carry a session? By its name, or by a value like an identifier. */
static bool
is_session(sn_str name, sn_str value)
{
    static const char word[] = "sess";

    if (name.len >= 3 &&
        sn_str_eq_nocase(sn_str_slice(name, name.len - 3, name.len), SN_STR("sid")))
        return true;
    for (size_t i = 0; i + 4 <= name.len; i++)
        if (sn_str_eq_nocase(sn_str_slice(name, i, i + 4), sn_str_of(word)))
            return true;
    return is_uuid(value) || is_token(value) || (is_hex(value) && !is_number(value));
}

/* Writes "?name" of one parameter, "?*" of more. */
static void
put_query(pattern_writer *p, sn_str query, sn_trap_kind *kind)
{
    sn_str name, value, first = {0};

    while (next_param(&query, &name, &value)) {
        if (kind->params++ == 0)
            first = name;
        if (!kind->session.ptr && is_session(name, value))
            kind->session = name;
    }
    put_str(p, SN_STR("?"));
    put_str(p, kind->params > 1 ? SN_STR("*") : first);
}

size_t
sn_trap_pattern(sn_str path, sn_str query, char out[SN_TRAP_ROOM], sn_trap_kind *out_kind)
{
    pattern_writer p = {.out = out};
    sn_str segment;
    unsigned n = 0;

    *out_kind = (sn_trap_kind){.varies = query.len > 0};
    path = bounded(path);
    while (n < SN_TRAP_SHOWN && next_segment(&path, &segment)) {
        put_str(&p, SN_STR("/"));
        out_kind->varies |= put_segment(&p, segment);
        n++;
    }
    if (path.len > 0) {
        put_str(&p, SN_STR("/**"));
        out_kind->varies = true;
    }
    if (query.len > 0)
        put_query(&p, bounded(query), out_kind);
    if (p.cut) {
        memcpy(out + p.len, "**", 2);
        p.len += 2;
        out_kind->varies = true;
    }
    out_kind->id_end = p.id_end;
    out_kind->has_path_params = p.has_path_params;
    return p.len;
}

/* Families. */

/* Writes one of the names of a family: "/" "**?" and the name. */
static size_t
write_family(char *out, sn_str head, sn_str tail)
{
    size_t n = tail.len < SN_TRAP_ROOM / 2 ? tail.len : SN_TRAP_ROOM / 2;

    if (head.len > 0)
        memcpy(out, head.ptr, head.len);
    if (n > 0)
        memcpy(out + head.len, tail.ptr, n);
    return head.len + n;
}

sn_trap_family
sn_trap_family_of(sn_str path, sn_str pattern, const sn_trap_kind *kind,
                  char out[SN_TRAP_ROOM], size_t *out_len)
{
    size_t query = sn_str_find(pattern, '?');
    sn_trap_family family = SN_TRAP_DEVICE;

    if (sn_trap_shape(path)) {
        *out_len = write_family(out, SN_STR("/**/"), (sn_str){0});
        family = SN_TRAP_SHAPE;
    } else if (kind->has_path_params) {
        size_t at = sn_str_find(pattern, ';');
        *out_len = write_family(out, SN_STR("/**"), sn_str_slice(pattern, at, query));
    } else if (kind->session.ptr) {
        *out_len = write_family(out, SN_STR("/**?"), kind->session);
    } else if (kind->id_end > 0 && kind->id_end <= query) {
        bool is_last = kind->id_end == query;
        *out_len =
            write_family(out, is_last ? SN_STR("/**/%") : (sn_str){0},
                         is_last ? (sn_str){0} : sn_str_slice(pattern, 0, kind->id_end));
    } else if (query < pattern.len) {
        *out_len =
            write_family(out, SN_STR("/**"), sn_str_slice(pattern, query, pattern.len));
    } else {
        *out_len = write_family(out, SN_STR("/**"), (sn_str){0});
        family = SN_TRAP_WORDS;
    }
    return family;
}

/* Excess. */

static unsigned
count_segments(sn_str path)
{
    sn_str segment;
    unsigned n = 0;

    while (next_segment(&path, &segment))
        n += segment.len > 0 || path.len > 0; /* a trailing slash is none */
    return n;
}

/* Counts how often the most frequent of the first names stands in the query. */
static unsigned
count_same(sn_str query)
{
    sn_str names[SN_TRAP_PARAMS], name, value;
    unsigned times[SN_TRAP_PARAMS] = {0}, n = 0, most = 0;

    while (next_param(&query, &name, &value)) {
        unsigned i = 0;

        while (i < n && !sn_str_eq(names[i], name))
            i++;
        if (i == SN_TRAP_PARAMS)
            break;
        if (i == n)
            names[n++] = name;
        if (++times[i] > most)
            most = times[i];
    }
    return most;
}

static sn_trap_excess
excess_of(unsigned n, unsigned most)
{
    return n > most ? SN_TRAP_OVER : n > most * 3 / 4 ? SN_TRAP_NEAR : SN_TRAP_WITHIN;
}

sn_trap_excess
sn_trap_excess_of(sn_str path, sn_str query, const sn_trap_kind *kind)
{
    sn_trap_excess excess = excess_of(count_segments(bounded(path)), SN_TRAP_SEGMENTS);
    sn_trap_excess params = excess_of(kind->params, SN_TRAP_PARAMS);
    sn_trap_excess same = kind->params > SN_TRAP_SAME_NAME / 2
                              ? excess_of(count_same(bounded(query)), SN_TRAP_SAME_NAME)
                              : SN_TRAP_WITHIN;

    if (params > excess)
        excess = params;
    return same > excess ? same : excess;
}

/* The rest of a URL without its session. */

static uint64_t
add_bytes(uint64_t hash, sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        hash = (hash ^ (unsigned char)s.ptr[i]) * UINT64_C(0x100000001b3);
    return (hash ^ 0x1f) *
           UINT64_C(0x100000001b3); /* an end, so that "a" "b" is not "ab" */
}

static bool
is_identifier(sn_str word)
{
    return has_digit(word) &&
           (is_uuid(word) || is_token(word) || (is_hex(word) && !is_number(word)));
}

/* Adds a segment without its identifiers and parameters. */
static uint64_t
add_segment(uint64_t hash, sn_str segment)
{
    sn_str s = sn_str_slice(segment, 0, sn_str_find(segment, ';'));

    if (is_identifier(s))
        return add_bytes(hash, (sn_str){0});
    for (size_t i = 0, end; i < s.len; i = end) {
        end = word_end(s, i);
        end += end == i;
        sn_str part = sn_str_slice(s, i, end);
        if (!is_identifier(part))
            hash = add_bytes(hash, part);
    }
    return add_bytes(hash, SN_STR("/"));
}

static uint64_t
hash_path(sn_str path)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    sn_str segment;

    while (next_segment(&path, &segment))
        hash = add_segment(hash, segment);
    return hash;
}

/* Adds the parameters without sessions, and without the one of number `but`. */
static uint64_t
hash_params(uint64_t hash, sn_str query, unsigned but)
{
    sn_str name, value;

    for (unsigned i = 0; next_param(&query, &name, &value); i++)
        if (i != but && !is_session(name, value))
            hash = add_bytes(add_bytes(hash, name), value);
    return hash | 1;
}

/* One for each parameter: the URL without it. */
static unsigned
split_params(uint64_t path, sn_str query, sn_trap_residue out[SN_TRAP_RESIDUES])
{
    sn_str rest = query, name, value;
    unsigned n = 0;

    while (n < SN_TRAP_RESIDUES && next_param(&rest, &name, &value)) {
        out[n] = (sn_trap_residue){add_bytes(1, name), hash_params(path, query, n)};
        n++;
    }
    return n;
}

unsigned
sn_trap_residues(sn_str path, sn_str query, const sn_trap_kind *kind,
                 sn_trap_residue out[SN_TRAP_RESIDUES])
{
    bool has_session = kind->session.ptr || kind->id_end > 0 || kind->has_path_params;

    query = bounded(query);
    if (kind->params == 0 && !has_session)
        return 0;
    uint64_t hash = hash_path(bounded(path));
    if (!has_session && kind->params > 1)
        return split_params(hash, query, out);
    if (has_session)
        hash = hash_params(hash, query, UINT32_MAX);
    out[0] = (sn_trap_residue){2, hash | 1};
    return 1;
}

bool
sn_trap_segment(sn_str path, unsigned depth, sn_trap_child *out)
{
    uint64_t before = UINT64_C(0xcbf29ce484222325);
    sn_str segment;

    path = bounded(path);
    for (unsigned i = 0; i < depth; i++) {
        if (!next_segment(&path, &segment))
            return false;
        before = add_bytes(before, segment);
    }
    if (!next_segment(&path, &segment) || path.len < 2)
        return false;
    out->parent = add_bytes(before, SN_STR("dir")) | 1;
    out->child = add_bytes(before, segment);
    out->behind = path;
    return true;
}

/* Bytes of a sign that joins names at `at`; 0: there is none. */
static size_t
joint_at(sn_str s, size_t at)
{
    char c = s.ptr[at];

    if (c == '/' || c == '+' || c == ',')
        return 1;
    return is_escape(s, at) && s.ptr[at + 1] == '2' &&
                   (sn_lower(s.ptr[at + 2]) == 'b' || sn_lower(s.ptr[at + 2]) == 'c')
               ? 3
               : 0;
}

unsigned
sn_trap_names(sn_str path, uint64_t out[SN_TRAP_SEGMENTS])
{
    unsigned n = 0;

    path = bounded(path);
    for (size_t at = 0, end; at < path.len && n < SN_TRAP_SEGMENTS; at = end) {
        unsigned i = 0;

        for (end = at; end < path.len && joint_at(path, end) == 0;)
            end++;
        out[n] = add_bytes(UINT64_C(0xcbf29ce484222325), sn_str_slice(path, at, end));
        while (out[i] != out[n])
            i++;
        n += i == n && end > at;
        end += end < path.len ? joint_at(path, end) : 0;
    }
    return n;
}

sn_trap_residue
sn_trap_unordered(sn_str path)
{
    uint64_t names[SN_TRAP_SEGMENTS], sum = 0;
    unsigned n = sn_trap_names(path, names);

    for (unsigned i = 0; i < n; i++)
        sum += names[i] * names[i];
    return (sn_trap_residue){3, sum | 1};
}

sn_trap_residue
sn_trap_without(const sn_trap_child *c)
{
    return (sn_trap_residue){c->parent, (hash_path(c->behind) ^ c->parent) | 1};
}
