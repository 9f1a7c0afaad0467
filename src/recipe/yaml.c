/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tree from the events of libyaml. */
#include "recipe/yaml.h"

#include <stdio.h>
#include <string.h>
#include <yaml.h>

#include "base/diag.h"

typedef struct reader {
    yaml_parser_t parser;
    sn_arena *arena;
    sn_str text;
    seine_diag *fault;
    unsigned nodes;
    sn_yaml *open[SN_YAML_DEPTH]; /* lists and maps around the next node */
    sn_yaml *last[SN_YAML_DEPTH]; /* their last child */
    sn_yaml *key[SN_YAML_DEPTH];  /* of a map: a key whose value comes next */
    unsigned depth;
    sn_yaml *root;
    yaml_mark_t end; /* behind the last character */
} reader;

/* Bytes of the line break that begins here; 0: none does. YAML has five of them. */
static size_t
line_break(sn_str text, size_t at)
{
    sn_str rest = sn_str_slice(text, at, text.len);

    if (sn_str_starts(rest, SN_STR("\r\n")) || sn_str_starts(rest, SN_STR("\xc2\x85")))
        return 2;
    if (sn_str_starts(rest, SN_STR("\xe2\x80\xa8")) ||
        sn_str_starts(rest, SN_STR("\xe2\x80\xa9")))
        return 3;
    return rest.ptr[0] == '\n' || rest.ptr[0] == '\r';
}

static yaml_mark_t
end_of(sn_str text)
{
    yaml_mark_t end = {0, 0, 0};

    for (size_t at = 0; at < text.len;) {
        size_t n = line_break(text, at);

        end.line += n > 0;
        end.column = n ? 0 : end.column + ((text.ptr[at] & 0xc0) != 0x80);
        at += n ? n : 1;
    }
    return end;
}

/* libyaml ends every text with a line break: where there is none, the line that it counts
 * behind it does not exist. */
static yaml_mark_t
inside(const reader *r, yaml_mark_t mark)
{
    return mark.line > r->end.line ? r->end : mark;
}

static bool
wrong(reader *r, yaml_mark_t mark, const char *text)
{
    mark = inside(r, mark);
    if (r->fault->text[0] == '\0') {
        sn_diag_text(r->fault, "%s", text);
        sn_diag_place(r->fault, NULL, mark.line + 1, mark.column + 1);
    }
    return false;
}

/* The byte of the text at a place that libyaml counts in characters. */
static char
byte_at(const reader *r, yaml_mark_t mark)
{
    size_t at = 0;

    for (size_t line = 0; line < mark.line && at < r->text.len; at++)
        line += r->text.ptr[at] == '\n';
    at += mark.column; /* right where nothing before it is longer than a byte */
    return at < r->text.len ? r->text.ptr[at] : '\0';
}

size_t
sn_yaml_joined_key(sn_str text)
{
    size_t at = 0;

    while (at < text.len && (sn_is_alpha(text.ptr[at]) || text.ptr[at] == '-' ||
                             text.ptr[at] == '_' || sn_is_digit(text.ptr[at])))
        at++;
    bool is = at > 0 && at + 1 < text.len && text.ptr[at] == ':' &&
              text.ptr[at + 1] != ' ' && text.ptr[at + 1] != '/' &&
              text.ptr[at + 1] != '\n';
    return is ? at : 0;
}

/* The line of that number without its blanks before and behind, and how many stood
 * before. */
static sn_str
line_of(const reader *r, size_t number, size_t *out_blanks)
{
    size_t from = 0, end;

    for (size_t line = 0; line < number && from < r->text.len; from++)
        line += r->text.ptr[from] == '\n';
    sn_str rest = sn_str_slice(r->text, from, r->text.len);
    for (end = 0; end < rest.len && rest.ptr[end] != '\n' && rest.ptr[end] != '\r';)
        end++;
    rest = sn_str_slice(rest, 0, end);
    for (*out_blanks = 0; *out_blanks < rest.len && rest.ptr[*out_blanks] == ' ';)
        ++*out_blanks;
    return sn_str_trim(rest);
}

/* A key without a blank behind its ':' makes the next line wrong, not its own. */
static bool
joined_above(const reader *r, yaml_mark_t *mark, char *out, size_t cap)
{
    size_t blanks, own;
    sn_str above = mark->line > 0 ? line_of(r, mark->line - 1, &blanks) : (sn_str){0};
    size_t at = sn_yaml_joined_key(above);

    if (at == 0)
        return false;
    (void)line_of(r, mark->line, &own);
    if (own != blanks)
        return false;
    mark->line--;
    mark->column = blanks + at;
    size_t rest = above.len - at - 1;
    snprintf(out, cap, "a blank is missing behind this ':'; try %.*s: %.*s",
             at < 40 ? (int)at : 40, above.ptr, rest < 40 ? (int)rest : 40,
             above.ptr + at + 1);
    return true;
}

/* libyaml's reasons in words that say what to do. */
static const char *
reason_of(const reader *r)
{
    const char *problem = r->parser.problem ? r->parser.problem : "not YAML";
    char c = byte_at(r, r->parser.problem_mark);

    if (strstr(problem, "cannot start any token"))
        return c == '\t'  ? "a tab cannot indent; try blanks"
               : c == '@' ? "a value cannot begin with '@'; try quotes around it"
               : c == '%' ? "a value cannot begin with '%'; try quotes around it"
               : c == '`' ? "a value cannot begin with '`'; try quotes around it"
                          : "a value cannot begin so; try quotes around it";
    if (strstr(problem, "mapping values are not allowed"))
        return "a ':' inside a value, or a key at the wrong indentation; try quotes "
               "around "
               "the value";
    if (strstr(problem, "did not find expected alphabetic or numeric"))
        return "a value cannot begin with '*' or '&'; try quotes around it";
    if (strstr(problem, "expected key"))
        return "expected a key at the indentation of the keys above";
    if (strstr(problem, "could not find expected ':'"))
        return "expected ':' behind a key";
    if (strstr(problem, "expected ',' or '}'"))
        return "this '{' is not closed, or a ',' is missing in it";
    if (strstr(problem, "expected ',' or ']'"))
        return "this '[' is not closed, or a ',' is missing in it";
    if (strstr(problem, "expected node content"))
        return "a value is missing, or a '{' or '[' above is not closed";
    if (strstr(problem, "unexpected end of stream"))
        return "a quote is not closed";
    if (strstr(problem, "unknown escape"))
        return "no such escape in double quotes; try single quotes";
    return problem;
}

/* The line and column of a byte. */
static yaml_mark_t
mark_of(const reader *r, size_t byte)
{
    yaml_mark_t mark = {0, 0, 0};

    for (size_t i = 0; i < byte && i < r->text.len; i++) {
        bool is_end = r->text.ptr[i] == '\n';
        mark.line += is_end;
        mark.column = is_end ? 0 : mark.column + ((r->text.ptr[i] & 0xc0) != 0x80);
    }
    return mark;
}

static bool
parser_failed(reader *r)
{
    yaml_mark_t mark = r->parser.problem_mark;
    char said[160];

    if (r->parser.error == YAML_MEMORY_ERROR)
        return false;
    if (r->parser.error == YAML_READER_ERROR) {
        mark = mark_of(r, r->parser.problem_offset);
        return wrong(r, mark, "bytes that are no text in UTF-8");
    }
    if (r->parser.context && r->parser.problem &&
        (strstr(r->parser.context, "parsing a flow") ||
         strstr(r->parser.problem, "alphabetic or numeric") ||
         strstr(r->parser.problem, "unexpected end of stream")))
        mark = r->parser.context_mark;
    if (r->parser.problem &&
        strstr(r->parser.problem, "mapping values are not allowed") &&
        joined_above(r, &mark, said, sizeof said))
        return wrong(r, mark, said);
    return wrong(r, mark, reason_of(r));
}

static sn_yaml *
new_node(reader *r, sn_yaml_kind kind, yaml_mark_t mark)
{
    if (++r->nodes > SN_YAML_NODES) {
        wrong(r, mark, "more than 20,000 values");
        return NULL;
    }
    sn_yaml *n = SN_ARENA_NEW(r->arena, sn_yaml);
    if (!n)
        return NULL;
    n->kind = kind;
    mark = inside(r, mark);
    n->line = (uint32_t)mark.line + 1;
    n->col = n->inner = (uint32_t)mark.column + 1;
    return n;
}

bool
sn_yaml_is_key(sn_str text, const char *key)
{
    if (text.len != strlen(key))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != key[i] && !(text.ptr[i] == '_' && key[i] == '-'))
            return false;
    return true;
}

static bool
take_key(reader *r, sn_yaml *node, yaml_mark_t mark)
{
    if (node->kind != SN_YAML_SCALAR)
        return wrong(r, mark, "a key must be a word");
    r->key[r->depth - 1] = node;
    return true;
}

/* Puts the node where it belongs: a child, a key, or the root. */
static bool
place(reader *r, sn_yaml *node, yaml_mark_t mark)
{
    if (r->depth == 0) {
        if (r->root)
            return wrong(r, mark, "a second document");
        r->root = node;
        return true;
    }
    unsigned top = r->depth - 1;
    sn_yaml *parent = r->open[top];
    if (parent->kind == SN_YAML_MAP && !r->key[top])
        return take_key(r, node, mark);
    node->key = r->key[top];
    r->key[top] = NULL;
    if (r->last[top])
        r->last[top]->next = node;
    else
        parent->first = node;
    r->last[top] = node;
    parent->count++;
    return true;
}

static size_t
characters(sn_str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += (s.ptr[i] & 0xc0) != 0x80;
    return n;
}

/* Between U+2018 … U+201F: written where ' or " was meant. */
static bool
is_in_curly_quotes(sn_str text)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    size_t n = text.len;

    return n >= 6 && p[0] == 0xe2 && p[1] == 0x80 && p[2] >= 0x98 && p[2] <= 0x9f &&
           p[n - 3] == 0xe2 && p[n - 2] == 0x80 && p[n - 1] >= 0x98 && p[n - 1] <= 0x9f;
}

static bool
add_scalar(reader *r, const yaml_event_t *e)
{
    sn_str text = {(const char *)e->data.scalar.value, e->data.scalar.length};

    if (e->data.scalar.anchor || e->data.scalar.tag)
        return wrong(r, e->start_mark, "anchors and tags are not part of the language");
    if (e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && is_in_curly_quotes(text))
        return wrong(r, e->start_mark,
                     "typographic quotes are part of the text; try ' or \"");
    if (memchr(text.ptr, '\0', text.len))
        return wrong(r, e->start_mark, "a zero byte in a text");
    sn_yaml *n = new_node(r, SN_YAML_SCALAR, e->start_mark);
    char *copy = n ? sn_arena_text(r->arena, text) : NULL;
    if (!copy)
        return false;
    n->text = (sn_str){copy, text.len};
    n->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    size_t width = e->end_mark.column - e->start_mark.column;
    n->exact = e->start_mark.line == e->end_mark.line &&
               width == characters(n->text) + (n->plain ? 0 : 2);
    n->inner += n->exact && !n->plain;
    return place(r, n, e->start_mark);
}

static bool
add_open(reader *r, const yaml_event_t *e)
{
    bool is_map = e->type == YAML_MAPPING_START_EVENT;

    if (is_map ? e->data.mapping_start.anchor || e->data.mapping_start.tag
               : e->data.sequence_start.anchor || e->data.sequence_start.tag)
        return wrong(r, e->start_mark, "anchors and tags are not part of the language");
    if (r->depth == SN_YAML_DEPTH)
        return wrong(r, e->start_mark, "nested too deep");
    sn_yaml *n = new_node(r, is_map ? SN_YAML_MAP : SN_YAML_LIST, e->start_mark);
    if (!n || !place(r, n, e->start_mark))
        return false;
    r->open[r->depth] = n;
    r->last[r->depth] = r->key[r->depth] = NULL;
    r->depth++;
    return true;
}

static bool
add_event(reader *r, const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return add_scalar(r, e);
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return add_open(r, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        r->depth--;
        return true;
    case YAML_ALIAS_EVENT:
        return wrong(r, e->start_mark, "aliases are not part of the language");
    default:
        return true;
    }
}

static bool
read_events(reader *r)
{
    bool good = true, more = true;

    while (good && more) {
        yaml_event_t e;
        if (!yaml_parser_parse(&r->parser, &e))
            return parser_failed(r);
        good = add_event(r, &e);
        more = e.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
    }
    return good;
}

static bool
read_text(reader *r, sn_yaml **out_root)
{
    yaml_mark_t begin = {0, 0, 0};

    sn_diag_clear(r->fault);
    *out_root = NULL;
    if (r->text.len >= 3 && memcmp(r->text.ptr, "\xef\xbb\xbf", 3) == 0) {
        r->text.ptr += 3; /* libyaml would count a byte order mark as a column */
        r->text.len -= 3;
    }
    if (r->text.len > SN_YAML_BYTES)
        return wrong(r, begin, "longer than 1 MiB");
    r->end = end_of(r->text);
    if (!yaml_parser_initialize(&r->parser))
        return false;
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text.ptr,
                                 r->text.len);
    bool good = read_events(r);
    yaml_parser_delete(&r->parser);
    *out_root = r->root;
    return good;
}

bool
sn_yaml_read(sn_str text, sn_arena *arena, sn_yaml **out_root, seine_diag *fault)
{
    reader r = {.arena = arena, .text = text, .fault = fault};
    yaml_mark_t begin = {0, 0, 0};
    bool good = read_text(&r, out_root);

    return good && !r.root ? wrong(&r, begin, "the file is empty") : good;
}

bool
sn_yaml_read_loose(sn_str text, sn_arena *arena, sn_yaml **out_root, seine_diag *fault)
{
    reader r = {.arena = arena, .text = text, .fault = fault};

    return read_text(&r, out_root);
}

const sn_yaml *
sn_yaml_get(const sn_yaml *map, const char *key)
{
    if (!map || map->kind != SN_YAML_MAP)
        return NULL;
    for (const sn_yaml *v = map->first; v; v = v->next)
        if (sn_yaml_is_key(v->key->text, key))
            return v;
    return NULL;
}
