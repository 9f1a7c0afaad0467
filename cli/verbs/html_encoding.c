/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <seine/charset.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/bytes.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *charset;
    bool jsonl;
} settings;

static int run_html_encoding(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"charset", NULL, KIND_TEXT, "LABEL", AT(charset),
     .help = "what the header says; one nobody knows is passed over"},
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `html`, as text, base64 (`html_b64`) or a file's name (`html_file`); `charset`. Out: `encoding`, `from`. "
             "`id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."},
    {.name = NULL},
};

static const example examples[] = {
    {"printf '<meta charset=latin1>' | seine html encoding -", "What a page says it is written in:"},
    {NULL, NULL},
};

const command cmd_html_encoding = {
    .name = "html encoding",
    .is_small = true,
    .arguments = "[FILE|-]…",
    .about = "say in which encoding a page is read, and who says so",
    .text = "`encoding` is one of the 40 of the Encoding Standard, in lower case; `from` is bom, header, meta, guess or default, the order in which they are asked.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_html_encoding,
};
/* clang-format on */

static void
put_encoding(const bytes *html, const char *charset, seine_json *out)
{
    seine_charset_choice c;

    seine_charset_decide(html->ptr, html->len, charset, charset ? strlen(charset) : 0,
                         &c);
    jsonl_set(out, "encoding", jsonl_string(seine_charset_name(c.charset)));
    jsonl_set(out, "from", jsonl_string(seine_charset_from_name(c.from)));
}

/* A recorded case may hold the expected results as well. */
static bool
answer_encoding_case(const seine_json *in, seine_json *out, reason *why)
{
    bytes html = {0};
    const char *charset = NULL;
    bool good =
        jsonl_known(in, "id html html_b64 html_file charset encoding from", why) &&
        bytes_read(in, "html", &html, why) && jsonl_text(in, "charset", &charset, why);

    if (good && !html.ptr)
        good = reason_set(why, "no member 'html'");
    if (good) {
        jsonl_set(out, "ok", seine_json_new_bool(true));
        put_encoding(&html, charset, out);
    }
    bytes_free(&html);
    return good;
}

static int
print_encoding(const char *name, const char *charset)
{
    bytes html;
    int code = bytes_file(name, &html);

    if (code == SAY_DONE) {
        seine_json *out = xalloc_json(seine_json_new_object());

        if (strcmp(name, "-") != 0)
            jsonl_set(out, "file", jsonl_string(name));
        put_encoding(&html, charset, out);
        out_json(out);
    }
    bytes_free(&html);
    return code;
}

static int
run_html_encoding(const args *a)
{
    const settings *set = a->settings;
    int code = SAY_DONE;

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, answer_encoding_case) : SAY_USAGE;
    if (a->count == 0)
        return print_encoding("-", set->charset);
    for (size_t i = 0; i < a->count && code == SAY_DONE; i++)
        code = print_encoding(a->words[i], set->charset);
    return code;
}
