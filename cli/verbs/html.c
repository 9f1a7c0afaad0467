/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include <seine/links.h>
#include <seine/tree.h>
#include <seine/url.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/bytes.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *fragment;
    bool scripting, jsonl;
} settings;

static int run_tree(const args *a);
static int run_refresh(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
#define OPTION_JSONL(more_) \
    {"jsonl", NULL, KIND_FLAG, AT(jsonl), \
     .help = "many cases: one JSON object per line, in and out", \
     .more = more_ " `id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."}

static const option tree_options[] = {
    {"fragment", NULL, KIND_TEXT, "NAME", AT(fragment),
     .help = "the page is the inside of this element: `td`, `svg path`"},
    {"scripting", NULL, KIND_FLAG, AT(scripting),
     .help = "as a browser that runs scripts: `<noscript>` is text"},
    OPTION_JSONL("In: `html`, as text, base64 (`html_b64`) or a file's name (`html_file`); `fragment`, `scripting`. Out: `tree`."),
    {.name = NULL},
};
static const option refresh_options[] = {
    OPTION_JSONL("In: `content`, `url` (of the page). Out: `seconds`, `url`; both null where it says nothing."),
    {.name = NULL},
};

static const example tree_examples[] = {
    {"printf '<p>a<b>b' | seine html tree -", "A page as a tree:"},
    {NULL, NULL},
};
static const example refresh_examples[] = {
    {"seine html meta-refresh '5; url=/next'", "Where a refresh leads:"},
    {NULL, NULL},
};

const command cmd_html_tree = {
    .name = "html tree",
    .is_small = true,
    .arguments = "[FILE|-]",
    .about = "show a page as the tree of a browser",
    .text = "In the form of html5lib's tests, a line a node. A page that would be too costly is refused by name, and the exit code is 1.",
    .options = tree_options,
    .examples = tree_examples,
    .settings_size = sizeof(settings),
    .max_args = 1,
    .run = run_tree,
};

const command cmd_html_meta_refresh = {
    .name = "html meta-refresh",
    .is_small = true,
    .arguments = "[CONTENT]…",
    .about = "say where a meta refresh leads, and when",
    .text = "`seconds` and `url`, which is empty for the page itself; null where the value says nothing, and then the exit code is 1.",
    .options = refresh_options,
    .examples = refresh_examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_refresh,
};
/* clang-format on */

static bool
make_tree(const bytes *html, const seine_tree_opts *opts,
          seine_err (*print)(const seine_tree *t, seine_text *out_text), seine_text *out,
          reason *why)
{
    seine_tree *t = NULL;
    seine_err e = seine_tree_new(&t);

    if (e == SEINE_OK)
        e = seine_tree_parse(t, html->ptr, html->len, opts);
    if (e == SEINE_OK)
        e = print(t, out);
    seine_tree_free(t);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e == SEINE_E_INVAL)
        return reason_set(why, "no such element as a fragment's: '%s'",
                          show(opts->fragment).text);
    return e == SEINE_OK ||
           reason_set(why, "%s: %s", seine_err_name(e), seine_err_text(e));
}

/* A JSON string; bytes that are not UTF-8 become U+FFFD. */
static seine_json *
json_string(const char *text, size_t len)
{
    seine_json *json = seine_json_new_string(text, len);

    if (json)
        return json;
    char *copy = xalloc_zeroed(3 * len + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        size_t one = 4;

        while (one > 0 &&
               (one > len - i || !(json = seine_json_new_string(text + i, one))))
            one--;
        seine_json_free(json);
        json = NULL;
        memcpy(copy + n, one > 0 ? text + i : "\xef\xbf\xbd", one > 0 ? one : 3);
        n += one > 0 ? one : 3;
        i += one > 0 ? one : 1;
    }
    json = xalloc_json(seine_json_new_string(copy, n));
    free(copy);
    return json;
}

/* A recorded case may hold the expected results as well. */
static bool
case_tree(const seine_json *in, seine_json *out, reason *why)
{
    bytes html = {0}, data = {0};
    const char *script = NULL;
    seine_tree_opts opts = {.size = sizeof(seine_tree_opts)};
    seine_text tree = {0};
    bool good =
        jsonl_known(in,
                    "id html html_b64 html_file charset fragment scripting file data "
                    "script document",
                    why) &&
        bytes_read(in, "html", &html, why) && bytes_read(in, "data", &data, why) &&
        jsonl_text(in, "fragment", &opts.fragment, why) &&
        jsonl_text(in, "script", &script, why);

    if (good && !html.ptr && !data.ptr)
        good = reason_set(why, "no member 'html'");
    seine_json_bool(seine_json_get(in, "scripting"), &opts.scripting);
    opts.scripting = opts.scripting || (script && strcmp(script, "#script-on") == 0);
    good =
        good && make_tree(html.ptr ? &html : &data, &opts, seine_tree_print, &tree, why);
    if (good) {
        jsonl_set(out, "ok", seine_json_new_bool(true));
        jsonl_set(out, "tree", json_string(tree.bytes, tree.len));
    }
    seine_text_free(&tree);
    bytes_free(&html);
    bytes_free(&data);
    return good;
}

static int
run_tree(const args *a)
{
    const settings *set = a->settings;
    seine_tree_opts opts = {.size = sizeof(seine_tree_opts),
                            .fragment = set->fragment,
                            .scripting = set->scripting};
    seine_text tree = {0};
    reason why = {""};
    bytes html;

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, case_tree) : SAY_USAGE;
    int code = bytes_file(a->count > 0 ? a->words[0] : "-", &html);
    if (code == SAY_DONE &&
        !make_tree(&html, &opts, out_is_terminal() ? seine_tree_show : seine_tree_print,
                   &tree, &why))
        code = say_fail(SAY_FAILED, NULL, "%s", why.text);
    if (code == SAY_DONE) {
        out_bytes(tree.bytes, tree.len);
        out_text("\n");
    }
    seine_text_free(&tree);
    bytes_free(&html);
    return code;
}

/* The URL without what a parser skips: tabs, line ends, blanks at both ends. */
static seine_json *
bare_url(seine_view v)
{
    char *copy = xalloc_zeroed(v.len + 1, 1);
    size_t n = 0, from = 0;

    for (size_t i = 0; i < v.len; i++)
        if (!strchr("\t\n\r", v.ptr[i]) || v.ptr[i] == '\0')
            copy[n++] = v.ptr[i];
    while (n > from && (unsigned char)copy[n - 1] <= ' ')
        n--;
    while (from < n && (unsigned char)copy[from] <= ' ')
        from++;
    seine_json *json = json_string(copy + from, n - from);
    free(copy);
    return json;
}

static bool
put_refresh(const char *content, size_t len, const seine_url *page, seine_json *out)
{
    char mem[SEINE_URL_ROOM];
    uint32_t seconds = 0;
    seine_view url = {NULL, 0};
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (!seine_refresh_parse(content, len, &seconds, &url)) {
        jsonl_set(out, "seconds", seine_json_new_null());
        jsonl_set(out, "url", seine_json_new_null());
        return false;
    }
    jsonl_set(out, "seconds", seine_json_new_int(seconds));
    if (page &&
        seine_url_resolve(&u, page, url.ptr ? url.ptr : "", url.len, NULL) == SEINE_OK)
        jsonl_set(out, "url", jsonl_string(seine_url_href(&u).ptr));
    else
        jsonl_set(out, "url", bare_url(url));
    return true;
}

static bool
case_refresh(const seine_json *in, seine_json *out, reason *why)
{
    char mem[SEINE_URL_ROOM];
    bytes content = {0}, input = {0};
    const char *url = NULL;
    seine_url page;
    bool good = jsonl_known(in,
                            "id content content_b64 content_file url input input_b64 "
                            "input_file expected",
                            why) &&
                bytes_read(in, "content", &content, why) &&
                bytes_read(in, "input", &input, why) && jsonl_text(in, "url", &url, why);

    seine_url_init(&page, mem, sizeof mem);
    if (good && !content.ptr && !input.ptr)
        good = reason_set(why, "no member 'content'");
    if (good && url && seine_url_parse(&page, url, strlen(url), NULL) != SEINE_OK)
        good = reason_set(why, "url: '%s' is none", show(url).text);
    if (good) {
        const bytes *b = content.ptr ? &content : &input;

        jsonl_set(out, "ok", seine_json_new_bool(true));
        put_refresh(b->ptr, b->len, url ? &page : NULL, out);
    }
    bytes_free(&content);
    bytes_free(&input);
    return good;
}

static int
run_refresh(const args *a)
{
    const settings *set = a->settings;
    bool all = true;

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, case_refresh) : SAY_USAGE;
    if (a->count == 0)
        return say_fail(SAY_USAGE, "a value, or --jsonl and cases on standard input",
                        "%s needs a value", a->command->name);
    for (size_t i = 0; i < a->count; i++) {
        seine_json *out = xalloc_json(seine_json_new_object());

        jsonl_set(out, "content", jsonl_string(a->words[i]));
        all = put_refresh(a->words[i], strlen(a->words[i]), NULL, out) && all;
        out_json(out);
    }
    return all ? SAY_DONE : SAY_FAILED;
}
