/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <seine/convert.h>
#include <seine/format.h>

#include "options/option_names.h"
#include "screen/say.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *from, *to;
    bool append, overwrite, csv_raw, csv_crlf, skip_bad;
    int body;
} settings;

static int run_convert(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"from", NULL, KIND_TEXT, "FMT", AT(from),
     .help = "what the input is: jsonl, csv, sqlite or warc",
     .more = "Without it the name tells, with or without .gz or .zst; of any other name and of standard input the first bytes do."},
    {"to", NULL, KIND_TEXT, "FMT", AT(to),
     .help = "what the output shall be",
     .more = "Without it the name tells; standard output gets JSON lines."},
    {"overwrite", NULL, KIND_FLAG, AT(overwrite),
     .help = "replace an output that exists"},
    {"append", NULL, KIND_FLAG, AT(append),
     .help = "write behind what an output has"},
    {"skip-bad", NULL, KIND_FLAG, AT(skip_bad),
     .help = "leave out what cannot be read; a note tells each",
     .more = "Without it the first bad line is the end, with exit code 2; what was converted before it stays. With it the exit code is 1 if there was one."},
    {"body", NULL, KIND_CHOICE, "none|text|b64", "none", AT(body),
     .help = "of a WARC: the bodies too, as `body` or `body_b64`"},
    {"csv-raw", NULL, KIND_FLAG, AT(csv_raw),
     .help = "no guard against formulas: none written, none taken away"},
    {"csv-crlf", NULL, KIND_FLAG, AT(csv_crlf),
     .help = "end the lines of CSV in CR LF"},
    {.name = NULL},
};

static const example examples[] = {
    {"printf 'name,n\\nx,1\\n' | seine convert --from csv", "Any CSV as JSON lines:"},
    {"printf '{\"name\":\"x\",\"n\":1}\\n' | seine convert --to csv", "And back:"},
    {NULL, NULL},
};

const command cmd_convert = {
    .name = "convert",
    .is_small = true,
    .arguments = "[IN [OUT]]",
    .about = "change the format of records, or of any CSV or JSON lines",
    .text = "From and to JSON lines, CSV and SQLite, and from WARC; .gz and .zst on both sides. `-` and a name that is missing are standard input and output. "
            "Records stream; what the other format has no place for is left out and named once, at the end. "
            "Files that are not seine's are converted by the names of their columns or members: cells become strings, the members of the first object columns.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = 2,
    .run = run_convert,
};
/* clang-format on */

/* Prints a note. The line may be long, and may quote a foreign file. */
static void
note_line(const char *line, const char *member, void *arg)
{
    char text[4096];
    size_t n = 0, left = strlen(line);

    (void)arg;
    while (left > 0 && n + 8 < sizeof text) {
        size_t len = show_char(line, left, NULL);

        n +=
            (size_t)(len > 0 ? snprintf(text + n, sizeof text - n, "%.*s", (int)len, line)
                             : snprintf(text + n, sizeof text - n, "\\x%02x",
                                        (unsigned char)*line));
        line += len > 0 ? len : 1;
        left -= len > 0 ? len : 1;
    }
    text[n] = '\0';
    say_note("%s%s%s", text, left > 0 ? "…" : "",
             member && strcmp(member, "body") == 0 ? ": try --body b64" : "");
}

static int
read_format(const char *typed, const char *name, seine_sink_format *out)
{
    if (!name || seine_format_by_name(name, out) == SEINE_OK)
        return SAY_DONE;
    return say_fail(SAY_USAGE, "jsonl, csv, sqlite or warc", "%s '%s': no such format",
                    typed, show(name).text);
}

/* What to do about a conversion that there is no way for. */
static const char *
advice_for(const seine_diag *diag)
{
    static const struct {
        const char *member, *hint;
    } rows[] = {{"out", "--to jsonl|csv|sqlite|warc"},
                {"in", "--to csv"},
                {"to", "seine fetch -o NAME.warc.gz"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(diag->member, rows[i].member) == 0)
            return rows[i].hint;
    return NULL;
}

static int
code_of(seine_err e, const seine_converted *done, const seine_diag *diag,
        const seine_diag_name *names)
{
    switch (e) {
    case SEINE_E_ALREADY:
        return option_names_fail(names, SAY_USAGE,
                                 "--append, --overwrite, or another name", diag, e);
    case SEINE_E_PARSE:
        return option_names_fail(names, SAY_USAGE,
                                 done->bad > 0 ? "--skip-bad to leave it out" : NULL,
                                 diag, e);
    case SEINE_E_INVAL:
        return option_names_fail(names, SAY_USAGE, advice_for(diag), diag, e);
    case SEINE_E_OUTPUT_CHANGED:
    case SEINE_E_STATE_FOREIGN:
    case SEINE_E_STATE_NEWER:
    case SEINE_E_STATE_CORRUPT:
        return option_names_fail(names, SAY_USAGE, "--overwrite, or another name", diag,
                                 e);
    case SEINE_E_STATE_LOCKED:
        return option_names_fail(names, SAY_USAGE, NULL, diag, e);
    case SEINE_E_OUTPUT_CLOSED:
        return SAY_PIPE;
    default:
        return option_names_fail(names, SAY_MACHINE, NULL, diag, e);
    }
}

static int
run_convert(const args *a)
{
    const settings *set = a->settings;
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_converted done;
    seine_diag diag = SEINE_DIAG;

    int code = read_format("--from", set->from, &o.from);
    if (code == SAY_DONE)
        code = read_format("--to", set->to, &o.to);
    if (code != SAY_DONE)
        return code;
    if (set->append && set->overwrite)
        return say_fail(SAY_USAGE, "one of the two", "--append and --overwrite");
    o.in = a->count > 0 ? a->words[0] : NULL;
    o.out = a->count > 1 ? a->words[1] : NULL;
    o.append = set->append;
    o.overwrite = set->overwrite;
    o.csv_raw = set->csv_raw;
    o.csv_crlf = set->csv_crlf;
    o.skip_bad = set->skip_bad;
    o.body = (seine_body_form)set->body;
    if (!a->quiet)
        o.note = note_line;

    seine_err e = seine_convert(&o, &done, &diag);
    if (e != SEINE_OK) {
        seine_diag_name *names = option_names_new(a->command);

        code = code_of(e, &done, &diag, names);
        option_names_free(names);
        return code;
    }
    return done.bad > 0 ? SAY_FAILED : SAY_DONE;
}
