/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/format.h>
#include <seine/plumbing.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/bytes.h"
#include "verbs/jsonl.h"
#include "verbs/lines.h"
#include "verbs/verbs.h"

typedef struct settings {
    int format;
    bool lines, strict, jsonl;
} settings;

enum { FORMAT_JSON, FORMAT_TEXT };

static int run_json_check(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"lines", NULL, KIND_FLAG, AT(lines),
     .help = "every line is a text of its own; .jsonl and .ndjson always are",
     .more = "The first line that is none is told; `offset` counts from its beginning. Blank lines are none."},
    {"strict", NULL, KIND_FLAG, AT(strict),
     .help = "refuse what is only noted: a name twice, a number nobody reads back",
     .more = "JSON that the readers of seine do not take: a name twice in one object, a number of more than 64 characters, "
             "an integer beyond 64 bits, a number beyond a double."},
    {"format", "f", KIND_CHOICE, "json|text", "json", AT(format),
     .help = "`text`: a line for people"},
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "many cases: one JSON object per line, in and out",
     .more = "In: `json` (text), `json_b64` (base64) or `json_file`, `strict`. Out: `ok`, `error`, `offset`, `line`, `column`, `note`. "
             "`id` is copied; a bad case is {`ok`:false, `error`} and the exit code stays 0."},
    {.name = NULL},
};

static const example examples[] = {
    {"printf '{\"a\":[1,2]}' | seine json check", "Standard input:"},
    {"printf '{\"a\":1,\"a\":2}' | seine json check --strict -f text || true", "What is JSON, and yet no reader agrees about:"},
    {NULL, NULL},
};

const command cmd_json_check = {
    .name = "json check",
    .is_small = true,
    .arguments = "[FILE|-]…",
    .about = "say whether files are JSON, or where not",
    .text = "RFC 8259 to the letter, in one pass: `ok`, or `error` with the byte `offset`, `line` and `column`, and what was expected. "
            "At most 128 levels, 1,000,000 values and 64 MiB a text. Without files standard input is read. "
            "The exit code is 1 if one of them is not JSON.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_json_check,
};
/* clang-format on */

/* The judgement about one text. */
typedef struct answer {
    bool ok;
    char text[240]; /* the error, or a note; "": nothing */
    bool placed;    /* offset, line and column mean something */
    size_t offset;
    uint64_t line, column;
} answer;

/* Finds line and column of an offset; columns count bytes. */
static void
place_fault(answer *to, const char *text, size_t offset)
{
    to->placed = true;
    to->offset = offset;
    to->line = to->column = 1;
    for (size_t i = 0; i < offset; i++) {
        to->column++;
        if (text[i] == '\n') {
            to->line++;
            to->column = 1;
        }
    }
}

static answer
judge_text(const char *text, size_t len, bool strict)
{
    seine_json_fault fault, note = {0, ""};
    answer to = {.ok = true};
    seine_err e = seine_json_check(text, len, &fault, &note);

    to.ok = e == SEINE_OK && !(strict && note.text[0]);
    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK)
        snprintf(to.text, sizeof to.text, "%s: %s", seine_err_name(e), fault.text);
    else if (note.text[0])
        snprintf(to.text, sizeof to.text, "%s%s", strict ? "bad_json: " : "", note.text);
    if (e == SEINE_E_RANGE)
        to.offset = fault.offset;
    else if (to.text[0])
        place_fault(&to, text, e == SEINE_OK ? note.offset : fault.offset);
    return to;
}

static void
set_answer(seine_json *out, const answer *to)
{
    jsonl_set(out, "ok", seine_json_new_bool(to->ok));
    if (to->text[0])
        jsonl_set(out, to->ok ? "note" : "error", jsonl_string(to->text));
    if (!to->placed)
        return;
    jsonl_set(out, "offset", seine_json_new_int((int64_t)to->offset));
    jsonl_set(out, "line", seine_json_new_int((int64_t)to->line));
    jsonl_set(out, "column", seine_json_new_int((int64_t)to->column));
}

static bool
one_case(const seine_json *in, seine_json *out, reason *why)
{
    const seine_json *strict = seine_json_get(in, "strict");
    bool is_strict = false;
    bytes text = {NULL, 0, NULL};
    bool good = jsonl_known(in, "id json json_b64 json_file strict name expect", why) &&
                bytes_read(in, "json", &text, why);

    if (good && strict && !seine_json_bool(strict, &is_strict))
        good = reason_set(why, "strict: not true or false");
    if (good && !text.ptr)
        good = reason_set(why, "no member 'json'");
    if (good) {
        answer to = judge_text(text.ptr, text.len, is_strict);

        set_answer(out, &to);
    }
    bytes_free(&text);
    return good;
}

/* Judges JSON lines: the first line that is no JSON, or the first note. */
static int
judge_lines(const char *path, bool strict, answer *to)
{
    lines in;
    lines_got got = LINES_END;
    int code = lines_open(&in, path);

    *to = (answer){.ok = true};
    if (code != SAY_DONE)
        return code;
    while (to->ok && ((got = lines_next(&in)) == LINES_ONE || got == LINES_TOO_LONG)) {
        answer one = {.ok = false};

        if (got == LINES_TOO_LONG)
            snprintf(one.text, sizeof one.text, "range: longer than %zu bytes",
                     LINES_LONGEST);
        else
            one = judge_text(in.text, in.len, strict);
        if (!one.ok || (one.text[0] && !to->text[0])) {
            *to = one;
            to->line = in.number;
            to->placed = true;
        }
    }
    lines_close(&in);
    return got == LINES_FAILED ? SAY_MACHINE : SAY_DONE;
}

/* Judges a whole file, or standard input. */
static int
judge_file(const char *path, bool strict, answer *to)
{
    bool stream = strcmp(path, "-") == 0;
    seine_json *ask = xalloc_json(seine_json_new_object());
    reason why = {""};
    bytes text;

    jsonl_set(ask, "json_file", jsonl_string(stream ? "/dev/stdin" : path));
    bool good = bytes_read(ask, "json", &text, &why);
    seine_json_free(ask);
    if (good)
        *to = judge_text(text.ptr, text.len, strict);
    bytes_free(&text);
    return good ? SAY_DONE : say_fail(SAY_USAGE, NULL, "%s", why.text);
}

static void
print_judgement(const char *path, const answer *to, int format)
{
    seine_json *out;

    if (format == FORMAT_TEXT) {
        out_print("%s  %s", to->ok ? "ok" : "FAIL", show(path).text);
        if (to->placed)
            out_print(":%llu:%llu", (unsigned long long)to->line,
                      (unsigned long long)to->column);
        out_print("%s%s\n", to->text[0] ? ": " : "", to->text);
        return;
    }
    out = xalloc_json(seine_json_new_object());
    jsonl_set(out, "file", jsonl_string(path));
    set_answer(out, to);
    out_json(out);
}

static int
judge_one_file(const char *path, const settings *set, bool *all)
{
    seine_sink_pack pack;
    bool is_jsonl = seine_format_of_output(path, &pack) == SEINE_SINK_JSONL;
    bool by_line = set->lines || (is_jsonl && pack == SEINE_PACK_NONE);
    answer to = {.ok = false};
    int code = by_line ? judge_lines(path, set->strict, &to)
                       : judge_file(path, set->strict, &to);

    if (code == SAY_DONE)
        print_judgement(path, &to, set->format);
    *all = *all && code == SAY_DONE && to.ok;
    return code;
}

/* Judges all files, though some cannot be read. */
static int
run_json_check(const args *a)
{
    const settings *set = a->settings;
    int worst = SAY_DONE;
    bool all = true;

    if (set->jsonl && a->count > 0)
        return say_fail(SAY_USAGE, "one of the two",
                        "--jsonl reads standard input, not '%s'", show(a->words[0]).text);
    if (set->jsonl)
        return jsonl_only(a) ? jsonl_run(NULL, one_case) : SAY_USAGE;
    if (a->count == 0)
        worst = judge_one_file("-", set, &all);
    for (size_t i = 0; i < a->count; i++) {
        int code = judge_one_file(a->words[i], set, &all);

        worst = worst == SAY_DONE ? code : worst;
    }
    return worst != SAY_DONE ? worst : all ? SAY_DONE : SAY_FAILED;
}
