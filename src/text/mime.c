/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/mime.h"

#include <string.h>

#include "base/str.h"

/* White space of HTTP: HTML's without the form feed. */
static bool
is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* RFC 9110, 5.6.2. */
static bool
is_token_char(char c)
{
    return sn_is_alpha(c) || sn_is_digit(c) ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool
is_token(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!is_token_char(s.ptr[i]))
            return false;
    return s.len > 0;
}

/* True if a quoted value may hold these bytes. */
static bool
is_value(sn_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c != '\t' && (c < ' ' || c == 0x7f))
            return false;
    }
    return true;
}

static sn_str
trim_end(sn_str s)
{
    while (s.len > 0 && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

static sn_str
trim_start(sn_str s)
{
    while (s.len > 0 && is_blank(s.ptr[0]))
        s = sn_str_slice(s, 1, s.len);
    return s;
}

void
seine_mime_init(seine_mime *m, char *mem, size_t size)
{
    if (!m)
        return;
    memset(m, 0, sizeof *m);
    m->mem = mem;
    m->room = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    if (m->room > 0)
        mem[0] = '\0';
}

/* Appends a byte; the caller made sure of room. */
static void
add_char(seine_mime *m, char c)
{
    m->mem[m->len++] = c;
}

static void
add_lower(seine_mime *m, sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        add_char(m, sn_lower(s.ptr[i]));
    add_char(m, '\0');
}

/* Takes bytes up to `a` or `b`, which stays in the rest; `b` may be '\0' for none. */
static sn_str
take_until(sn_str *rest, char a, char b)
{
    size_t n = 0;

    while (n < rest->len && rest->ptr[n] != a && (b == '\0' || rest->ptr[n] != b))
        n++;
    sn_str s = sn_str_slice(*rest, 0, n);
    *rest = sn_str_slice(*rest, n, rest->len);
    return s;
}

/* Copies a quoted string; the rest begins with its opening quote. */
static void
take_quoted(seine_mime *m, sn_str *rest)
{
    size_t i = 1;

    for (; i < rest->len && rest->ptr[i] != '"'; i++) {
        if (rest->ptr[i] == '\\' && i + 1 < rest->len)
            i++;
        add_char(m, rest->ptr[i]);
    }
    *rest = sn_str_slice(*rest, i, rest->len);
    take_until(rest, ';', '\0');
}

static sn_str
text_at(const seine_mime *m, uint32_t from, uint32_t to)
{
    return (sn_str){m->mem + from, to - from};
}

static bool
is_there(const seine_mime *m, sn_str name)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (sn_str_eq(text_at(m, m->params[i].name, m->params[i].value - 1), name))
            return true;
    return false;
}

/* Reads one parameter after its semicolon; removes it again if it is invalid. */
static void
take_param(seine_mime *m, sn_str *rest)
{
    uint32_t start = m->len;

    *rest = trim_start(*rest);
    sn_str name = take_until(rest, ';', '=');
    if (rest->len < 2 || rest->ptr[0] == ';')
        return;
    *rest = sn_str_slice(*rest, 1, rest->len);
    add_lower(m, name);
    uint32_t value = m->len;
    bool quoted = rest->ptr[0] == '"';
    if (quoted) {
        take_quoted(m, rest);
    } else {
        sn_str s = trim_end(take_until(rest, ';', '\0'));

        for (size_t i = 0; i < s.len; i++)
            add_char(m, s.ptr[i]);
    }
    uint32_t end = m->len;
    add_char(m, '\0');
    if ((!quoted && value == end) || !is_token(name) ||
        !is_value(text_at(m, value, end)) || is_there(m, text_at(m, start, value - 1))) {
        m->len = start;
        return;
    }
    m->params[m->count].name = start;
    m->params[m->count].value = value;
    m->params[m->count++].end = end;
}

seine_err
seine_mime_parse(seine_mime *m, const char *value, size_t len)
{
    if (!m)
        return SEINE_E_INVAL;
    sn_str rest = trim_end(trim_start((sn_str){value, len}));

    seine_mime_init(m, m->mem, m->room);
    if (m->room == 0)
        return SEINE_E_INVAL;
    if (rest.len >= m->room - 1)
        return SEINE_E_RANGE;
    sn_str type = take_until(&rest, '/', '\0');
    if (!is_token(type) || rest.len == 0)
        return SEINE_E_PARSE;
    rest = sn_str_slice(rest, 1, rest.len);
    sn_str subtype = trim_end(take_until(&rest, ';', '\0'));
    if (!is_token(subtype))
        return SEINE_E_PARSE;
    add_lower(m, type);
    m->mem[m->len - 1] = '/';
    m->slash = m->len - 1;
    add_lower(m, subtype);
    m->essence = m->len - 1;
    while (rest.len > 0 && m->count < SEINE_MIME_PARAMS) {
        rest = sn_str_slice(rest, 1, rest.len);
        take_param(m, &rest);
    }
    return SEINE_OK;
}

static seine_view
part(const seine_mime *m, uint32_t from, uint32_t to)
{
    return (seine_view){to > 0 ? m->mem + from : "", to - from};
}

seine_view
seine_mime_essence(const seine_mime *m)
{
    if (!m)
        return (seine_view){0};
    return part(m, 0, m->essence);
}

seine_view
seine_mime_type(const seine_mime *m)
{
    if (!m)
        return (seine_view){0};
    return part(m, 0, m->slash);
}

seine_view
seine_mime_subtype(const seine_mime *m)
{
    if (!m)
        return (seine_view){0};
    return part(m, m->essence > 0 ? m->slash + 1 : 0, m->essence);
}

bool
seine_mime_is(const seine_mime *m, const char *essence)
{
    if (!m || !essence)
        return false;
    return strcmp(seine_mime_essence(m).ptr, essence) == 0;
}

size_t
seine_mime_count(const seine_mime *m)
{
    if (!m)
        return 0;
    return m->count;
}

bool
seine_mime_param(const seine_mime *m, size_t i, seine_view *out_name,
                 seine_view *out_value)
{
    if (!m)
        return false;
    if (i >= m->count)
        return false;
    *out_name = part(m, m->params[i].name, m->params[i].value - 1);
    *out_value = part(m, m->params[i].value, m->params[i].end);
    return true;
}

bool
seine_mime_get(const seine_mime *m, const char *name, seine_view *out_value)
{
    if (!m)
        return false;
    for (uint32_t i = 0; i < m->count; i++)
        if (strcmp(m->mem + m->params[i].name, name) == 0) {
            *out_value = part(m, m->params[i].value, m->params[i].end);
            return true;
        }
    return false;
}

seine_view
seine_mime_charset(const seine_mime *m)
{
    if (!m)
        return (seine_view){0};
    seine_view value = {"", 0};

    seine_mime_get(m, "charset", &value);
    return value;
}

/* An output like snprintf's: writes what fits and counts everything. */
typedef struct sheet {
    char *out;
    size_t size, len;
} sheet;

static void
put_char(sheet *s, char c)
{
    if (s->len + 1 < s->size)
        s->out[s->len] = c;
    s->len++;
}

static void
put_all(sheet *s, seine_view p)
{
    for (size_t i = 0; i < p.len; i++)
        put_char(s, p.ptr[i]);
}

static void
put_value(sheet *s, seine_view value)
{
    if (is_token(value)) {
        put_all(s, value);
        return;
    }
    put_char(s, '"');
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] == '"' || value.ptr[i] == '\\')
            put_char(s, '\\');
        put_char(s, value.ptr[i]);
    }
    put_char(s, '"');
}

size_t
seine_mime_print(const seine_mime *m, char *out, size_t size)
{
    if (!m)
        return 0;
    sheet s = {out, size, 0};
    seine_view name, value;

    put_all(&s, seine_mime_essence(m));
    for (size_t i = 0; seine_mime_param(m, i, &name, &value); i++) {
        put_char(&s, ';');
        put_all(&s, name);
        put_char(&s, '=');
        put_value(&s, value);
    }
    if (size > 0)
        out[s.len < size ? s.len : size - 1] = '\0';
    return s.len;
}
