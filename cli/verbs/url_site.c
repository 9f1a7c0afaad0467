/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <seine/psl.h>
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
    const char *list;
    int format;
    bool jsonl;
} settings;

enum { FORMAT_JSON, FORMAT_TEXT };

static int run_site(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"list", NULL, KIND_FILE, "FILE", AT(list),
     .help = "a public suffix list, not that of libpsl",
     .more = "In the format of publicsuffix.org."},
    {"format", "f", KIND_CHOICE, "json|text", "json", AT(format),
     .help = "`text`: the site alone"},
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `input` (or `ref`), `base`; each also as `input_b64` (base64) or `input_file`. Out: what the command prints. "
             "`id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."},
    {.name = NULL},
};

static const example examples[] = {
    {"seine url site https://www.example.co.uk/a", "Whose page is it?"},
    {NULL, NULL},
};

const command cmd_url_site = {
    .name = "url site",
    .is_small = true,
    .arguments = "[URL|HOST|-]…",
    .about = "name the registrable domain of URLs",
    .text = "`site` is what somebody registered, `suffix` what it was registered under, by the public suffix list; null where there is none: a suffix "
            "itself has no site. An address is its own site. A bare host is answered in the letters it was given in, a URL in those of the DNS. "
            "Without URLs standard input is read, one a line. The exit code is 1 if one of them is no URL.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_site,
};
/* clang-format on */

static seine_psl *list;

static bool
could_be_host(const bytes *text)
{
    for (size_t i = 0; i < text->len; i++)
        if (!text->ptr[i] || strchr("/\\?#@: ", text->ptr[i]))
            return false;
    return text->len > 0 && text->len < 1024;
}

/* Reads a URL, or a host alone as if it were one. */
static bool
read_input(url_place *p, const seine_url *base, const bytes *text, bool *out_bare,
           reason *why)
{
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};
    seine_err e = url_place_read(p, base, text->ptr, text->len, &flaw);

    *out_bare =
        e == SEINE_E_BAD_URL && flaw.kind == SEINE_URL_NO_BASE && could_be_host(text);
    if (*out_bare) {
        char whole[1100];

        snprintf(whole, sizeof whole, "http://%.*s/", (int)text->len, text->ptr);
        e = seine_url_parse(&p->url, whole, strlen(whole), &flaw);
    }
    return e == SEINE_OK || url_place_refuse("", e, &flaw, why);
}

static size_t
count_dots(const char *text, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += text[i] == '.';
    return n;
}

/* The last `n` bytes of a name. Of a host that was given in other letters, the same
 * number of labels as they were given. */
static seine_json *
name_ending(seine_view name, size_t n, const bytes *bare)
{
    const char *end = name.ptr + name.len;
    size_t labels = count_dots(end - n, n) + 1, len = bare ? bare->len : 0;

    if (n == 0)
        return seine_json_new_null();
    if (len > 0 && bare->ptr[len - 1] == '.')
        len--;
    bool ascii = true;
    for (size_t i = 0; i < len; i++)
        ascii = ascii && (unsigned char)bare->ptr[i] < 0x80;
    if (ascii || count_dots(bare->ptr, len) != count_dots(name.ptr, name.len))
        return seine_json_new_string(end - n, n);
    const char *from = bare->ptr + len;
    while (labels > 0 && from > bare->ptr)
        labels -= *--from == '.';
    from += *from == '.';
    char text[1024];
    n = 0;
    for (; from < bare->ptr + len; from++)
        text[n++] = *from >= 'A' && *from <= 'Z' ? (char)(*from | 0x20) : *from;
    return seine_json_new_string(text, n);
}

static void
put_site(const seine_url *u, const bytes *bare, seine_json *out)
{
    seine_url_host_kind is = seine_url_host_is(u);
    seine_view name = seine_url_host(u);

    if (is == SEINE_HOST_IPV4 || is == SEINE_HOST_IPV6) {
        jsonl_set(out, "site", seine_json_new_string(name.ptr, name.len));
        jsonl_set(out, "suffix", seine_json_new_null());
        return;
    }
    if (is != SEINE_HOST_NAME)
        name.len = 0;
    while (name.len > 0 && name.ptr[name.len - 1] == '.')
        name.len--;
    jsonl_set(out, "site",
              name_ending(name, seine_psl_site(list, name.ptr, name.len), bare));
    jsonl_set(out, "suffix",
              name_ending(name, seine_psl_suffix(list, name.ptr, name.len), bare));
}

/* Answers one case of --jsonl. A recorded case may hold the expected results as well. */
static bool
answer_site_case(const seine_json *in, seine_json *out, reason *why)
{
    static url_place base, url;
    bytes input = {0}, ref = {0}, page = {0};
    bool good = false, bare;

    seine_url_init(&base.url, base.mem, sizeof base.mem);
    if (!jsonl_known(in,
                     "id input input_b64 input_file ref ref_b64 ref_file base base_b64 "
                     "base_file site suffix comment note expect",
                     why) ||
        !bytes_read(in, "input", &input, why) || !bytes_read(in, "ref", &ref, why) ||
        !bytes_read(in, "base", &page, why))
        goto out;
    if (!input.ptr == !ref.ptr) {
        reason_set(why, input.ptr ? "both 'input' and 'ref'" : "no member 'input'");
        goto out;
    }
    if (page.ptr && !url_place_read_base(&base, page.ptr, page.len, why))
        goto out;
    const bytes *text = input.ptr ? &input : &ref;
    if (!read_input(&url, &base.url, text, &bare, why))
        goto out;
    jsonl_set(out, "ok", seine_json_new_bool(true));
    put_site(&url.url, bare ? text : NULL, out);
    good = true;
out:
    bytes_free(&input);
    bytes_free(&ref);
    bytes_free(&page);
    return good;
}

static bool
show_bad(const settings *set, const char *text, size_t len, const char *why)
{
    if (set->format == FORMAT_TEXT) {
        say_note("'%s': %s", show_bytes(text, len).text, why);
        return false;
    }
    seine_json *out = xalloc_json(seine_json_new_object());
    jsonl_set(out, "input", jsonl_string(text));
    jsonl_set(out, "ok", seine_json_new_bool(false));
    jsonl_set(out, "error", jsonl_string(why));
    out_json(out);
    return false;
}

/* Prints the site of one argument. False: it is no URL. */
static bool
print_site(const settings *set, const char *text, size_t len)
{
    static url_place none, url;
    bytes input = {text, len, NULL};
    reason why;
    bool bare;

    seine_url_init(&none.url, none.mem, sizeof none.mem);
    if (!read_input(&url, &none.url, &input, &bare, &why))
        return show_bad(set, text, len, why.text);
    seine_json *out = xalloc_json(seine_json_new_object());
    jsonl_set(out, "input", jsonl_string(text));
    jsonl_set(out, "ok", seine_json_new_bool(true));
    put_site(&url.url, bare ? &input : NULL, out);
    if (set->format == FORMAT_JSON) {
        out_json(out);
        return true;
    }
    const char *site = "";
    size_t site_len = 0;
    seine_json_string(seine_json_get(out, "site"), &site, &site_len);
    out_print("%s\n", site);
    seine_json_free(out);
    return true;
}

static int
print_each_line(const settings *set, bool *all)
{
    lines in;
    lines_got got;
    int code = lines_open(&in, NULL);

    if (code != SAY_DONE)
        return code;
    while ((got = lines_next(&in)) == LINES_ONE || got == LINES_TOO_LONG)
        *all = (got == LINES_ONE ? print_site(set, in.text, in.len)
                                 : show_bad(set, "", 0, "longer than any URL")) &&
               *all;
    lines_close(&in);
    return got == LINES_FAILED ? SAY_MACHINE : SAY_DONE;
}

static int
print_each_word(const args *a)
{
    const settings *set = a->settings;
    int code = SAY_DONE;
    bool all = true;

    if (a->count == 0)
        code = print_each_line(set, &all);
    for (size_t i = 0; i < a->count && code == SAY_DONE; i++)
        if (strcmp(a->words[i], "-") == 0)
            code = print_each_line(set, &all);
        else
            all = print_site(set, a->words[i], strlen(a->words[i])) && all;
    return code == SAY_DONE && !all ? SAY_FAILED : code;
}

static int
run_site(const args *a)
{
    const settings *set = a->settings;
    int code;

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    seine_err e = seine_psl_new(set->list, &list);
    if (e != SEINE_OK && set->list)
        return say_fail(SAY_USAGE, "/usr/share/publicsuffix/public_suffix_list.dat",
                        "--list '%s': no public suffix list", show(set->list).text);
    if (e != SEINE_OK)
        return say_fail(SAY_MACHINE, "--list FILE", "no public suffix list: %s",
                        seine_err_text(e));
    code = set->jsonl ? jsonl_run(NULL, answer_site_case) : print_each_word(a);
    seine_psl_free(list);
    return code;
}
