/* SPDX-License-Identifier: Apache-2.0 */
/* The outputs of a run: files, standard output, databases. All are written at the end;
 * mistakes in their names are told before anything is asked for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <seine/format.h>
#include <seine/plumbing.h>

#include "check/check.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/fetch_state.h"

/* Outputs that the library writes: databases, and JSON lines that are packed. */
static bool
is_sink(const char *word, seine_sink_opts *out)
{
    seine_sink_opts o = SEINE_SINK_OPTS;
    seine_sink_pack pack = SEINE_PACK_NONE;

    o.path = seine_format_split(word, &o.format, &o.pack);
    if (o.format == SEINE_SINK_AUTO)
        o.format = seine_format_of_output(o.path, &pack);
    pack = o.pack == SEINE_PACK_AUTO ? pack : o.pack;
    o.command = "check";
    *out = o;
    return o.format == SEINE_SINK_SQLITE ||
           (o.format == SEINE_SINK_JSONL && pack != SEINE_PACK_NONE);
}

/* An output as -o names it. */
typedef struct output {
    check_format format;
    seine_sink_pack pack; /* NONE, GZIP or ZSTD */
    const char *path;     /* inside of the word */
} output;

/* The length of a name without .gz and .zst, and what that ending means. */
static size_t
without_pack(const char *name, size_t n, seine_sink_pack *out_pack)
{
    *out_pack = SEINE_PACK_NONE;
    if (n > 3 && memcmp(name + n - 3, ".gz", 3) == 0) {
        *out_pack = SEINE_PACK_GZIP;
        return n - 3;
    }
    if (n > 4 && memcmp(name + n - 4, ".zst", 4) == 0) {
        *out_pack = SEINE_PACK_ZSTD;
        return n - 4;
    }
    return n;
}

/* Reads "[FMT:]FILE"; false: nobody knows the format. */
static bool
read_output(const char *word, output *out)
{
    static const struct {
        const char *name, *end;
        check_format format;
    } rows[] = {{"text", ".txt", CHECK_TEXT}, {"jsonl", ".jsonl", CHECK_JSONL},
                {"csv", ".csv", CHECK_CSV},   {"junit", ".xml", CHECK_JUNIT},
                {"md", ".md", CHECK_MD},      {"github", ".github", CHECK_GITHUB},
                {"html", ".html", CHECK_HTML}};
    const char *colon = strchr(word, ':');
    seine_sink_opts sink;
    seine_sink_pack by_name, by_prefix = SEINE_PACK_NONE;

    if (is_sink(word, &sink)) {
        *out = (output){CHECK_SINK, SEINE_PACK_NONE, sink.path};
        return true;
    }
    size_t n = without_pack(word, strlen(word), &by_name);
    size_t prefix = colon ? without_pack(word, (size_t)(colon - word), &by_prefix) : 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t end = strlen(rows[i].end);
        bool named = prefix > 0 && strlen(rows[i].name) == prefix &&
                     memcmp(word, rows[i].name, prefix) == 0;

        if (!named && (n <= end || memcmp(word + n - end, rows[i].end, end) != 0))
            continue;
        *out = (output){rows[i].format,
                        named && by_prefix != SEINE_PACK_NONE ? by_prefix : by_name,
                        named ? colon + 1 : word};
        return true;
    }
    return false;
}

static int
fail_sink(seine_err e, const seine_diag *diag)
{
    char why[SEINE_DIAG_ROOM];
    int code = e == SEINE_E_NOMEM || e == SEINE_E_IO || e == SEINE_E_DISK_FULL
                   ? SAY_MACHINE
                   : SAY_USAGE;

    if (seine_diag_print(diag, NULL, why, sizeof why) == 0)
        snprintf(why, sizeof why, "%s", seine_err_text(e));
    return say_fail(code, e == SEINE_E_ALREADY ? "--overwrite, or another name" : NULL,
                    "%s", why);
}

/* The outputs of a job that goes on are its own, of a run that ended early. */
static bool
may_replace(const check *c)
{
    return c->set->overwrite || c->job.run.is_resumed ||
           (check_job_is_on(c) && c->set->net.fresh);
}

/* Opens an output that the library writes; its file is empty before the end. */
static int
open_sink(check *c, const char *word)
{
    seine_sinks *sinks = atomic_load(&c->sinks);
    seine_sinks_opts all = SEINE_SINKS_OPTS;
    seine_sink_opts o;
    seine_diag diag = SEINE_DIAG;
    seine_err e = SEINE_OK;

    if (!sinks)
        e = seine_sinks_new(&all, &sinks);
    if (e != SEINE_OK)
        return fail_sink(e, &diag);
    atomic_store(&c->sinks, sinks);
    is_sink(word, &o);
    o.overwrite = may_replace(c);
    e = seine_sinks_open(sinks, &o, &diag);
    return e == SEINE_OK ? SAY_DONE : fail_sink(e, &diag);
}

static int
plan_output(check *c, const char *word)
{
    output o;

    if (strcmp(word, "-") == 0)
        return SAY_DONE;
    if (!read_output(word, &o))
        return say_fail(SAY_USAGE,
                        "-o junit:FILE, or a name that ends in .jsonl .csv .sqlite "
                        ".xml .md .html .txt",
                        "--output '%s': nobody knows the format", show(word).text);
    if (o.format == CHECK_SINK)
        return open_sink(c, word);
    if (strcmp(o.path, "-") != 0 && !may_replace(c) && access(o.path, F_OK) == 0)
        return say_fail(SAY_USAGE, "--overwrite, or another name", "'%s' exists",
                        show(o.path).text);
    return SAY_DONE;
}

int
check_outputs_plan(check *c)
{
    const texts *all = &c->set->output;
    int code = SAY_DONE;

    for (size_t i = 0; i < all->count && code == SAY_DONE; i++)
        code = plan_output(c, all->items[i]);
    return code;
}

static check_format
own_format(const check *c)
{
    return c->set->json ? CHECK_JSONL : (check_format)c->set->format;
}

/* Standard output, in pieces: whoever waits for the end sees that it goes on. `with_ink`:
 * there are colours in it, and check_render has made all the rest inert. */
static void
write_pieces(check *c, const textbuf *out, bool with_ink)
{
    enum { PIECE = 65536 };

    for (size_t at = 0; at < out->len; at += PIECE, c->steps++) {
        size_t n = out->len - at < PIECE ? out->len - at : PIECE;

        if (with_ink)
            out_coloured(out->text + at, n);
        else
            out_bytes(out->text + at, n);
    }
    out_flush();
}

static int
fail_write(check *c, const char *who, const char *path)
{
    int why = errno;

    run_log_fail(&c->log, SEINE_E_IO, "another name", "%scannot write '%s': %s", who,
                 show(path).text, show_errno(why).text);
    return SAY_MACHINE;
}

/* Writes a file, packed if its name says so. */
static int
write_file(check *c, const output *o, const textbuf *text)
{
    seine_text packed = {NULL, 0};
    const char *bytes = text->text ? text->text : "";
    size_t n = text->len;

    if (o->pack != SEINE_PACK_NONE) {
        seine_err e = seine_text_pack(bytes, n, o->pack == SEINE_PACK_ZSTD, &packed);

        if (e != SEINE_OK)
            return say_fail(SAY_MACHINE, NULL, "out of memory");
        bytes = packed.bytes;
        n = packed.len;
    }
    bool written = seine_file_replace(o->path, bytes, n);
    int failed = written ? SAY_DONE : fail_write(c, "", o->path);
    seine_text_free(&packed);
    return failed;
}

static int
write_output(check *c, const char *word, int code)
{
    output o = {own_format(c), SEINE_PACK_NONE, "-"};
    textbuf out = {NULL, 0, 0};
    int failed = SAY_DONE;

    if (strcmp(word, "-") != 0)
        read_output(word, &o);
    if (o.format == CHECK_SINK)
        return SAY_DONE;
    bool is_stdout = strcmp(o.path, "-") == 0;
    check_form form = {o.format,
                       is_stdout && screen_look_at(STDOUT_FILENO, c->args->color).colour};
    check_render(c, form, &out, code);
    if (is_stdout)
        write_pieces(c, &out, form.colour && form.format == CHECK_TEXT);
    else
        failed = write_file(c, &o, &out);
    textbuf_free(&out);
    return failed;
}

/* Gives the sinks a record: what stands between the braces of the object. */
static seine_err
put_sink(seine_sinks *sinks, const char *type, seine_json *give)
{
    seine_text text = {NULL, 0};
    seine_err e = seine_json_print(give, &text);

    if (e == SEINE_OK)
        e = seine_sinks_line(sinks, type, text.bytes + 1, text.len - 2);
    seine_text_free(&text);
    seine_json_free(give);
    return e;
}

static int
write_sinks(check *c, int code)
{
    enum { BATCH = 1000 };
    seine_sinks *sinks = atomic_load(&c->sinks);
    seine_clock *clock = seine_clock_system();
    stamp now = stamp_of(clock->wall(clock));
    seine_diag diag = SEINE_DIAG;

    if (!sinks)
        return SAY_DONE;
    seine_err e = seine_sinks_start(sinks, 1);
    for (size_t i = 0; i < c->n_links && e == SEINE_OK; i++, c->steps++) {
        seine_json *r = xalloc_json(seine_json_new_object());

        check_set_link(r, c, &c->links[i], now.text);
        e = put_sink(sinks, "link", r);
        if (e == SEINE_OK && i % BATCH == BATCH - 1)
            e = seine_sinks_drain(sinks);
    }
    if (e == SEINE_OK && check_has_summary(c)) {
        seine_json *r = xalloc_json(seine_json_new_object());

        check_set_summary(r, c, code);
        e = put_sink(sinks, "summary", r);
    }
    seine_err end = seine_sinks_close(sinks);
    e = e == SEINE_OK ? end : e;
    if (e == SEINE_OK)
        return SAY_DONE;
    (void)!seine_sinks_err(sinks, &diag);
    fail_sink(e, &diag);
    return SAY_MACHINE;
}

/* Writes the summary to the file of --summary. */
static int
write_summary(check *c, int code)
{
    const char *path = c->set->net.summary;
    seine_clock *clock = seine_clock_system();
    textbuf out = {NULL, 0, 0};
    int failed = SAY_DONE;

    if (!path || !*path)
        return SAY_DONE;
    check_put_summary(c, &out, code, stamp_of(clock->wall(clock)).text);
    if (strcmp(path, "-") == 0)
        write_pieces(c, &out, false);
    else if (!seine_file_replace(path, out.text, out.len))
        failed = fail_write(c, "--summary: ", path);
    textbuf_free(&out);
    return failed;
}

int
check_outputs_write(check *c, int code)
{
    const texts *all = &c->set->output;
    int failed = write_sinks(c, code);

    if (all->count == 0)
        write_output(c, "-", code);
    for (size_t i = 0; i < all->count; i++) {
        int one = write_output(c, all->items[i], code);

        failed = failed == SAY_DONE ? one : failed;
    }
    if (write_summary(c, code) != SAY_DONE)
        failed = SAY_MACHINE;
    out_flush();
    if (all->count > 0 || own_format(c) != CHECK_TEXT) {
        textbuf out = {NULL, 0, 0};

        check_put_totals(c, &out);
        run_log_note(&c->log, "job.end", "%s", out.text);
        textbuf_free(&out);
    }
    return failed;
}
