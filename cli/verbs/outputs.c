/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seine/format.h>
#include <seine/job.h>
#include <seine/plumbing.h>

#include "options/crawl_opts.h"
#include "options/option_names.h"
#include "screen/say.h"
#include "screen/template_names.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

static bool
has_stdout(const fetch_settings *set)
{
    for (size_t i = 0; i < set->output.count; i++) {
        const char *name = set->output.items[i];
        const char *colon = strrchr(name, ':');

        if (strcmp(name, "-") == 0 || (colon && strcmp(colon, ":-") == 0))
            return true;
    }
    return set->output.count == 0 || set->raw || set->write_out || set->include_headers;
}

static stdout_format
format_of(const fetch_settings *set)
{
    if (set->json)
        return STDOUT_JSONL;
    if (set->format != STDOUT_AUTO)
        return (stdout_format)set->format;
    return isatty(STDOUT_FILENO) ? STDOUT_TEXT : STDOUT_JSONL;
}

outputs_form
outputs_form_of(const fetch_settings *set)
{
    if (!has_stdout(set) || set->store.count > 0)
        return FORM_SILENT;
    if (set->raw)
        return FORM_SINK;
    if (set->include_headers)
        return FORM_HEADS;
    if (set->write_out)
        return FORM_PATTERN;
    for (size_t i = 0; i < set->output.count; i++)
        if (strchr(set->output.items[i], ':') &&
            strcmp(strrchr(set->output.items[i], ':'), ":-") == 0)
            return FORM_SINK;
    return format_of(set) == STDOUT_TEXT ? FORM_ROWS : FORM_SINK;
}

#define FIRST_BIN SEINE_US(62)

seine_span
outputs_bin(size_t i)
{
    seine_span base = FIRST_BIN << i / 2;

    return i == 0 ? 0 : i % 2 ? base + base / 2 : base;
}

/* The last bin that begins at `took` or before. */
static size_t
bin_of(seine_span took)
{
    if (took < outputs_bin(1))
        return 0;
    uint64_t times = (uint64_t)(took / FIRST_BIN);
    size_t power = 63 - (size_t)__builtin_clzll(times);

    if (power >= OUTPUTS_BINS / 2)
        return OUTPUTS_BINS - 1;
    return 2 * power + (took >= outputs_bin(2 * power + 1));
}

static void
count_time(outputs *o, const seine_record *r)
{
    if (r->type == SEINE_RECORD_RESULT && r->attempts > 0)
        o->bins[bin_of(seine_record_latency(r))]++;
}

static void
note_host(outputs *o, const seine_record *r)
{
    if (r->host.len == 0 || o->host[0])
        return;
    pthread_mutex_lock(&o->lock);
    snprintf(o->host, sizeof o->host, "%s", show_host(r->host.ptr, r->host.len).text);
    pthread_mutex_unlock(&o->lock);
}

seine_err
outputs_err_of(int number)
{
    return number == 0           ? SEINE_OK
           : number == EPIPE     ? SEINE_E_OUTPUT_CLOSED
           : number == ENOSPC    ? SEINE_E_DISK_FULL
           : number == ETIMEDOUT ? SEINE_E_DEADLINE
                                 : SEINE_E_IO;
}

/* Whether the run ended before the URL was asked for. The rows of a crawl leave these
 * out, because there may be thousands; the closing line has their number. */
static bool
is_left_over(const seine_record *r)
{
    return r->type == SEINE_RECORD_RESULT && r->fate == SEINE_FATE_CANCELED &&
           r->attempts == 0;
}

static void
count_record(outputs *o, const seine_record *r)
{
    seine_tally_add(o->tally, r);
    report_sink_add(&o->report, r);
    count_time(o, r);
}

void
outputs_count(outputs *o, const seine_record *r)
{
    seine_tally_add(o->tally, r);
    report_sink_add_kept(&o->report, r);
    count_time(o, r);
}

/* Prints the head of the last response and its body, for a terminal without what could
 * move its cursor. */
static int
write_whole(outputs *o, const seine_record *r)
{
    textbuf all = {NULL, 0, 0};
    int why;

    if (r->type != SEINE_RECORD_RESULT || r->http == 0)
        return 0;
    textbuf_put(&all, "HTTP/%u.%u %u\r\n", r->http / 10, r->http % 10, r->status);
    for (size_t i = 0; i < r->n_fields; i++) {
        const seine_field *f = &r->fields[i];

        textbuf_add(&all, f->name.ptr, f->name.len);
        textbuf_add(&all, ": ", 2);
        textbuf_add(&all, f->value.ptr, f->value.len);
        textbuf_add(&all, "\r\n", 2);
    }
    textbuf_add(&all, "\r\n", 2);
    if (r->body.len)
        textbuf_add(&all, r->body.ptr, r->body.len);
    if (isatty(STDOUT_FILENO)) {
        size_t n = seine_inert(all.text, all.len, SEINE_INERT_SCREEN, NULL, 0);
        char *clean = xalloc_zeroed(n + 1, 1);

        seine_inert(all.text, all.len, SEINE_INERT_SCREEN, clean, n);
        why = terminal_text(o->terminal, clean, n);
        free(clean);
    } else {
        why = terminal_text(o->terminal, all.text, all.len);
    }
    textbuf_free(&all);
    return why;
}

/* Prints a record, if standard output is for people. */
static seine_err
print_record(const seine_record *r, uint64_t seq, void *arg)
{
    outputs *o = arg;
    seine_change change = seine_record_change(r);
    int why = 0;

    if (r->type == SEINE_RECORD_SKIP && !o->skips)
        return SEINE_OK;
    if (o->only_changes && (change == SEINE_CHANGE_NONE || change == SEINE_CHANGE_SAME))
        return SEINE_OK;
    if (o->is_crawl && o->form == FORM_ROWS && is_left_over(r))
        return SEINE_OK;
    if (o->form == FORM_ROWS) {
        record_table_make(&o->table, r);
        why = terminal_text(o->terminal, o->table.line.text, o->table.line.len);
    } else if (o->form == FORM_HEADS) {
        why = write_whole(o, r);
    } else if (o->form == FORM_PATTERN) {
        template_make(&o->pattern, r, seq);
        why = terminal_text(o->terminal, o->pattern.out.text, o->pattern.out.len);
    }
    return outputs_err_of(why);
}

/* Counts and prints a record; the sink thread calls it once per record. */
static seine_err
take_record(const seine_record *r, uint64_t seq, void *arg)
{
    outputs *o = arg;

    count_record(o, r);
    note_host(o, r);
    o->watch(r, o->arg);
    o->changes[seine_record_change(r)]++;
    return o->prints_apart ? SEINE_OK : print_record(r, seq, o);
}

/* Takes a record that failed, with its referrers. */
static seine_err
take_failure(const seine_record *r, uint64_t seq, void *arg)
{
    outputs *o = arg;

    (void)seq;
    o->failure(r, o->arg);
    return SEINE_OK;
}

/* What is there is not what would be appended. */
static bool
is_of_another_kind(seine_err e)
{
    return e == SEINE_E_OUTPUT_CHANGED || e == SEINE_E_STATE_FOREIGN ||
           e == SEINE_E_STATE_NEWER || e == SEINE_E_STATE_CORRUPT;
}

/* A job has written it, and somebody else since then. */
static bool
is_of_a_job(const seine_diag *diag)
{
    return strstr(diag->text, "start the job over") != NULL;
}

static int
refuse_output(seine_err e, const char *name, const seine_diag *diag)
{
    const char *hint =
        e == SEINE_E_ALREADY        ? "--append, --overwrite, or another name"
        : is_of_a_job(diag)         ? "--fresh to start over"
        : is_of_another_kind(e)     ? "--overwrite, or another name"
        : e == SEINE_E_INVAL        ? "another name, or FORMAT:NAME, as in jsonl:NAME; "
                                      "the page itself: --raw URL > NAME"
        : e == SEINE_E_STATE_LOCKED ? "another name; somebody else is writing to it"
                                    : "another name, or another directory";

    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    if (e == SEINE_E_ALREADY)
        return say_fail(SAY_USAGE, hint, "%s and belongs to no unfinished job",
                        diag->text);
    if (e == SEINE_E_DEADLINE)
        return option_names_fail(NULL, SAY_EARLY, "a reader, then the same command", diag,
                                 e);
    if (diag->text[0])
        return option_names_fail(NULL, e == SEINE_E_DISK_FULL ? SAY_MACHINE : SAY_USAGE,
                                 hint, diag, e);
    return say_fail(SAY_USAGE, hint, "--output '%s': %s", show(name).text,
                    seine_err_text(e));
}

int
outputs_open_sink(seine_sinks *sinks, const seine_sink_opts *opts, const char *name)
{
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_sinks_open(sinks, opts, &diag);

    return e == SEINE_OK ? SAY_DONE : refuse_output(e, name, &diag);
}

/* The format and the packing that an -o asks for. */
static seine_sink_format
format_asked(const char *name, seine_sink_pack *out_pack)
{
    seine_sink_format format = SEINE_SINK_AUTO;
    const char *path = seine_format_split(name, &format, out_pack);

    return format == SEINE_SINK_AUTO ? seine_format_of_output(path, out_pack) : format;
}

static bool
has_format(const fetch_settings *set, seine_sink_format wanted)
{
    seine_sink_pack pack;

    for (size_t i = 0; i < set->output.count; i++)
        if (format_asked(set->output.items[i], &pack) == wanted)
            return true;
    return false;
}

/* A database has its cache of pages, an archive knows which payloads it holds, and zstd
 * has a window. There is room for some of it beside --max-memory. */
uint64_t
outputs_memory(const fetch_settings *set)
{
    const uint64_t beside = 2 << 20;
    uint64_t all = 0;

    for (size_t i = 0; i < set->output.count; i++) {
        seine_sink_pack pack = SEINE_PACK_NONE;
        seine_sink_format format = format_asked(set->output.items[i], &pack);

        all += format == SEINE_SINK_SQLITE ? 5 << 20 : 0;
        all += format == SEINE_SINK_WARC ? 6 << 20 : 0;
        all += pack == SEINE_PACK_ZSTD ? 4 << 20 : 0;
        all += report_sink_path(set->output.items[i]) ? 8 << 20 : 0;
    }
    return all > beside ? all - beside : 0;
}

bool
outputs_has_archive(const fetch_settings *set)
{
    return has_format(set, SEINE_SINK_WARC);
}

bool
outputs_has_database(const fetch_settings *set)
{
    return has_format(set, SEINE_SINK_SQLITE);
}

static seine_body_form
body_form(const fetch_settings *set)
{
    static const seine_body_form all[] = {SEINE_BODY_NONE, SEINE_BODY_TEXT,
                                          SEINE_BODY_B64, SEINE_BODY_FILE};

    return all[set->body];
}

bool
outputs_copy_bodies(const fetch_settings *set)
{
    seine_body_form form = body_form(set);

    return (form == SEINE_BODY_TEXT || form == SEINE_BODY_B64) &&
           has_format(set, SEINE_SINK_SQLITE);
}

static bool
has_word(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; p; p = strchr(p, ',')) {
        p += *p == ',';
        if (strncmp(p, word, n) == 0 && (p[n] == ',' || !p[n]))
            return true;
    }
    return false;
}

/* Whether --fields names exactly what is wanted: "url,status", not "+headers". */
static bool
is_exact(const char *fields)
{
    return fields && fields[0] != '+' && fields[0] != '-';
}

/* The columns of CSV: those of `fields` in their order, or the fixed ones with what
 * `fields` adds and, in a crawl, the pages that link there. NULL: the fixed ones. */
static char *
csv_columns(const args *a, const char *fields, bool has_data)
{
    static const char fixed[] =
        "seq,ts,input,url,final_url,outcome,status,attempts,content_type,content_length,"
        "bytes_body,time_ms,title,error_kind,error_message";
    const fetch_settings *set = a->settings;
    textbuf out = {NULL, 0, 0};

    if (is_exact(fields))
        return xalloc_copy(fields, strlen(fields));
    if (!crawl_is_asked(a) && !fields)
        return NULL;
    textbuf_put(&out, "%s%s%s", fixed, crawl_is_asked(a) ? ",parent" : "",
                set->referrers > 0 ? ",referrers" : "");
    for (const char *p = fields; p && *p;) {
        size_t n = strcspn(p, ",");
        char word[64];

        snprintf(word, sizeof word, ",%.*s", n > 1 && n < 62 ? (int)n - 1 : 0, p + 1);
        if (*p == '+' && !has_word(out.text, word + 1))
            textbuf_put(&out, "%s", word);
        p += n + (p[n] == ',');
    }
    if (set->incremental && !has_word(out.text, "change"))
        textbuf_put(&out, ",change");
    if (has_data)
        textbuf_put(&out, ",data.*");
    return out.text;
}

/* Opens one -o: [FORMAT:]FILE. */
static int
open_file(const fetch_settings *set, const char *name, seine_sink_opts base,
          seine_sinks *sinks)
{
    seine_diag diag = SEINE_DIAG;

    base.path = seine_format_split(name, &base.format, &base.pack);
    if (!base.path[0])
        return say_fail(SAY_USAGE, "-o pages.jsonl", "--output '%s': no name",
                        show(name).text);
    if (strcmp(base.path, "-") == 0) {
        if (base.format == SEINE_SINK_AUTO && outputs_form_of(set) != FORM_SINK)
            return SAY_DONE;
        base.no_lines = is_exact(set->fields);
        if (base.format == SEINE_SINK_AUTO)
            base.format = set->raw                       ? SEINE_SINK_RAW
                          : format_of(set) == STDOUT_CSV ? SEINE_SINK_CSV
                                                         : SEINE_SINK_JSONL;
    }
    seine_err e = seine_sinks_open(sinks, &base, &diag);
    return e == SEINE_OK ? SAY_DONE : refuse_output(e, name, &diag);
}

/* Opens a page. One that is there belongs to the job that goes on, or may be replaced. */
static int
open_page(const fetch_settings *set, const outputs_hooks *hooks, const char *name,
          outputs *o)
{
    seine_job_figures f = {.is_resumed = false};

    if (set->append)
        return say_fail(SAY_USAGE, "--overwrite, or another name",
                        "--append does not go with -o %s: a page is written as a whole",
                        show(name).text);
    if (hooks->job)
        seine_job_figures_get(hooks->job, &f);
    return report_sink_open(&o->report, name,
                            set->overwrite || f.is_resumed || (set->fresh && hooks->job));
}

/* Checks that no other output is the file of a page, which would replace it. */
static int
check_pages(const fetch_settings *set, const outputs *o)
{
    for (size_t i = 0; i <= set->output.count; i++) {
        const char *name = i < set->output.count ? set->output.items[i] : set->failed;
        seine_sink_format format = SEINE_SINK_AUTO;
        seine_sink_pack pack = SEINE_PACK_NONE;

        if (!name || report_sink_path(name))
            continue;
        const char *path = seine_format_split(name, &format, &pack);
        if (report_sink_has(&o->report, path))
            return say_fail(SAY_USAGE, "another name", "%s is an output already",
                            show(path).text);
    }
    return SAY_DONE;
}

/* Opens the directory of --save. */
static int
open_save(const fetch_settings *set, outputs *o)
{
    seine_sink_opts opts = {.size = sizeof(seine_sink_opts),
                            .format = SEINE_SINK_SAVE,
                            .path = set->save,
                            .keep = (const char *const *)set->keep.items};
    seine_diag diag = SEINE_DIAG;

    if (!set->save)
        return SAY_DONE;
    seine_err e = seine_sinks_open(o->sinks, &opts, &diag);
    if (e == SEINE_OK)
        return SAY_DONE;
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    return say_fail(e == SEINE_E_DISK_FULL ? SAY_MACHINE : SAY_USAGE,
                    "--save with a directory, or a name that is not taken", "--save: %s",
                    diag.text);
}

/* Opens the directory of -O and -J. */
static int
open_named(const fetch_settings *set, outputs *o)
{
    seine_sink_opts opts = SEINE_SINK_OPTS;
    seine_diag diag = SEINE_DIAG;

    if (!set->remote_name && !set->remote_header_name)
        return SAY_DONE;
    opts.format = SEINE_SINK_NAMED;
    opts.path = set->output_dir;
    opts.overwrite = set->overwrite;
    opts.header_names = set->remote_header_name;
    seine_err e = seine_sinks_open(o->sinks, &opts, &diag);
    if (e == SEINE_OK)
        return SAY_DONE;
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    return say_fail(SAY_USAGE, "--output-dir with a directory that can be written to",
                    "--output-dir: %s", diag.text);
}

/* Checks the name of --failed. */
static int
check_failed(const fetch_settings *set)
{
    seine_sink_pack pack = SEINE_PACK_NONE;
    seine_sink_format format = format_asked(set->failed, &pack);

    if ((format == SEINE_SINK_JSONL || format == SEINE_SINK_CSV) &&
        strcmp(set->failed, "-") != 0)
        return SAY_DONE;
    return say_fail(SAY_USAGE, "--failed failed.jsonl",
                    "--failed '%s': not a .jsonl or .csv file", show(set->failed).text);
}

/* Opens the list of --failed: a further output with what is not ok. */
static int
open_failed(const args *a, seine_sink_opts base, outputs *o)
{
    const fetch_settings *set = a->settings;

    if (!set->failed)
        return SAY_DONE;
    base.only_failed = true;
    base.only_changes = false;
    base.keep = NULL;
    base.fields = (seine_members){0};
    base.data = NULL;
    base.body = SEINE_BODY_NONE;
    char *columns = csv_columns(a, NULL, false);
    base.columns = columns;
    int code = open_file(set, set->failed, base, o->sinks);
    free(columns);
    return code;
}

/* Opens the directory of a copy of a site. */
static int
open_mirror(const fetch_settings *set, outputs *o)
{
    seine_sink_opts opts = SEINE_SINK_OPTS;
    seine_diag diag = SEINE_DIAG;

    if (!set->mirror)
        return SAY_DONE;
    opts.format = SEINE_SINK_MIRROR;
    opts.path = set->output_dir;
    seine_err e = seine_sinks_open(o->sinks, &opts, &diag);
    if (e == SEINE_OK)
        return SAY_DONE;
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    return say_fail(e == SEINE_E_DISK_FULL ? SAY_MACHINE : SAY_USAGE,
                    "--output-dir with a directory that can be written to",
                    "--output-dir: %s", diag.text);
}

/* Checks before the run that the summary can be written at the end of it. */
static int
check_summary(const fetch_settings *set)
{
    const char *path = set->summary;
    char directory[4096] = ".";
    const char *slash = path ? strrchr(path, '/') : NULL;

    if (!path || !path[0] || strcmp(path, "-") == 0)
        return SAY_DONE;
    if (slash)
        snprintf(directory, sizeof directory, "%.*s",
                 slash == path ? 1 : (int)(slash - path), path);
    if (access(directory, W_OK) == 0 &&
        (access(path, F_OK) != 0 || access(path, W_OK) == 0))
        return SAY_DONE;
    return say_fail(SAY_USAGE, "another name", "--summary: cannot write '%s': %s",
                    show(path).text, show_errno(errno).text);
}

static int
open_all(const args *a, const seine_members *fields, const outputs_hooks *hooks,
         outputs *o)
{
    const fetch_settings *set = a->settings;
    seine_sink_opts base = {.size = sizeof(seine_sink_opts),
                            .append = set->append,
                            .overwrite = set->overwrite || (set->fresh && hooks->job),
                            .csv_raw = set->csv_raw,
                            .csv_crlf = set->csv_crlf,
                            .no_skips = !set->skips,
                            .fields = *fields,
                            .body = body_form(set),
                            .repeats = set->dedup != 0 || set->incremental,
                            .only_changes = set->only_changes,
                            .keep = (const char *const *)set->keep.items,
                            .command = a->command->name,
                            .max_file = set->warc_size,
                            .links = set->referrers > 0,
                            .referrers = (uint32_t)set->referrers,
                            .user_agent = hooks->user_agent,
                            .robots = hooks->obeys ? "classic" : "ignore"};
    seine_sink_opts counting = {.size = sizeof(seine_sink_opts),
                                .format = SEINE_SINK_CALL,
                                .call = take_record,
                                .arg = o};
    bool files_only = (set->output.count > 0 && !set->raw && !set->write_out) ||
                      (set->include_headers && !set->raw);
    char *columns = csv_columns(a, set->fields, hooks->data != NULL);
    base.columns = columns;
    base.data = hooks->data;
    int code = open_save(set, o);
    code = code == SAY_DONE ? open_named(set, o) : code;
    code = code == SAY_DONE ? open_mirror(set, o) : code;
    seine_diag diag = SEINE_DIAG;

    for (size_t i = 0; code == SAY_DONE && i < set->output.count; i++)
        code = report_sink_path(set->output.items[i])
                   ? open_page(set, hooks, set->output.items[i], o)
               : hooks->open
                   ? hooks->open(o->sinks, set->output.items[i], &base, hooks->open_arg)
                   : open_file(set, set->output.items[i], base, o->sinks);
    if (code == SAY_DONE)
        code = check_pages(set, o);
    if (code == SAY_DONE)
        code = open_failed(a, base, o);
    if (code == SAY_DONE && !files_only)
        code = hooks->open ? hooks->open(o->sinks, NULL, &base, hooks->open_arg)
                           : open_file(set, "-", base, o->sinks);
    free(columns);
    if (code != SAY_DONE)
        return code;
    seine_err e = seine_sinks_open(o->sinks, &counting, &diag);
    counting.referrers = base.referrers;
    o->prints_apart =
        base.keep != NULL || (base.referrers > 0 && o->form == FORM_PATTERN);
    if (e == SEINE_OK && o->prints_apart) {
        counting.call = print_record;
        counting.keep = base.keep;
        e = seine_sinks_open(o->sinks, &counting, &diag);
    }
    if (e == SEINE_OK && base.referrers > 0) {
        counting.call = take_failure;
        counting.keep = NULL;
        counting.only_failed = true;
        e = seine_sinks_open(o->sinks, &counting, &diag);
    }
    return e == SEINE_OK ? SAY_DONE : refuse_output(e, "-", &diag);
}

static int
check_outputs(const fetch_settings *set)
{
    if (set->append && set->overwrite)
        return say_fail(SAY_USAGE, "one of the two",
                        "--append does not go with --overwrite");
    if (set->include_headers && (set->raw || set->write_out || set->json))
        return say_fail(SAY_USAGE, "one of the two",
                        "--include-headers does not go with --%s",
                        set->raw    ? "raw"
                        : set->json ? "json"
                                    : "write-out");
    if (set->raw && set->write_out)
        return say_fail(SAY_USAGE, "one of the two",
                        "--raw does not go with --write-out");
    if (body_form(set) == SEINE_BODY_FILE && !set->save)
        return say_fail(SAY_USAGE, "--save DIR", "--body file goes with --save");
    if (set->save && (set->remote_name || set->remote_header_name))
        return say_fail(SAY_USAGE, "one of the two",
                        "--save does not go with --remote-name");
    if (set->job && set->job[0] && (set->remote_name || set->remote_header_name))
        return say_fail(SAY_USAGE, "--save DIR, which a job can go on with",
                        "--remote-name does not go with --job");
    if (set->json && set->format != STDOUT_AUTO && set->format != STDOUT_JSONL)
        return say_fail(SAY_USAGE, "one of the two", "--json does not go with --format");
    return SAY_DONE;
}

/* The length of the longest URL on the command line; 0: more URLs will come. */
static size_t
widest_url(const args *a)
{
    const fetch_settings *set = a->settings;
    size_t most = 0;

    if (set->input.count > 0 || crawl_is_asked(a))
        return 0;
    for (size_t i = 0; i < a->count; i++) {
        size_t n = strlen(a->words[i]) + (strstr(a->words[i], "://") ? 0 : 8) + 1;

        if (strcmp(a->words[i], "-") == 0)
            return 0;
        most = n > most ? n : most;
    }
    return most;
}

/* Makes the template of a table with the members of --fields as its columns. */
static char *
table_pattern(const char *fields)
{
    static const struct {
        const char *column, *member;
    } rows[] = {{"time_ms", "time.total"},
                {"error_kind", "error.kind"},
                {"error_message", "error.message"}};
    textbuf out = {NULL, 0, 0};

    for (const char *p = fields; *p; p += strcspn(p, ","), p += *p == ',') {
        const char *word = p;
        size_t n = strcspn(p, ","), len = n;

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (strlen(rows[i].column) == n && strncmp(p, rows[i].column, n) == 0) {
                word = rows[i].member;
                len = strlen(word);
            }
        textbuf_put(&out, "%s%%{%.*s}", out.len ? "  " : "", (int)len, word);
    }
    textbuf_put(&out, "\\n");
    return out.text;
}

/* Checks that records have what a template asks for. */
static int
check_names(const char *pattern)
{
    char hint[96];
    size_t n;
    const char *bad = template_names_check(pattern, strlen(pattern), &n);
    const char *near = bad ? template_names_near(bad, n) : NULL;

    if (!bad)
        return SAY_DONE;
    if (near)
        snprintf(hint, sizeof hint, "%%{%s}", near);
    else
        snprintf(hint, sizeof hint, "%%{status}, %%{url}, %%{time.total}, %%{title}");
    return say_fail(SAY_USAGE, hint, "--write-out: no record has '%%{%s}'",
                    show_bytes(bad, n).text);
}

/* Checks a template before anything is opened. */
static int
check_template(const char *pattern)
{
    template trial;
    const char *why = template_init(&trial, pattern, false);

    if (why)
        return say_fail(SAY_USAGE, "-w '%{status} %{url}\\n'", "--write-out '%s': %s",
                        show(pattern).text, why);
    template_fini(&trial);
    return check_names(pattern);
}

/* Checks that the file of an output can be made, or written to. */
static int
check_place(const char *path, bool is_page)
{
    char directory[4096] = ".";
    const char *slash = strrchr(path, '/');
    struct stat st;

    if (slash && slash - path < (ptrdiff_t)sizeof directory)
        snprintf(directory, sizeof directory, "%.*s",
                 slash == path ? 1 : (int)(slash - path), path);
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return say_fail(SAY_USAGE, "another name", "%s is no plain file",
                        show(path).text);
    if (access(path, F_OK) == 0 ? access(path, W_OK) == 0 : access(directory, W_OK) == 0)
        return SAY_DONE;
    return say_fail(SAY_USAGE, "another name, or another directory",
                    is_page ? "cannot write '%s': %s" : "cannot open %s: %s",
                    show(path).text, show_errno(errno).text);
}

/* Checks the name of an output. `has_own`: somebody else knows which formats there are.
 */
static int
check_name(const fetch_settings *set, const char *name, bool has_own)
{
    seine_sink_opts base = SEINE_SINK_OPTS;
    seine_sinks_opts opts = SEINE_SINKS_OPTS;
    seine_sinks *trial = NULL;
    seine_sink_format format = SEINE_SINK_AUTO;
    seine_sink_pack pack = SEINE_PACK_NONE;
    const char *page = report_sink_path(name),
               *path = page ? page : seine_format_split(name, &format, &pack);

    if (page ? !path[0] : strcmp(path, "-") == 0)
        return SAY_DONE;
    if (page || has_own || (path[0] && format_asked(name, &pack) != SEINE_SINK_AUTO))
        return check_place(path, page);
    if (seine_sinks_new(&opts, &trial) != SEINE_OK)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    int code = open_file(set, name, base, trial);
    seine_sinks_free(trial);
    return code;
}

int
outputs_check(const args *a, bool has_own)
{
    const fetch_settings *set = a->settings;
    int code = check_outputs(set);

    code = code == SAY_DONE ? check_summary(set) : code;
    if (code == SAY_DONE && set->write_out)
        code = check_template(set->write_out);
    for (size_t i = 0; code == SAY_DONE && i < set->output.count; i++)
        code = check_name(set, set->output.items[i], has_own);
    if (code == SAY_DONE && set->failed)
        code = check_failed(set);
    return code;
}

int
outputs_open(const args *a, const seine_members *fields, terminal *b,
             const outputs_hooks *hooks, outputs *out)
{
    const fetch_settings *set = a->settings;
    seine_sinks_opts opts = SEINE_SINKS_OPTS;
    bool on_terminal = isatty(STDOUT_FILENO);
    int code = SAY_DONE;

    *out = (outputs){.terminal = b,
                     .form = outputs_form_of(set),
                     .skips = set->skips,
                     .is_crawl = crawl_is_asked(a),
                     .only_changes = set->only_changes,
                     .watch = hooks->watch,
                     .failure = hooks->failure,
                     .arg = hooks->arg};
    if (out->form == FORM_ROWS && is_exact(set->fields)) {
        char *pattern = table_pattern(set->fields);

        out->form = FORM_PATTERN;
        template_init(&out->pattern, pattern, on_terminal);
        free(pattern);
    }
    if (set->write_out && template_init(&out->pattern, set->write_out, on_terminal))
        return SAY_USAGE; /* outputs_check has said so */
    pthread_mutex_init(&out->lock, NULL);
    record_table_init(&out->table, &a->screen, on_terminal, widest_url(a));
    opts.ordered = out->ordered =
        set->ordered || ((set->raw || set->include_headers) && !crawl_is_asked(a));
    out->window = opts.window;
    opts.room = hooks->room;
    opts.failed = hooks->failed;
    opts.arg = hooks->arg;
    opts.job = hooks->job;
    if (seine_tally_new(&out->tally) != SEINE_OK ||
        seine_sinks_new(&opts, &out->sinks) != SEINE_OK ||
        seine_sinks_metrics(out->sinks, hooks->metrics) != SEINE_OK)
        code = say_fail(SAY_MACHINE, NULL, "out of memory");
    hooks->made(out->sinks, hooks->arg);
    if (code == SAY_DONE)
        code = open_all(a, fields, hooks, out);
    if (code != SAY_DONE) {
        hooks->made(NULL, hooks->arg);
        outputs_free(out);
    }
    return code;
}

void
outputs_free(outputs *o)
{
    seine_sinks_free(o->sinks);
    seine_tally_free(o->tally);
    report_sink_free(&o->report);
    record_table_fini(&o->table);
    if (o->pattern.source)
        template_fini(&o->pattern);
    pthread_mutex_destroy(&o->lock);
    *o = (outputs){.sinks = NULL};
}
