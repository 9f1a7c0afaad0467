/* SPDX-License-Identifier: Apache-2.0 */
#include "text/xml.h"

#include <string.h>

/* The states of the reader. */
enum {
    OUTSIDE, /* text, or between elements */
    ANGLE,   /* behind "<" */
    MARK,    /* behind "<!" */
    COMMENT,
    CDATA,
    INSTRUCTION, /* behind "<?" */
    DOCTYPE,
    NAME,        /* of a tag that opens */
    TAG,         /* inside of it, between attributes */
    SLASH,       /* behind "/" in it */
    ATTR,        /* the name of an attribute */
    ATTR_BEHIND, /* and blanks behind it */
    EQUALS,      /* before a value */
    QUOTED,      /* a value */
    BARE,        /* a value without quotes */
    END_NAME,    /* behind "</" */
    END_BEHIND,
    REF /* behind "&" */
};

void
sn_xml_init(sn_xml *x, sn_xml_fn fn, void *arg)
{
    x->fn = fn;
    x->arg = arg;
    x->err = x->late = SEINE_OK;
    x->flaw = NULL;
    x->line = 1;
    x->flaw_line = x->steps = 0;
    x->state = x->after = OUTSIDE;
    x->quote = '\0';
    x->seen = x->depth = x->kept = x->strays = 0;
    x->wants_attrs = x->is_over = false;
    x->n_name = x->n_ref = 0;
    x->n_text = x->n_value = 0;
}

/* Notes an error that the reader tolerates. */
static void
grumble(sn_xml *x, const char *flaw)
{
    if (!x->flaw) {
        x->flaw = flaw;
        x->flaw_line = x->line;
    }
    x->late = SEINE_E_BAD_XML;
}

static void
fail_page(sn_xml *x, const char *flaw)
{
    grumble(x, flaw);
    x->err = SEINE_E_BAD_XML;
}

/* Hashes eight bytes at a time. A collision only makes an attacker's own file read
 * wrong. */
static uint64_t
hash_of(sn_str s)
{
    uint64_t h = s.len, word;

    for (; s.len > 0; s = sn_str_slice(s, 8, s.len)) {
        word = 0;
        memcpy(&word, s.ptr, s.len < 8 ? s.len : 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h;
}

static sn_xml_answer
tell_event(sn_xml *x, sn_xml_event *e)
{
    e->depth = x->depth;
    e->parent = x->depth > 1 ? x->open[x->depth - 2].role : 0;
    sn_xml_answer a = x->fn(e, x->arg);
    x->is_over |= a.stop;
    return a;
}

/* Splits the name into prefix and local name. */
static void
split(const sn_xml *x, sn_xml_event *e)
{
    sn_str all = {x->name, x->n_name};

    if (!sn_str_cut(all, ':', &e->prefix, &e->name)) {
        e->name = all;
        e->prefix = (sn_str){x->name, 0};
    }
}

static void
open_element(sn_xml *x)
{
    sn_xml_event e = {.what = SN_XML_OPEN};

    if (x->depth == SN_XML_DEPTH) {
        fail_page(x, "more than 64 elements are open");
        return;
    }
    x->open[x->depth++] = (sn_xml_level){hash_of((sn_str){x->name, x->n_name}), 0};
    x->steps += x->n_name;
    split(x, &e);
    sn_xml_answer a = tell_event(x, &e);
    x->open[x->depth - 1].role = a.role;
    x->wants_attrs = a.attrs;
    if (a.text && x->kept == 0) {
        x->kept = x->depth;
        x->n_text = 0;
    }
}

static void
close_element(sn_xml *x)
{
    sn_xml_event e = {.what = SN_XML_CLOSE, .role = x->open[x->depth - 1].role};

    x->steps++;
    if (x->kept == x->depth) {
        e.value = (sn_str){x->text, x->n_text};
        x->kept = 0;
    }
    tell_event(x, &e);
    x->depth--;
    x->is_over |= x->depth == 0;
}

/* Closes the elements inside the named one. Each element is closed once, so that is
 * linear; an end tag that matches nothing scans all open elements, so SN_XML_STRAYS
 * limits such tags. */
static void
close_named(sn_xml *x)
{
    uint64_t hash = hash_of((sn_str){x->name, x->n_name});
    unsigned fits = x->depth;

    x->steps += x->n_name;
    for (; fits > 0 && x->open[fits - 1].hash != hash; fits--)
        x->steps++;
    if (fits == 0) {
        grumble(x, "an end tag without its start");
        if (++x->strays > SN_XML_STRAYS)
            fail_page(x, "an end tag without its start");
        return;
    }
    if (fits < x->depth)
        grumble(x, "an element is not closed");
    while (x->depth >= fits && !x->is_over)
        close_element(x);
}

static void
end_attr(sn_xml *x)
{
    sn_xml_event e = {.what = SN_XML_ATTR, .value = {x->value, x->n_value}};

    if (!x->wants_attrs)
        return;
    e.role = x->open[x->depth - 1].role;
    split(x, &e);
    tell_event(x, &e);
}

/* Counts the lines of `s`. */
static void
pass(sn_xml *x, sn_str s)
{
    const char *end = s.ptr + s.len;

    for (const char *p = s.ptr; s.len > 0 && (p = memchr(p, '\n', (size_t)(end - p)));
         p++)
        x->line++;
}

static bool
is_text(unsigned state)
{
    return state == OUTSIDE || state == CDATA;
}

/* True if the bytes of this state are wanted. */
static bool
is_kept(const sn_xml *x, unsigned state)
{
    return is_text(state) ? x->kept > 0 && x->kept == x->depth : x->wants_attrs;
}

/* Appends bytes of a wanted text or value. */
static void
keep_bytes(sn_xml *x, unsigned state, sn_str s)
{
    size_t *n = is_text(state) ? &x->n_text : &x->n_value;
    char *to = is_text(state) ? x->text : x->value;

    if (s.len > SN_XML_TEXT - *n) {
        pass(x, sn_str_slice(s, 0, SN_XML_TEXT - *n));
        fail_page(x, is_text(state) ? "a text of more than 8 KiB"
                                    : "a value of more than 8 KiB");
        return;
    }
    if (s.len > 0)
        memcpy(to + *n, s.ptr, s.len);
    *n += s.len;
}

static void
keep_if(sn_xml *x, unsigned state, sn_str s)
{
    if (is_kept(x, state))
        keep_bytes(x, state, s);
}

/* Appends a run of bytes and counts its lines. */
static void
keep_run(sn_xml *x, unsigned state, sn_str s)
{
    keep_if(x, state, s);
    if (x->depth == 0) {
        sn_str rest = sn_str_trim(s);

        if (rest.len > 0) {
            pass(x, (sn_str){s.ptr, (size_t)(rest.ptr - s.ptr)});
            fail_page(x, "text before the first element");
        }
    }
    if (x->err == SEINE_OK)
        pass(x, s);
}

static bool
starts_name(char c)
{
    return sn_is_alpha(c) || c == '_' || c == ':' || (unsigned char)c >= 0x80;
}

/* Takes the bytes of a name; true at the byte after its end, which stays in `in`. */
static bool
take_name(sn_xml *x, sn_str *in)
{
    static const bool ends[256] = {
        [' '] = true, ['\t'] = true, ['\n'] = true, ['\r'] = true,
        ['/'] = true, ['>'] = true,  ['='] = true,  ['<'] = true,
        ['"'] = true, ['\''] = true, ['\f'] = true, ['&'] = true};
    size_t n = 0;

    while (n < in->len && !ends[(unsigned char)in->ptr[n]])
        n++;
    x->steps += n;
    if (n > (size_t)(SN_XML_NAME - x->n_name)) {
        fail_page(x, "a name of more than 256 bytes");
        return false;
    }
    memcpy(x->name + x->n_name, in->ptr, n);
    x->n_name = (uint16_t)(x->n_name + n);
    *in = sn_str_slice(*in, n, in->len);
    return in->len > 0;
}

static char
next_byte(sn_xml *x, sn_str *in)
{
    char c = *in->ptr;

    x->steps++;
    x->line += c == '\n';
    in->ptr++;
    in->len--;
    return c;
}

/* Takes everything before the first `a`, and before the first & with `refs`. Both are
 * searched in one pass, else many & would make the work quadratic. */
static sn_str
take_run(sn_xml *x, sn_str *in, char a, bool refs)
{
    size_t n = 0;

    if (refs) {
        while (n < in->len && in->ptr[n] != a && in->ptr[n] != '&')
            n++;
    } else {
        const char *end = memchr(in->ptr, a, in->len);

        n = end ? (size_t)(end - in->ptr) : in->len;
    }
    sn_str taken = {in->ptr, n};
    x->steps += n;
    *in = sn_str_slice(*in, n, in->len);
    return taken;
}

static void
begin_ref(sn_xml *x, sn_str *in)
{
    next_byte(x, in);
    x->after = x->state;
    x->state = REF;
    x->n_ref = 0;
}

static void
outside(sn_xml *x, sn_str *in)
{
    keep_run(x, OUTSIDE, take_run(x, in, '<', is_kept(x, OUTSIDE)));
    if (in->len == 0 || x->err != SEINE_OK)
        return;
    if (*in->ptr == '&') {
        begin_ref(x, in);
        return;
    }
    next_byte(x, in);
    x->state = ANGLE;
}

static void
angle(sn_xml *x, sn_str *in)
{
    char c = *in->ptr;

    x->n_name = 0;
    x->seen = 0;
    if (starts_name(c)) {
        x->state = NAME;
        return;
    }
    next_byte(x, in);
    if (c == '/')
        x->state = END_NAME;
    else if (c == '!')
        x->state = MARK;
    else if (c == '?')
        x->state = INSTRUCTION;
    else
        fail_page(x, "a < that begins nothing");
}

static void
mark(sn_xml *x, sn_str *in)
{
    static const struct {
        const char *text;
        uint8_t len, state;
    } marks[] = {{"--", 2, COMMENT}, {"[CDATA[", 7, CDATA}, {"DOCTYPE", 7, DOCTYPE}};

    x->mark[x->seen++] = next_byte(x, in);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        sn_str want = {marks[i].text, marks[i].len}, have = {x->mark, x->seen};

        if (!sn_str_starts_nocase(want, have))
            continue;
        if (have.len == want.len) {
            x->state = marks[i].state;
            x->seen = 0;
            x->quote = '\0';
        }
        return;
    }
    fail_page(x, "<! that begins nothing");
}

/* "-->" */
static void
comment(sn_xml *x, sn_str *in)
{
    if (x->seen == 0)
        pass(x, take_run(x, in, '-', false));
    if (in->len == 0)
        return;
    char c = next_byte(x, in);
    if (c == '>' && x->seen == 2)
        x->state = OUTSIDE;
    else if (c != '-')
        x->seen = 0;
    else if (x->seen < 2)
        x->seen++;
}

/* "]]>"; brackets that do not end the section are text. */
static void
cdata(sn_xml *x, sn_str *in)
{
    if (x->seen == 0)
        keep_run(x, CDATA, take_run(x, in, ']', false));
    if (in->len == 0 || x->err != SEINE_OK)
        return;
    char c = *in->ptr;
    if (c == '>' && x->seen == 2) {
        next_byte(x, in);
        x->state = OUTSIDE;
    } else if (c == ']') {
        next_byte(x, in);
        if (x->seen == 2)
            keep_if(x, CDATA, SN_STR("]"));
        else
            x->seen++;
    } else {
        keep_if(x, CDATA, (sn_str){"]]", x->seen});
        x->seen = 0;
    }
}

/* "?>" */
static void
instruction(sn_xml *x, sn_str *in)
{
    if (x->seen == 0)
        pass(x, take_run(x, in, '?', false));
    if (in->len == 0)
        return;
    char c = next_byte(x, in);
    if (c == '>' && x->seen == 1)
        x->state = OUTSIDE;
    else
        x->seen = c == '?';
}

static void
doctype(sn_xml *x, sn_str *in)
{
    char c = next_byte(x, in);

    if (x->quote)
        x->quote = c == x->quote ? '\0' : x->quote;
    else if (c == '"' || c == '\'')
        x->quote = c;
    else if (c == '[')
        fail_page(x, "a DOCTYPE with a subset of its own");
    else if (c == '>')
        x->state = OUTSIDE;
}

static void
element_name(sn_xml *x, sn_str *in)
{
    if (!take_name(x, in))
        return;
    open_element(x);
    x->state = TAG;
}

static void
tag(sn_xml *x, sn_str *in)
{
    char c = *in->ptr;

    if (c == '<' || c == '&' || c == '=' || c == '"' || c == '\'') {
        fail_page(x, "a tag that does not end");
        return;
    }
    if (c == '>')
        x->state = OUTSIDE;
    else if (c == '/')
        x->state = SLASH;
    else if (!sn_is_space(c))
        x->state = ATTR;
    if (x->state == ATTR)
        x->n_name = 0;
    else
        next_byte(x, in);
}

static void
slash(sn_xml *x, sn_str *in)
{
    x->state = TAG;
    if (*in->ptr != '>')
        return;
    next_byte(x, in);
    close_element(x);
    x->state = OUTSIDE;
}

static void
attr_name(sn_xml *x, sn_str *in)
{
    if (take_name(x, in))
        x->state = ATTR_BEHIND;
}

static void
attr_behind(sn_xml *x, sn_str *in)
{
    char c = *in->ptr;

    if (c == '=' || sn_is_space(c))
        next_byte(x, in);
    if (c == '=') {
        x->state = EQUALS;
        x->n_value = 0;
    } else if (!sn_is_space(c)) {
        x->state = TAG; /* without a value it is ignored */
    }
}

static void
equals(sn_xml *x, sn_str *in)
{
    char c = *in->ptr;

    if (c == '<' || c == '>') {
        x->state = TAG;
    } else if (c == '"' || c == '\'') {
        next_byte(x, in);
        x->quote = c;
        x->state = QUOTED;
    } else if (sn_is_space(c)) {
        next_byte(x, in);
    } else {
        x->state = BARE;
    }
}

static void
quoted(sn_xml *x, sn_str *in)
{
    keep_run(x, QUOTED, take_run(x, in, x->quote, x->wants_attrs));
    if (in->len == 0 || x->err != SEINE_OK)
        return;
    if (*in->ptr == '&') {
        begin_ref(x, in);
        return;
    }
    next_byte(x, in);
    x->state = TAG;
    end_attr(x);
}

static void
bare(sn_xml *x, sn_str *in)
{
    char c = *in->ptr;

    if (c == '&' && x->wants_attrs) {
        begin_ref(x, in);
    } else if (c == '>' || c == '<' || sn_is_space(c)) {
        x->state = TAG;
        end_attr(x);
    } else {
        keep_if(x, BARE, (sn_str){&(char){c}, 1});
        next_byte(x, in);
    }
}

static void
end_name(sn_xml *x, sn_str *in)
{
    if (x->n_name == 0 && !starts_name(*in->ptr)) {
        fail_page(x, "</ that ends nothing");
        return;
    }
    if (take_name(x, in))
        x->state = END_BEHIND;
}

static void
end_behind(sn_xml *x, sn_str *in)
{
    char c = next_byte(x, in);

    if (c == '>') {
        x->state = OUTSIDE;
        close_named(x);
    } else if (!sn_is_space(c)) {
        fail_page(x, "an end tag that does not end");
    }
}

static size_t
utf8(uint32_t c, char out[4])
{
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        c = 0xfffd;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((0xf00 >> n) | c);
    return n;
}

/* Decodes "#38" or "#x26"; returns 0 if it is no reference. */
static size_t
numbered(sn_str ref, char out[4])
{
    bool hex = ref.len > 1 && sn_lower(ref.ptr[1]) == 'x';
    size_t first = hex ? 2 : 1;
    uint32_t n = 0;

    for (size_t i = first; i < ref.len; i++) {
        int digit = sn_hex_digit(ref.ptr[i]);

        if (digit < 0 || (!hex && digit > 9))
            return 0;
        n = n > 0x10ffff ? n : n * (hex ? 16 : 10) + (uint32_t)digit;
    }
    return ref.len > first ? utf8(n, out) : 0;
}

static size_t
meaning(sn_str ref, char out[4])
{
    static const struct {
        const char *name;
        char means;
    } entities[] = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};

    if (ref.len > 0 && ref.ptr[0] == '#')
        return numbered(ref, out);
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
        if (sn_str_eq(ref, sn_str_of(entities[i].name))) {
            out[0] = entities[i].means;
            return 1;
        }
    return 0;
}

/* Ends a reference. An invalid one is text, and the byte that ended it is read again. */
static void
end_ref(sn_xml *x, bool is_whole)
{
    char out[4];
    sn_str ref = {x->ref, x->n_ref};
    size_t n = is_whole ? meaning(ref, out) : 0;

    x->state = x->after;
    x->steps += x->n_ref;
    if (n > 0) {
        keep_bytes(x, x->after, (sn_str){out, n});
        return;
    }
    keep_bytes(x, x->after, SN_STR("&"));
    keep_bytes(x, x->after, ref);
    if (is_whole)
        keep_bytes(x, x->after, SN_STR(";"));
}

static void
reference(sn_xml *x, sn_str *in)
{
    char c = *in->ptr;

    if (c == ';') {
        next_byte(x, in);
        end_ref(x, true);
    } else if (x->n_ref < SN_XML_REF && (sn_is_alpha(c) || sn_is_digit(c) || c == '#')) {
        x->ref[x->n_ref++] = next_byte(x, in);
    } else {
        end_ref(x, false);
    }
}

static void (*const states[])(sn_xml *x, sn_str *in) = {
    [OUTSIDE] = outside,   [ANGLE] = angle,           [MARK] = mark,
    [COMMENT] = comment,   [CDATA] = cdata,           [INSTRUCTION] = instruction,
    [DOCTYPE] = doctype,   [NAME] = element_name,     [TAG] = tag,
    [SLASH] = slash,       [ATTR] = attr_name,        [ATTR_BEHIND] = attr_behind,
    [EQUALS] = equals,     [QUOTED] = quoted,         [BARE] = bare,
    [END_NAME] = end_name, [END_BEHIND] = end_behind, [REF] = reference,
};

seine_err
sn_xml_feed(sn_xml *x, sn_str piece)
{
    while (piece.len > 0 && x->err == SEINE_OK && !x->is_over) {
        x->steps++;
        states[x->state](x, &piece);
    }
    return x->err;
}

seine_err
sn_xml_end(sn_xml *x)
{
    if (x->err == SEINE_OK && !x->is_over) {
        const char *flaw = x->depth > 0 || x->state != OUTSIDE ? "it ends too early"
                                                               : "there is no element";

        fail_page(x, flaw);
    }
    return x->err != SEINE_OK ? x->err : x->late;
}
