/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <seine/url.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/bytes.h"
#include "verbs/jsonl.h"
#include "verbs/lines.h"
#include "verbs/url_place.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *base, *strip;
    int format;
    bool jsonl;
} settings;

enum { FORMAT_JSON, FORMAT_TEXT };

static int run_parse(const args *a);
static int run_resolve(const args *a);
static int run_normalize(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
#define OPTION_BASE \
    {"base", NULL, KIND_TEXT, "URL", AT(base), \
     .help = "the page on which relative references stand"}
#define OPTION_FORMAT \
    {"format", "f", KIND_CHOICE, "json|text", "json", AT(format), \
     .help = "`text`: the URL alone"}
#define OPTION_JSONL(more_) \
    {"jsonl", NULL, KIND_FLAG, AT(jsonl), \
     .help = "many cases: one JSON object per line, in and out", \
     .more = "In: `input` (or `ref`), `base`" more_ "; each also as `input_b64` (base64) or `input_file`. Out: what the command prints. " \
             "`id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."}

static const option parse_options[] = {OPTION_BASE, OPTION_FORMAT, OPTION_JSONL(""), {.name = NULL}};
static const option resolve_options[] = {OPTION_BASE, OPTION_FORMAT, OPTION_JSONL(""), {.name = NULL}};
static const option normalize_options[] = {
    OPTION_BASE,
    {"strip-params", NULL, KIND_TEXT, "LIST", AT(strip),
     .help = "leave out these parameters of the query: utm_*,fbclid",
     .more = "Names separated by commas; `*` stands for any characters, `?` for one."},
    OPTION_FORMAT,
    OPTION_JSONL(", `strip_params`"),
    {.name = NULL},
};

static const example parse_examples[] = {
    {"seine url parse 'HTTP://Ex.Example:80/%7ea?#x'", "What a browser makes of it:"},
    {NULL, NULL},
};
static const example resolve_examples[] = {
    {"seine url resolve --base https://e.example/a/b ../c -f text", "Where a link leads:"},
    {NULL, NULL},
};
static const example normalize_examples[] = {
    {"seine url normalize 'HTTP://Ex.Example:80/%7ea?#x'", "The key of a URL:"},
    {"printf 'http://E.example/?utm_x=1\\nhttp://e.example\\n' | seine url normalize --strip-params 'utm_*' -f text | sort -u",
     "How many pages a list really names:"},
    {NULL, NULL},
};

const command cmd_url_parse = {
    .name = "url parse",
    .is_small = true,
    .arguments = "[URL|-]…",
    .about = "take URLs apart, as a browser would",
    .text = "The URL Standard, with its names: `href`, `origin`, `protocol`, `username`, `password`, `host`, `hostname`, `port`, `pathname`, "
            "`search`, `hash`. Without URLs standard input is read, one a line. The exit code is 1 if one of them is no URL.",
    .options = parse_options,
    .examples = parse_examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_parse,
};

const command cmd_url_resolve = {
    .name = "url resolve",
    .is_small = true,
    .arguments = "[REF|-]…",
    .about = "say where references on a page lead",
    .text = "Without references standard input is read, one a line. The exit code is 1 if one of them leads nowhere.",
    .options = resolve_options,
    .examples = resolve_examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_resolve,
};

const command cmd_url_normalize = {
    .name = "url normalize",
    .is_small = true,
    .also = "url normalise",
    .arguments = "[URL|-]…",
    .about = "print the key by which two URLs are the same page",
    .text = "Escapes in upper case, those of letters, digits and `-._~` undone in path and query, no fragment, no empty query; nothing is sorted. "
            "This is how duplicates are found; what is requested is the URL as it was written. Without URLs standard input is read, one a line. "
            "The exit code is 1 if one of them is no URL.",
    .options = normalize_options,
    .examples = normalize_examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_normalize,
};
/* clang-format on */

/* A URL and its memory. */
/* Reads a URL; an empty base counts as none. */
static bool
read_url(url_place *p, const seine_url *base, const char *text, size_t len, reason *why)
{
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};
    seine_err e = url_place_read(p, base, text, len, &flaw);

    return e == SEINE_OK || url_place_refuse("", e, &flaw, why);
}

/* Adds a part with the delimiter that the standard shows before or behind it. */
static void
put_part(seine_json *out, const char *name, const char *before, seine_view part,
         const char *behind)
{
    char text[SEINE_URL_ROOM + 2] = "";

    if (part.len > 0)
        snprintf(text, sizeof text, "%s%.*s%s", before, (int)part.len, part.ptr, behind);
    jsonl_set(out, name, jsonl_string(text));
}

/* Adds to `out` what a verb says about a URL. */
typedef void (*verb)(const seine_url *u, const char *strip, seine_json *out);

static void
put_href(const seine_url *u, const char *strip, seine_json *out)
{
    (void)strip;
    put_part(out, "href", "", seine_url_href(u), "");
}

static void
put_parts(const seine_url *u, const char *strip, seine_json *out)
{
    char origin[SEINE_URL_ROOM];
    size_t len = seine_url_origin(u, origin, sizeof origin);

    put_href(u, strip, out);
    put_part(out, "origin", "", (seine_view){origin, len}, "");
    put_part(out, "protocol", "", seine_url_scheme(u), ":");
    put_part(out, "username", "", seine_url_username(u), "");
    put_part(out, "password", "", seine_url_password(u), "");
    put_part(out, "host", "", seine_url_host_port(u), "");
    put_part(out, "hostname", "", seine_url_host(u), "");
    put_part(out, "port", "", seine_url_port_text(u), "");
    put_part(out, "pathname", "", seine_url_path(u), "");
    put_part(out, "search", "?", seine_url_query(u), "");
    put_part(out, "hash", "#", seine_url_fragment(u), "");
}

static void
put_key(const seine_url *u, const char *strip, seine_json *out)
{
    char key[SEINE_URL_ROOM];
    size_t len = 0;

    if (seine_url_key(u, strip, key, sizeof key, &len) != SEINE_OK)
        len = 0; /* cannot be: there is room for every href */
    put_part(out, "href", "", (seine_view){key, len}, "");
}

/* Answers one case of --jsonl. A recorded case may hold the expected results as well. */
static bool
answer_url_case(verb fn, bool needs_base, const seine_json *in, seine_json *out,
                reason *why)
{
    static url_place base, url;
    bytes input = {0}, ref = {0}, page = {0};
    const char *strip = NULL;
    bool good = false;

    seine_url_init(&base.url, base.mem, sizeof base.mem);
    if (!jsonl_known(in,
                     "id input input_b64 input_file ref ref_b64 ref_file base base_b64 "
                     "base_file strip_params href origin protocol username password host "
                     "hostname port pathname search searchParams hash failure relativeTo "
                     "comment kind expect alt note",
                     why) ||
        !bytes_read(in, "input", &input, why) || !bytes_read(in, "ref", &ref, why) ||
        !bytes_read(in, "base", &page, why) ||
        !jsonl_text(in, "strip_params", &strip, why))
        goto out;
    if (!input.ptr == !ref.ptr) {
        reason_set(why, input.ptr ? "both 'input' and 'ref'" : "no member 'input'");
        goto out;
    }
    if (needs_base && !page.ptr) {
        reason_set(why, "no member 'base'");
        goto out;
    }
    const bytes *text = input.ptr ? &input : &ref;
    if ((page.ptr && !url_place_read_base(&base, page.ptr, page.len, why)) ||
        !read_url(&url, &base.url, text->ptr, text->len, why))
        goto out;
    jsonl_set(out, "ok", seine_json_new_bool(true));
    fn(&url.url, strip, out);
    good = true;
out:
    bytes_free(&input);
    bytes_free(&ref);
    bytes_free(&page);
    return good;
}

static bool
answer_parse(const seine_json *in, seine_json *out, reason *why)
{
    return answer_url_case(put_parts, false, in, out, why);
}

static bool
answer_resolve(const seine_json *in, seine_json *out, reason *why)
{
    return answer_url_case(put_href, true, in, out, why);
}

static bool
answer_normalize(const seine_json *in, seine_json *out, reason *why)
{
    return answer_url_case(put_key, false, in, out, why);
}

/* The work on the command line. */
typedef struct job {
    const settings *set;
    verb fn;
    url_place base;
    bool failed;
} job;

static void
show_bad(job *j, const char *text, size_t len, const reason *why)
{
    j->failed = true;
    if (j->set->format == FORMAT_TEXT) {
        say_note("'%s': %s", show_bytes(text, len).text, why->text);
        return;
    }
    seine_json *out = xalloc_json(seine_json_new_object());
    jsonl_set(out, "input", jsonl_string(text));
    jsonl_set(out, "ok", seine_json_new_bool(false));
    jsonl_set(out, "error", jsonl_string(why->text));
    out_json(out);
}

static void
print_url(job *j, const char *text, size_t len)
{
    static url_place url;
    reason why;

    if (!read_url(&url, &j->base.url, text, len, &why)) {
        show_bad(j, text, len, &why);
        return;
    }
    seine_json *out = xalloc_json(seine_json_new_object());
    jsonl_set(out, "input", jsonl_string(text));
    jsonl_set(out, "ok", seine_json_new_bool(true));
    j->fn(&url.url, j->set->strip, out);
    if (j->set->format == FORMAT_JSON) {
        out_json(out);
        return;
    }
    const char *href = "";
    size_t href_len = 0;
    seine_json_string(seine_json_get(out, "href"), &href, &href_len);
    out_print("%s\n", href);
    seine_json_free(out);
}

static int
print_each_line(job *j)
{
    lines in;
    lines_got got;
    int code = lines_open(&in, NULL);

    if (code != SAY_DONE)
        return code;
    while ((got = lines_next(&in)) == LINES_ONE || got == LINES_TOO_LONG) {
        if (got == LINES_ONE)
            print_url(j, in.text, in.len);
        else
            show_bad(j, "", 0, &(reason){"longer than any URL"});
    }
    lines_close(&in);
    return got == LINES_FAILED ? SAY_MACHINE : SAY_DONE;
}

static int
run_url(const args *a, verb fn, jsonl_fn case_fn)
{
    static job j;
    const settings *set = a->settings;
    reason why;
    int code = SAY_DONE;

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, case_fn) : SAY_USAGE;
    j = (job){.set = set, .fn = fn};
    seine_url_init(&j.base.url, j.base.mem, sizeof j.base.mem);
    if (set->base && !url_place_read_base(&j.base, set->base, strlen(set->base), &why))
        return say_fail(SAY_USAGE, "--base https://e.example/page", "--%s", why.text);
    if (a->count == 0)
        code = print_each_line(&j);
    for (size_t i = 0; i < a->count && code == SAY_DONE; i++)
        if (strcmp(a->words[i], "-") == 0)
            code = print_each_line(&j);
        else
            print_url(&j, a->words[i], strlen(a->words[i]));
    return code == SAY_DONE && j.failed ? SAY_FAILED : code;
}

static int
run_parse(const args *a)
{
    return run_url(a, put_parts, answer_parse);
}

static int
run_resolve(const args *a)
{
    const settings *set = a->settings;

    if (!set->base && !set->jsonl)
        return say_fail(SAY_USAGE, "seine url resolve --base https://e.example/page REF",
                        "url resolve needs --base");
    return run_url(a, put_href, answer_resolve);
}

static int
run_normalize(const args *a)
{
    return run_url(a, put_key, answer_normalize);
}
