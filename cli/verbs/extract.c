/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/charset.h>
#include <seine/extract.h>
#include <seine/jsonptr.h>

#include "options/extract_opts.h"
#include "recipes/recipe_extract.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/bytes.h"
#include "verbs/extract_page.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    texts css, pointers, meta, vars;
    const char *base, *charset, *recipe, *page_kind;
    bool links, title, jsonld, tables, text;
    uint64_t table; /* 0: none is asked for */
    bool json, jsonl, flat;
} settings;

static int run_extract(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"css", NULL, KIND_LIST, "[NAME=]SEL[@ATTR]", AT(css),
     .help = "what a CSS selector finds: its text, or an attribute",
     .more = "`@text` is the text, `@html` the element as HTML. Attributes that are URLs are resolved against --base. "
             "NAME is what stands before the first `=` if it is a name; the member is called so, or after the selector."},
    {"json-pointer", NULL, KIND_LIST, "[NAME=]PTR", AT(pointers),
     .help = "the value of a JSON page at this pointer (RFC 6901)",
     .more = "`-` in place of an element means every element."},
    {"links", NULL, KIND_FLAG, AT(links),
     .help = "all links: `url`, `tag`, `attr`, `text`, `rel`, `line`, `col`",
     .more = "Resolved against the page's `<base>`, then --base; with `base` and `canonical`."},
    {"title", NULL, KIND_FLAG, AT(title), .help = "the title; null if there is none"},
    {"meta", NULL, KIND_LIST, "NAME", AT(meta), .alone = true,
     .help = "metas of this name or property; without one all, and the language"},
    {"jsonld", NULL, KIND_FLAG, AT(jsonld), .help = "all scripts of JSON-LD"},
    {"tables", NULL, KIND_FLAG, AT(tables),
     .help = "all tables, as rows of texts",
     .more = "A cell that spans several columns or rows is in each of them. Tables that become longer than 4 times the page and "
             "256 KiB by that are cut, and `notes` has `tables_capped`."},
    {"table", NULL, KIND_COUNT, "N", AT(table), .min = 1,
     .help = "the Nth table of the page alone, as CSV",
     .more = "Cells that a spreadsheet would run as formulas get a ' before them."},
    {"text", NULL, KIND_FLAG, AT(text),
     .help = "the text as people see it"},
    {"recipe", NULL, KIND_FILE, "FILE", AT(recipe),
     .help = "the rows that a recipe finds, a record a line",
     .more = "Each has `kind`, `data`, `ok`, `errors` and where it was found. A file whose name ends in .json is JSON, any other is HTML."},
    {"kind", NULL, KIND_TEXT, "NAME", AT(page_kind),
     .help = "the pages are of this kind, of `pages:` in the recipe"},
    {"var", NULL, KIND_LIST, "NAME=V", AT(vars),
     .help = "the value of a variable of the recipe"},
    {"flat", NULL, KIND_FLAG, AT(flat),
     .help = "the data of good rows alone"},
    {"base", NULL, KIND_TEXT, "URL", AT(base),
     .help = "the URL of the page"},
    {"charset", NULL, KIND_TEXT, "NAME", AT(charset),
     .help = "the encoding of pages, as a header would name it",
     .more = "Else what a byte order mark, a meta or an XML declaration names; then UTF-8 if it is valid, then windows-1252."},
    {"json", "j", KIND_FLAG, AT(json),
     .help = "a match a line: as a JSON string"},
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `html` or `json`, as text, base64 (`html_b64`) or a file's name (`html_file`); `url`; `css` (one or a list), "
             "`pointer`, or `want`, a list of links, title, meta, jsonld, tables, text; `charset` of bytes that are no text. "
             "Out: `matches` of `id`, `tag`, `text`, `attr`; `value`; or `base`, `title`, `canonical` and what was wanted. "
             "`id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."},
    {.name = NULL},
};

static const example examples[] = {
    {"printf '<a href=b>B</a>' | seine extract --base http://e.example --css a@href", "Where the headings lead:"},
    {"printf '<title>T</title><p>x<p>y' | seine extract --title --css words=p", "Several things, as one object:"},
    {"printf '<table><tr><th>a<th>b<tr><td>1<td>2</table>' | seine extract --table 1", "A table as CSV:"},
    {"printf '{\"a\":[{\"b\":1},{\"b\":2}]}' | seine extract --json-pointer /a/-/b", "Every `b`:"},
    {"seine extract --recipe recipes/shop/shop.yaml --flat --base https://shop.example/ recipes/shop/pages/list-1.html", "The rows of a saved page:"},
    {NULL, NULL},
};

const command cmd_extract = {
    .name = "extract",
    .arguments = "[FILE|-]…",
    .about = "take links, fields and tables out of pages",
    .text = "One --css or --json-pointer without a name prints a match a line, --table rows of CSV; anything else one JSON object a file. "
            "Without files standard input is read. A page that would be too costly as a tree is refused by name (html_too_deep, html_too_complex); "
            "its links are still given. The exit code is 1 if a page was refused.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_extract,
};
/* clang-format on */

/* Adds all of them, in the order in which they are written. */
static int
read_fields(const settings *set, seine_extract *x)
{
    int code = SAY_DONE;

    for (size_t i = 0; code == SAY_DONE && i < set->pointers.count; i++)
        code = extract_opts_add(x, SEINE_EXTRACT_POINTER, set->pointers.items[i]);
    for (size_t i = 0; code == SAY_DONE && i < set->meta.count; i++)
        code = extract_opts_add(x, SEINE_EXTRACT_META,
                                *set->meta.items[i] ? set->meta.items[i] : NULL);
    if (code == SAY_DONE && set->jsonld)
        code = extract_opts_add(x, SEINE_EXTRACT_JSONLD, NULL);
    for (size_t i = 0; code == SAY_DONE && i < set->css.count; i++)
        code = extract_opts_add(x, SEINE_EXTRACT_CSS, set->css.items[i]);
    if (code == SAY_DONE && set->text)
        code = extract_opts_add(x, SEINE_EXTRACT_TEXT, NULL);
    return code;
}

/* The work on one file. */
typedef struct job {
    const settings *set;
    seine_extract *fields;
    seine_extractor *reader; /* of the fields */
    bool plain;              /* one match per line */
    bool failed;
} job;

/* Reads the fields of the settings. Not DONE: after an error message. */
static int
job_open(job *j)
{
    if (seine_extract_new(&j->fields) != SEINE_OK)
        xalloc_json(NULL);
    int code = read_fields(j->set, j->fields);
    if (code == SAY_DONE && seine_extractor_new(j->fields, &j->reader) != SEINE_OK)
        xalloc_json(NULL);
    return code;
}

static void
job_close(job *j)
{
    seine_extractor_free(j->reader);
    seine_extract_free(j->fields);
}

static bool
has_facts(const settings *s)
{
    return s->links || s->title || s->meta.count > 0 || s->jsonld || s->tables || s->text;
}

/* Adds the notes of links and tables; most pages have none. */
static void
add_notes(const page *p, const tables *t, seine_json *out)
{
    seine_json *notes = page_notes(p);

    if (t->capped && !notes)
        notes = xalloc_json(seine_json_new_array());
    if (t->capped)
        jsonl_add(notes, jsonl_string("tables_capped"));
    if (notes)
        jsonl_set(out, "notes", notes);
}

static bool
wants_all_metas(const settings *set)
{
    for (size_t i = 0; i < set->meta.count; i++)
        if (!*set->meta.items[i])
            return true;
    return false;
}

static void
add_facts(const settings *set, const page *p, seine_json *out)
{
    if (set->title)
        jsonl_set(out, "title", page_title(p));
    if (set->links) {
        jsonl_set(out, "base", page_base(p));
        jsonl_set(out, "canonical", page_canonical(p));
        jsonl_set(out, "links", page_links(p));
    }
    if (wants_all_metas(set))
        jsonl_set(out, "lang", page_lang(p));
}

/* What is wrong with the page; of JSON also where. */
static bool
refuse_page(seine_err e, const bytes *in, reason *why)
{
    seine_json_fault fault = {0, ""};

    if ((e == SEINE_E_BAD_JSON || e == SEINE_E_JSON_TOO_DEEP) &&
        seine_json_check(in->ptr, in->len, &fault, &fault) == e)
        return reason_set(why, "%s at byte %zu: %s", seine_err_name(e), fault.offset,
                          show(fault.text).text);
    return reason_set(why, "%s: %s", seine_err_name(e), seine_err_text(e));
}

/* How a page is read: by its fields, whatever its type may be. */
typedef struct source {
    const bytes *in;
    const char *url, *charset;
} source;

/* Reads the fields of a page; *out_data is what could be read. */
static bool
read_data(const job *j, const source *from, seine_json **out_data, reason *why)
{
    seine_extract_page ask = SEINE_EXTRACT_PAGE;
    seine_view data = {NULL, 0};
    const settings *set = j->set;
    bool has_html = set->css.count > 0 || set->meta.count > 0 || set->jsonld || set->text;

    ask.body = (seine_view){from->in->ptr, from->in->len};
    if (from->url)
        ask.url = (seine_view){from->url, strlen(from->url)};
    if (from->charset)
        ask.charset = (seine_view){from->charset, strlen(from->charset)};
    ask.as = (has_html ? (unsigned)SEINE_EXTRACT_HTML : 0) |
             (set->pointers.count > 0 ? (unsigned)SEINE_EXTRACT_JSON : 0);
    seine_err e = seine_extractor_read(j->reader, &ask, &data), parsed = SEINE_OK;
    if (data.ptr)
        parsed = seine_json_parse(data.ptr, data.len, out_data, NULL);
    if (e == SEINE_E_NOMEM || parsed == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e == SEINE_OK && parsed != SEINE_OK)
        return reason_set(why, "the fields have more than 1,000,000 values");
    return e == SEINE_OK || refuse_page(e, from->in, why);
}

static bool
copy_member(const char *name, const seine_json *value, void *arg)
{
    jsonl_set(arg, name, xalloc_json(seine_json_new_copy(value)));
    return true;
}

/* Adds the fields of a page as members. */
static bool
add_data(const job *j, const source *from, seine_json *out, reason *why)
{
    seine_json *data = NULL;

    if (seine_extract_count(j->fields) == 0)
        return true;
    bool good = read_data(j, from, &data, why);
    seine_json_each(data, copy_member, out);
    seine_json_free(data);
    return good;
}

static bool
print_member(const char *name, const seine_json *value, void *arg)
{
    const settings *set = arg;
    const seine_json *one;
    const char *text;
    size_t len;

    (void)name;
    for (size_t i = 0; (one = seine_json_at(value, i)); i++)
        if (set->json || !seine_json_string(one, &text, &len))
            out_json(xalloc_json(seine_json_new_copy(one)));
        else
            out_line(text, len);
    return true;
}

/* Prints the values of the only field, one a line. */
static bool
print_data(const job *j, const source *from, reason *why)
{
    seine_json *data = NULL;
    settings set = *j->set;
    bool good = read_data(j, from, &data, why);

    seine_json_each(data, print_member, &set);
    seine_json_free(data);
    return good;
}

/* Adds what is wanted of a page; `t` gets the tables. */
static bool
add_page(const job *j, page *p, const source *from, seine_json *out, tables *t,
         reason *why)
{
    bool good = !j->set->tables || page_tables(p, t, why);

    add_facts(j->set, p, out);
    add_notes(p, t, out);
    return add_data(j, from, out, good ? why : &(reason){""}) && good;
}

static bool
add_all(const job *j, const bytes *in, seine_json *out, tables *t, reason *why)
{
    static page p;
    const settings *set = j->set;
    source from = {in, set->base, set->charset};
    page_how how = {set->charset, set->base, set->links};
    bool good;

    if (j->plain && set->table == 0)
        return print_data(j, &from, why);
    if (set->css.count == 0 && !has_facts(set) && set->table == 0)
        return add_data(j, &from, out, why);
    good = page_open(&p, in, &how, why);
    if (good && set->table > 0)
        good = page_table_csv(&p, set->table, why);
    else if (good)
        good = add_page(j, &p, &from, out, t, why);
    page_close(&p);
    return good;
}

static void
extract_file(job *j, const char *name, const bytes *in)
{
    seine_json *out = xalloc_json(seine_json_new_object());
    tables t = {0};
    reason why = {""};

    if (!j->plain && strcmp(name, "-") != 0)
        jsonl_set(out, "file", jsonl_string(name));
    if (!add_all(j, in, out, &t, &why)) {
        j->failed = true;
        if (j->plain)
            say_note("%s: %s",
                     strcmp(name, "-") == 0 ? "standard input" : show(name).text,
                     why.text);
        else
            jsonl_set(out, "error", jsonl_string(why.text));
    }
    if (j->plain)
        seine_json_free(out);
    else if (t.json)
        out_json_with(out, "tables", t.json, t.len);
    else
        out_json(out);
    free(t.json);
}

static int
each_file(const args *a, job *j)
{
    static char stdin_name[] = "-";
    char *none[] = {stdin_name};
    char **names = a->count > 0 ? a->words : none;
    int code = SAY_DONE;

    for (size_t i = 0; i < (a->count > 0 ? a->count : 1) && code == SAY_DONE; i++) {
        bytes in;

        code = bytes_file(names[i], &in);
        if (code == SAY_DONE)
            extract_file(j, names[i], &in);
        bytes_free(&in);
    }
    return code == SAY_DONE && j->failed ? SAY_FAILED : code;
}

/* Lines of JSON. */

/* Where the matches of a selector go. */
typedef struct match_list {
    seine_json *all;
    const char *attr; /* NULL: no attribute is asked for */
} match_list;

static bool
add_match(page *p, seine_node n, void *arg)
{
    const match_list *m = arg;
    seine_json *one = xalloc_json(seine_json_new_object());
    seine_json *attr = m->attr ? page_value(p, n, m->attr) : NULL;

    jsonl_set(one, "id", page_string(seine_node_attr(p->tree, n, "id")));
    jsonl_set(one, "tag", page_string(seine_node_name(p->tree, n)));
    jsonl_set(one, "text", page_value(p, n, NULL));
    jsonl_set(one, "attr", attr ? attr : seine_json_new_null());
    jsonl_add(m->all, one);
    return true;
}

static bool
match_one(page *p, const char *text, seine_json *all, reason *why)
{
    seine_view name, rest, attr;
    seine_diag diag = SEINE_DIAG;
    seine_select *select = NULL;

    seine_extract_split(text, &name, &rest, &attr);
    match_list m = {all, attr.ptr};
    seine_err e = seine_select_new(rest.ptr, rest.len, &select, &diag);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    bool good =
        e == SEINE_OK
            ? page_select(p, select, add_match, &m, why)
            : reason_set(why, "selector '%s' is not valid: %s, at byte %" PRIu64,
                         show_bytes(rest.ptr, rest.len).text, diag.text, diag.column - 1);
    seine_select_free(select);
    return good;
}

/* Adds the matches of one selector, or of each selector of a list. */
static bool
match_all(page *p, const seine_json *css, seine_json *out, reason *why)
{
    seine_json *matches = xalloc_json(seine_json_new_array());
    bool list = seine_json_type_of(css) == SEINE_JSON_ARRAY;
    bool good = true;

    for (size_t i = 0; good && i < (list ? seine_json_size(css) : 1); i++) {
        const char *text = NULL;
        size_t len;

        good = seine_json_string(list ? seine_json_at(css, i) : css, &text, &len) &&
                       strlen(text) == len
                   ? match_one(p, text, matches, why)
                   : reason_set(why, "css: not a selector or a list of them");
    }
    jsonl_set(out, "matches", matches);
    return good;
}

static bool
is_wanted(const seine_json *want, const char *name)
{
    for (size_t i = 0; i < seine_json_size(want); i++) {
        const char *text = "";
        size_t len;

        if (seine_json_string(seine_json_at(want, i), &text, &len) &&
            strcmp(text, name) == 0)
            return true;
    }
    return false;
}

static bool
want_all(page *p, const seine_json *want, const source *from, seine_json *out,
         reason *why)
{
    static const char known[] = " links title meta jsonld tables text ";
    static const char *all_metas[] = {"", NULL};
    job j = {.plain = false};
    settings set = {.title = true};
    tables t = {0};

    for (size_t i = 0; i < seine_json_size(want); i++) {
        const char *text = "";
        size_t len;
        char word[64];

        seine_json_string(seine_json_at(want, i), &text, &len);
        snprintf(word, sizeof word, " %s ", text);
        if (!*text || !strstr(known, word))
            return reason_set(
                why, "want: not a list of links, title, meta, jsonld, tables, text");
    }
    set.links = is_wanted(want, "links");
    if (is_wanted(want, "meta"))
        set.meta = (texts){.items = all_metas, .count = 1};
    set.jsonld = is_wanted(want, "jsonld");
    set.tables = is_wanted(want, "tables");
    set.text = is_wanted(want, "text");
    j.set = &set;
    if (!set.links) {
        jsonl_set(out, "base", page_base(p));
        jsonl_set(out, "canonical", page_canonical(p));
    }
    bool good = job_open(&j) == SAY_DONE && add_page(&j, p, from, out, &t, why);

    job_close(&j);
    if (t.json)
        jsonl_set_text("tables", t.json, t.len);
    return good;
}

static bool
html_case(const seine_json *in, const bytes *html, seine_json *out, reason *why)
{
    static page p;
    const char *url = NULL, *charset = NULL;
    const seine_json *css = seine_json_get(in, "css"), *want = seine_json_get(in, "want");
    bool good =
        jsonl_text(in, "url", &url, why) && jsonl_text(in, "charset", &charset, why);

    if (jsonl_has(in,
                  "html")) /* JSON text is UTF-8, whatever charset the page declares */
        charset = "utf-8";
    if (good && !css == !want)
        good =
            reason_set(why, css ? "both 'css' and 'want'" : "no member 'css' or 'want'");
    if (!good)
        return false;
    good = page_open(&p, html,
                     &(page_how){charset, url, want && is_wanted(want, "links")}, why) &&
           (css ? match_all(&p, css, out, why)
                : want_all(&p, want, &(source){html, url, charset}, out, why));
    page_close(&p);
    return good;
}

static bool
json_case(const seine_json *in, const bytes *text, seine_json *out, reason *why)
{
    const char *pointer = NULL;
    const seine_json *value = NULL;
    seine_json *json = NULL;
    seine_json_fault fault;

    if (!jsonl_text(in, "pointer", &pointer, why))
        return false;
    if (!pointer)
        return reason_set(why, "no member 'pointer'");
    seine_err e = seine_json_parse(text->ptr, text->len, &json, &fault);
    if (e != SEINE_OK)
        return reason_set(why, "%s at byte %zu: %s", seine_err_name(e), fault.offset,
                          show(fault.text).text);
    e = seine_jsonptr_get(json, pointer, strlen(pointer), &value);
    if (e == SEINE_OK)
        jsonl_set(out, "value", xalloc_json(seine_json_new_copy(value)));
    seine_json_free(json);
    if (e == SEINE_E_INVAL)
        return reason_set(why, "'%s' is no JSON pointer", show(pointer).text);
    return e == SEINE_OK ||
           reason_set(why, "there is nothing at '%s'", show(pointer).text);
}

/* The member `json` may be the value itself. */
static bool
read_json(const seine_json *in, bytes *out, reason *why)
{
    const seine_json *json = seine_json_get(in, "json");
    seine_text text = {0};

    *out = (bytes){NULL, 0, NULL};
    if (!json || seine_json_type_of(json) == SEINE_JSON_STRING)
        return bytes_read(in, "json", out, why);
    if (seine_json_print(json, &text) != SEINE_OK)
        xalloc_json(NULL);
    out->ptr = out->own = xalloc_copy(text.bytes, text.len);
    out->len = text.len;
    seine_text_free(&text);
    return true;
}

static bool
answer_extract_case(const seine_json *in, seine_json *out, reason *why)
{
    bytes html = {0}, json = {0};
    bool good = jsonl_known(in,
                            "id html html_b64 html_file json json_b64 json_file url css "
                            "pointer want charset",
                            why) &&
                bytes_read(in, "html", &html, why) && read_json(in, &json, why);

    if (good && !html.ptr == !json.ptr)
        good = reason_set(why, html.ptr ? "both 'html' and 'json'"
                                        : "no member 'html' or 'json'");
    if (good) {
        jsonl_set(out, "ok", seine_json_new_bool(true));
        good = html.ptr ? html_case(in, &html, out, why) : json_case(in, &json, out, why);
    }
    bytes_free(&html);
    bytes_free(&json);
    return good;
}

static int
check_base(const char *base)
{
    char mem[SEINE_URL_ROOM];
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (base && seine_url_parse(&u, base, strlen(base), &flaw) != SEINE_OK)
        return say_fail(SAY_USAGE, "--base https://e.example/page", "--base '%s': %s",
                        show(base).text, seine_url_flaw_text(flaw.kind));
    return SAY_DONE;
}

static int
check_charset(const char *name)
{
    seine_charset c;

    if (name && !seine_charset_find(name, strlen(name), &c))
        return say_fail(SAY_USAGE, "--charset utf-8, --charset shift_jis",
                        "--charset '%s': no encoding of the web", show(name).text);
    return SAY_DONE;
}

/* Whether one selector or pointer alone is asked for, without a name. */
static bool
has_one_unnamed(const settings *set)
{
    seine_view name, rest;

    if (set->css.count + set->pointers.count != 1)
        return false;
    seine_extract_split(set->css.count > 0 ? set->css.items[0] : set->pointers.items[0],
                        &name, &rest, NULL);
    return !name.ptr;
}

static int
run_recipe(const args *a, const settings *set, bool has_more)
{
    recipe_extract_opts o = {set->recipe, set->base, set->page_kind, &set->vars,
                             set->flat};
    int code = check_base(set->base);

    if (has_more)
        return say_fail(SAY_USAGE, "one of the two",
                        "--recipe gives rows, and nothing else beside them");
    return code == SAY_DONE ? recipe_extract(&o, a->words, a->count) : code;
}

static int
run_extract(const args *a)
{
    const settings *set = a->settings;
    job j = {.set = set};

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, answer_extract_case) : SAY_USAGE;
    bool has_more = set->css.count + set->pointers.count > 0 || has_facts(set);
    if (set->recipe)
        return run_recipe(a, set, has_more || set->table > 0);
    if (set->page_kind || set->vars.count > 0 || set->flat)
        return say_fail(SAY_USAGE, "--recipe FILE",
                        "--kind, --var and --flat belong to --recipe");
    if (set->table > 0 && has_more)
        return say_fail(SAY_USAGE, "--tables, which has all of them as JSON",
                        "--table prints CSV, and nothing else beside it");
    if (set->table == 0 && !has_more)
        return say_fail(SAY_USAGE,
                        "--links, --title, --css 'h2 a@href', --json-pointer /data",
                        "extract needs to know what");
    int code = check_base(set->base);
    if (code == SAY_DONE)
        code = check_charset(set->charset);
    if (code == SAY_DONE)
        code = job_open(&j);
    if (code == SAY_DONE) {
        j.plain = set->table > 0 || (!has_facts(set) && has_one_unnamed(set));
        code = each_file(a, &j);
    }
    job_close(&j);
    return code;
}
