/* SPDX-License-Identifier: Apache-2.0 */
#include "store/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "seine/format.h"
#include "seine/plumbing.h"
#include "seine/warc.h"

/* Detects the format by the first four bytes. */
static seine_input_format
format_by(sn_str first)
{
    static const struct {
        const char *bytes;
        seine_input_format format;
    } formats[] = {
        {"WARC", SEINE_INPUT_WARC},    {"{", SEINE_INPUT_JSONL},
        {"<?xm", SEINE_INPUT_SITEMAP}, {"<url", SEINE_INPUT_SITEMAP},
        {"<sit", SEINE_INPUT_SITEMAP}, {"<rss", SEINE_INPUT_SITEMAP},
        {"<fee", SEINE_INPUT_SITEMAP}, {"<!do", SEINE_INPUT_HTML},
        {"<htm", SEINE_INPUT_HTML},
    };

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (sn_str_starts_nocase(first, sn_str_of(formats[i].bytes)))
            return formats[i].format;
    return SEINE_INPUT_TEXT;
}

static seine_err
fail_errno(seine_input *in, int error, seine_diag *diag)
{
    char text[SN_DIAG_ERRNO];

    sn_diag_errno(error, text);
    if (error == ENODATA || error == EBADMSG)
        sn_diag_text(diag, "%s: the packed bytes are %s behind line %llu", in->name,
                     error == ENODATA ? "cut off" : "damaged",
                     (unsigned long long)atomic_load(&in->lines.lines));
    else
        sn_diag_text(diag, "cannot read %s: %s", in->name, text);
    return error == ENOMEM ? SEINE_E_NOMEM : SEINE_E_IO;
}

static seine_err
open_path(seine_input *in, const char *path, seine_diag *diag)
{
    struct stat st;
    sn_str name = sn_str_of(path);

    sn_diag_path(path, in->name);
    if (in->format == SEINE_INPUT_AUTO)
        in->format = seine_format_of_input(path);
    if (in->format == SEINE_INPUT_AUTO &&
        (sn_str_ends(name, SN_STR(".md")) || sn_str_ends(name, SN_STR(".md.gz")) ||
         sn_str_ends(name, SN_STR(".md.zst")))) {
        sn_diag_text(diag, "%s: links of Markdown are not read yet: try one URL a line",
                     in->name);
        return SEINE_E_IO;
    }
    in->lines.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (in->lines.fd < 0)
        return fail_errno(in, errno, diag);
    in->is_own = true;
    if (fstat(in->lines.fd, &st) != 0)
        return fail_errno(in, errno, diag);
    if (S_ISDIR(st.st_mode))
        return fail_errno(in, EISDIR, diag);
    in->size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    return SEINE_OK;
}

static seine_err
open_it(seine_input *in, const seine_input_opts *opts, seine_diag *diag)
{
    seine_err e = SEINE_OK;

    if (strcmp(opts->path, "-") == 0) {
        sn_diag_path("standard input", in->name);
        in->lines.fd = STDIN_FILENO;
    } else {
        e = open_path(in, opts->path, diag);
    }
    if (e != SEINE_OK)
        return e;
    in->lines.stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (in->lines.stop < 0)
        return fail_errno(in, errno, diag);
    return sn_lines_init(&in->lines, in->lines.fd, in->lines.stop);
}

static seine_err
set_base(seine_input *in, const char *base, seine_diag *diag)
{
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};

    seine_url_init(&in->base, in->base_mem, sizeof in->base_mem);
    seine_url_init(&in->url, in->url_mem, sizeof in->url_mem);
    if (!base)
        return SEINE_OK;
    in->has_base = true;
    seine_err e = seine_url_parse(&in->base, base, strlen(base), &flaw);
    if (e == SEINE_E_BAD_URL) {
        (void)sn_diag_value(diag, "base", sn_str_of(base),
                            seine_url_flaw_text(flaw.kind));
        return SEINE_E_INVAL;
    }
    return e;
}

seine_err
seine_input_open(const seine_input_opts *opts, seine_input **out_input, seine_diag *diag)
{
    sn_diag_clear(diag);
    if (!sn_opts_fit(opts, sizeof *opts) || !opts->path)
        return SEINE_E_INVAL;
    seine_input *in = sn_zalloc(sizeof *in);
    if (!in)
        return SEINE_E_NOMEM;
    in->format = opts->format;
    in->url_column = opts->url_column ? opts->url_column : "url";
    in->lines.fd = in->lines.stop = -1;
    sn_arena_init(&in->arena, 4096, 8 * SN_LINE_MAX);

    seine_err e = set_base(in, opts->base, diag);
    if (e == SEINE_OK)
        e = open_it(in, opts, diag);
    if (e == SEINE_OK) {
        *out_input = in;
        return SEINE_OK;
    }
    seine_input_free(in);
    return e;
}

void
seine_input_free(seine_input *in)
{
    if (!in)
        return;
    if (in->is_own)
        close(in->lines.fd);
    if (in->lines.stop >= 0)
        close(in->lines.stop);
    sn_lines_fini(&in->lines);
    sn_input_csv_free(in->rows);
    sn_arena_fini(&in->arena);
    seine_text_free(&in->tags);
    seine_json_free(in->json);
    seine_warc_free(in->warc);
    sn_input_markup_free(in->markup);
    sn_free(in);
}

void
seine_input_stop(seine_input *in)
{
    if (!in)
        return;
    atomic_store(&in->stopped, true);
    ssize_t n = write(in->lines.stop, &(uint64_t){1}, 8);
    (void)n; /* cannot fail: full means already set */
}

const seine_diag *
seine_input_diag(const seine_input *in)
{
    return in ? &in->diag : NULL;
}

void
seine_input_progress_get(const seine_input *in, uint64_t *out_lines, uint64_t *out_bytes,
                         uint64_t *out_size)
{
    if (!in || !out_lines || !out_bytes || !out_size)
        return;
    *out_lines = atomic_load_explicit(&in->lines.lines, memory_order_relaxed);
    *out_bytes = atomic_load_explicit(
        atomic_load(&in->lines.is_packed) ? &in->lines.raw : &in->lines.bytes,
        memory_order_relaxed);
    *out_size = in->size;
}

/* Returns at most 256 bytes of a line, cut between characters. */
static seine_view
excerpt(seine_input *in, sn_str line)
{
    static const char secret[] = "\"headers\""; /* values of such a line may be secret */
    const char *end = line.len > 0 && line.ptr[0] == '{'
                          ? memmem(line.ptr, line.len, secret, sizeof secret - 1)
                          : NULL;
    size_t n = end ? (size_t)(end - line.ptr) : line.len;

    if (n > 256 || end) {
        for (n = n < 256 ? n : 256; n > 252 && (line.ptr[n] & 0xc0) == 0x80; n--)
            continue;
        memcpy(in->shown, line.ptr, n);
        memcpy(in->shown + n, "\xe2\x80\xa6", 3);
        return (seine_view){in->shown, n + 3};
    }
    return (seine_view){line.ptr ? line.ptr : "", n};
}

void
sn_input_bad(seine_input *in, seine_skip reason, sn_str line, seine_ask *ask)
{
    uint64_t number = ask->line;

    *ask = (seine_ask)SEINE_ASK;
    ask->line = number;
    ask->input = ask->url = excerpt(in, line);
    ask->is_bad = true;
    ask->reason = reason;
    ask->rule = (seine_view){in->bad.text, strlen(in->bad.text)};
}

/* Resolves the URL against the base; on failure the line is bad. */
static void
resolve(seine_input *in, seine_ask *ask)
{
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};
    sn_str given = ask->url;

    if (!in->has_base || ask->is_bad || !ask->url.ptr)
        return;
    if (seine_url_resolve(&in->url, &in->base, given.ptr, given.len, &flaw) != SEINE_OK) {
        sn_diag_text(&in->bad, "%s", seine_url_flaw_text(flaw.kind));
        sn_input_bad(in, SEINE_SKIP_BAD_URL, given, ask);
        return;
    }
    seine_view href = seine_url_href(&in->url);
    ask->url = href;
}

/* Detects another encoding, or JSON, by the first bytes. */
static seine_err
begin_input(seine_input *in)
{
    sn_str first = sn_lines_peek(&in->lines);
    const char *why = NULL;

    in->is_begun = true;
    for (size_t i = 0; i < 2; i++) {
        static const sn_codec_kind kinds[] = {SN_CODEC_GZIP, SN_CODEC_ZSTD};

        if (first.len == 0 || sn_codec_match_of(kinds[i], first) != SN_CODEC_YES)
            continue;
        seine_err e = sn_lines_unpack(&in->lines, kinds[i]);
        if (e != SEINE_OK)
            return e;
        first = sn_lines_peek(&in->lines);
        break;
    }
    if (sn_str_starts(first, SN_STR("\xff\xfe")) ||
        sn_str_starts(first, SN_STR("\xfe\xff")))
        why = "UTF-16 is not read: save it as UTF-8";
    if (why) {
        sn_diag_text(&in->diag, "%s", why);
        sn_diag_place(&in->diag, in->name, 0, 0);
        return SEINE_E_IO;
    }
    if (sn_str_starts(first, SN_STR("\xef\xbb\xbf"))) {
        in->lines.at += 3;
        atomic_fetch_add_explicit(&in->lines.bytes, 3, memory_order_relaxed);
        first = sn_lines_peek(&in->lines);
    }
    in->may_mix = in->format == SEINE_INPUT_AUTO;
    if (in->may_mix)
        in->format = format_by(first);
    return SEINE_OK;
}

/* No URL begins with {", and no request in JSON with http. */
static bool
is_json(const seine_input *in, sn_str line)
{
    if (in->format == SEINE_INPUT_TEXT)
        return in->may_mix && sn_str_starts(line, SN_STR("{\""));
    return in->format == SEINE_INPUT_JSONL &&
           !(in->may_mix && (sn_str_starts(line, SN_STR("http://")) ||
                             sn_str_starts(line, SN_STR("https://"))));
}

static seine_err
read_line(seine_input *in, sn_line_kind kind, sn_str line, seine_ask *ask)
{
    const char *zero = line.len > 0 ? memchr(line.ptr, '\0', line.len) : NULL;
    seine_err e = SEINE_OK;

    if (kind == SN_LINE_LONG) {
        sn_diag_text(&in->bad, "the line is longer than 1 MiB");
        sn_input_bad(in, SEINE_SKIP_BAD_INPUT, line, ask);
    } else if (zero) {
        sn_diag_text(&in->bad, "byte %zu is zero", (size_t)(zero - line.ptr) + 1);
        sn_input_bad(in, SEINE_SKIP_BAD_INPUT, line, ask);
    } else if (is_json(in, line)) {
        e = sn_input_json(in, line, ask);
    } else {
        ask->url = ask->input = line;
    }
    if (e == SEINE_OK)
        resolve(in, ask);
    return e;
}

static seine_err
end_input(seine_input *in)
{
    if (in->lines.error && !atomic_load(&in->stopped))
        return fail_errno(in, in->lines.error, &in->diag);
    return SEINE_E_CLOSED;
}

static seine_err
next_marked(seine_input *in, seine_ask *out_ask)
{
    seine_ask ask = SEINE_ASK;
    seine_err e = atomic_load(&in->stopped) ? SEINE_E_CLOSED : sn_input_markup(in, &ask);

    if (e != SEINE_OK)
        return e == SEINE_E_CLOSED ? end_input(in) : e;
    e = read_line(in, SN_LINE_WHOLE, ask.url, &ask);
    if (e == SEINE_OK)
        *out_ask = ask;
    return e;
}

/* Reads the next line that is no blank, no comment and no record without a URL. */
static seine_err
next_line(seine_input *in, seine_ask *ask)
{
    seine_err e = SEINE_OK;

    for (*ask = (seine_ask)SEINE_ASK; e == SEINE_OK && !ask->url.ptr;) {
        sn_str line;
        sn_line_kind kind =
            atomic_load(&in->stopped) ? SN_LINE_NONE : sn_lines_next(&in->lines, &line);

        if (kind == SN_LINE_NONE)
            return end_input(in);
        line = sn_str_trim(line);
        if (line.len > 0 ? line.ptr[0] == '#' : kind == SN_LINE_WHOLE)
            continue;
        ask->line = atomic_load_explicit(&in->lines.lines, memory_order_relaxed);
        e = read_line(in, kind, line, ask);
    }
    return e;
}

seine_err
seine_input_next(seine_input *in, seine_ask *out_ask)
{
    if (!in || !out_ask)
        return SEINE_E_INVAL;
    seine_ask ask = SEINE_ASK;

    if (in->diag.text[0])
        return SEINE_E_IO;
    if (!in->is_begun) {
        seine_err e = begin_input(in);
        if (e != SEINE_OK)
            return e;
    }
    if (in->format == SEINE_INPUT_WARC) {
        seine_err e =
            atomic_load(&in->stopped) ? SEINE_E_CLOSED : sn_input_warc(in, &ask);

        if (e == SEINE_OK)
            *out_ask = ask;
        return e == SEINE_E_CLOSED ? end_input(in) : e;
    }
    if (in->format == SEINE_INPUT_SITEMAP || in->format == SEINE_INPUT_HTML)
        return next_marked(in, out_ask);
    if (in->format == SEINE_INPUT_CSV) {
        seine_err e = in->rows ? SEINE_OK : sn_input_csv_new(in);

        if (e == SEINE_OK)
            e = sn_input_csv(in, &ask);
        if (e != SEINE_OK)
            return e == SEINE_E_CLOSED ? end_input(in) : e;
        resolve(in, &ask);
        *out_ask = ask;
        return SEINE_OK;
    }
    seine_err e = next_line(in, &ask);
    if (e == SEINE_OK)
        *out_ask = ask;
    return e;
}
