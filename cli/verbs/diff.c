/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/diff_print.h"
#include "report/report_input.h"
#include "screen/say.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *state, *fields;
    int format;
    bool json;
} settings;

static int run_diff(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"fields", NULL, KIND_TEXT, "LIST", AT(fields),
     .help = "what is compared; all of it: outcome,status,title,length,target,sha256,data",
     .more = "`target` is where redirects lead. `sha256` is compared where both runs have recorded it (--fields +sha256), and `data` is what was extracted."},
    {"format", "f", KIND_CHOICE, "text|json|csv|md", "text", AT(format),
     .help = "form of the output; json is a line for each URL"},
    {"json", "j", KIND_FLAG, AT(json), .help = "the same as --format json"},
    {"state", NULL, KIND_FILE, "DIR", ".seine", AT(state), .env = true,
     .help = "where jobs are kept"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine diff pages.jsonl pages.jsonl", "Nothing has changed:"},
    {"seine diff pages.jsonl pages.jsonl --fields status,title -f csv", "For a spreadsheet:"},
    {NULL, NULL},
};

const command cmd_diff = {
    .name = "diff",
    .arguments = "A B",
    .about = "what is new, gone, changed or slower between two runs",
    .is_small = true,
    .text = "Compares the records of two jobs or files (JSON lines, CSV, SQLite, WARC), URL by URL: added, removed and changed ones, and those that took at least twice as long, or half. "
            "A URL with several records counts by its last one. The exit code is 0 if nothing was added, removed or changed, 1 if something was, and 2 if the records cannot be read.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .min_args = 2,
    .max_args = 2,
    .run = run_diff,
};
/* clang-format on */

/* One pass over the records of a run. */
typedef struct pass {
    diff *d;
    diff_side side;
    diff_print *print; /* NULL: they are taken */
    entry_reader reader;
    uint64_t records;
} pass;

static bool
take_line(const char *line, size_t n, void *arg)
{
    pass *p = arg;
    entry e;
    entry_kind type = entry_read(&p->reader, (seine_view){line, n}, &e);

    p->records += type == ENTRY_RESULT || type == ENTRY_SKIP;
    if (!p->print) {
        diff_take(p->d, p->side, &e);
        return true;
    }
    const diff_url *u = diff_next(p->d, &e);
    if (u && diff_kind_of(p->d, u) == p->print->kind)
        diff_print_url(p->print, u, &e);
    return true;
}

static int
run_pass(const args *a, pass *p)
{
    const settings *set = a->settings;
    report_taker to = {.line = take_line, .arg = p};
    report_job job;
    int code = report_input_read(set->state, a->words[p->side], &to, &job);

    report_job_free(&job);
    return code;
}

/* Each input is read several times. */
static int
check_input(const char *name)
{
    struct stat st;

    if (strcmp(name, "-") == 0 ||
        (stat(name, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return say_fail(SAY_USAGE, "a file: the records are read more than once",
                        "'%s' can be read only once", show(name).text);
    return SAY_DONE;
}

static int
read_fields(const char *list, unsigned *out)
{
    *out = list ? 0 : (1u << DIFF_FIELDS) - 1;
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += *p == ',') {
        size_t n = strcspn(p, ",");
        int f = 0;

        while (f < DIFF_FIELDS && (strlen(diff_field_name((diff_field)f)) != n ||
                                   strncmp(diff_field_name((diff_field)f), p, n) != 0))
            f++;
        if (f == DIFF_FIELDS)
            return say_fail(SAY_USAGE, "outcome,status,title,length,target,sha256,data",
                            "--fields '%s': nothing of that name is compared",
                            show_bytes(p, n).text);
        *out |= 1u << f;
    }
    return SAY_DONE;
}

static int
take_both(const args *a, diff *d)
{
    for (int side = DIFF_A; side <= DIFF_B; side++) {
        pass p = {.d = d, .side = (diff_side)side};
        int code = run_pass(a, &p);

        entry_reader_free(&p.reader);
        if (code == SAY_DONE && p.records == 0)
            code = say_fail(SAY_USAGE, "records of seine: fetch or crawl -o FILE.jsonl",
                            "%s has no records", show(a->words[side]).text);
        if (code != SAY_DONE)
            return code;
    }
    return SAY_DONE;
}

static int
print_all(const args *a, diff *d, diff_print *print)
{
    static const diff_kind order[] = {DIFF_REMOVED, DIFF_ADDED, DIFF_CHANGED, DIFF_SLOWER,
                                      DIFF_FASTER};
    int code = SAY_DONE;

    diff_print_head(print);
    for (size_t i = 0; i < sizeof order / sizeof *order && code == SAY_DONE; i++) {
        pass p = {
            .d = d, .side = order[i] == DIFF_REMOVED ? DIFF_A : DIFF_B, .print = print};

        diff_print_kind(print, order[i]);
        if (print->counts.kinds[order[i]] == 0)
            continue;
        diff_again(d, p.side);
        code = run_pass(a, &p);
        entry_reader_free(&p.reader);
    }
    if (code == SAY_DONE)
        diff_print_end(print);
    return code;
}

static int
run_diff(const args *a)
{
    const settings *set = a->settings;
    unsigned fields = 0;
    int code = read_fields(set->fields, &fields);

    for (size_t i = 0; i < 2 && code == SAY_DONE; i++)
        code = check_input(a->words[i]);
    if (code != SAY_DONE)
        return code;
    diff *d = diff_new(fields);
    code = take_both(a, d);
    if (code == SAY_DONE) {
        diff_print print = {.d = d,
                            .form = set->json ? DIFF_JSON : (diff_form)set->format,
                            .names = {a->words[0], a->words[1]},
                            .counts = diff_count(d)};

        code = print_all(a, d, &print);
        if (code == SAY_DONE && print.counts.kinds[DIFF_ADDED] +
                                        print.counts.kinds[DIFF_REMOVED] +
                                        print.counts.kinds[DIFF_CHANGED] >
                                    0)
            code = SAY_FAILED;
    }
    diff_free(d);
    return code;
}
