/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/warc.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

enum { PIECE = 256 << 10 }; /* bytes read at once */

typedef struct settings {
    bool jsonl;
} settings;

static int run_ls(const args *a);
static int run_warc_check(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option ls_options[] = {
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "one JSON object per record",
     .more = "Members: `file`, `offset`, `length`, `type`, `id`, `date`, `status`, `media`, `target`, `block` (bytes of the record's block); "
             "what is not known is absent. A file that is damaged ends with {`file`, `ok`:false, `offset`, `error`}."},
    {.name = NULL},
};
static const option check_options[] = {
    {"jsonl", NULL, KIND_FLAG, AT(jsonl),
     .help = "findings and sums as JSON objects, one per line",
     .more = "A finding is {`file`, `ok`:false, `offset`, `error`}; behind those of a file stands {`file`, `ok`, `records`, `findings`}."},
    {.name = NULL},
};

static const example ls_examples[] = {
    {"seine warc ls pages.warc.gz", "What is in an archive:"},
    {"seine warc ls --jsonl pages.warc.gz | head -3", "The same for a program:"},
    {NULL, NULL},
};
static const example check_examples[] = {
    {"seine warc check pages.warc.gz", "Whether all of it is sound:"},
    {NULL, NULL},
};

const command cmd_warc_ls = {
    .name = "warc ls",
    .is_small = true,
    .arguments = "FILE…",
    .about = "list the records of web archives",
    .text = "One line per record: offset, length, type, date, HTTP status, media type and target, between tabs; `-` stands for what there is not. "
            "Offset and length are those in the file, packed as it is: cut out, they are the record. WARC/1.0 and 1.1, plain, gzip or zstd. "
            "With several files each line begins with the file's name. The exit code is 1 if a file is damaged.",
    .options = ls_options,
    .examples = ls_examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .run = run_ls,
};

const command cmd_warc_check = {
    .name = "warc check",
    .is_small = true,
    .arguments = "FILE…",
    .about = "find what is damaged or missing in web archives",
    .text = "Reads every byte: lengths, digests of blocks and payloads (md5, sha1, sha256, sha512), fields that have to be there, dates, ids that "
            "come twice, references to records that are not there, records that share a gzip member. Each finding is named with file and offset. "
            "The exit code is 1 if there is one.",
    .options = check_options,
    .examples = check_examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .run = run_warc_check,
};
/* clang-format on */

/* One file being read. */
typedef struct reading {
    const args *a;
    const char *name;
    bool checks;
    int fd;
    char *buf;
    seine_view in;
    bool is_last;
    int error; /* errno */
    seine_warc *warc;
    uint64_t records, findings;
} reading;

static bool
is_jsonl(const reading *r)
{
    return ((const settings *)r->a->settings)->jsonl;
}

/* Reads more of the file. False: it cannot be read. */
static bool
read_more(reading *r)
{
    ssize_t n;

    do
        n = read(r->fd, r->buf, PIECE);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        r->error = errno;
        return false;
    }
    r->in = (seine_view){r->buf, (size_t)n};
    r->is_last = n == 0;
    return true;
}

/* Prints all of the foreign bytes, made harmless. */
static void
put_shown(const char *bytes, size_t n)
{
    for (size_t i = 0, len; i < n; i += len) {
        len = show_char(bytes + i, n - i, NULL);
        if (len > 0) {
            out_bytes(bytes + i, len);
            continue;
        }
        out_print("\\x%02x", (unsigned char)bytes[i]);
        len = 1;
    }
}

static void
put_column(seine_view v)
{
    out_text("\t");
    if (v.len > 0)
        put_shown(v.ptr, v.len);
    else
        out_text("-");
}

static void
put_name(const reading *r, const char *behind)
{
    put_shown(r->name, strlen(r->name));
    out_text(behind);
}

static void
list_text(const reading *r, const seine_warc_entry *e)
{
    if (r->a->count > 1)
        put_name(r, "\t");
    out_print("%llu\t%llu", (unsigned long long)e->offset, (unsigned long long)e->length);
    put_column(e->type);
    put_column(e->date);
    if (e->status > 0)
        out_print("\t%u", e->status);
    else
        out_text("\t-");
    put_column((seine_view){e->media_type, strlen(e->media_type)});
    put_column(e->target);
    out_text("\n");
}

/* Adds a string of any bytes; bytes that are not UTF-8 are escaped. */
static void
set_view(seine_json *out, const char *name, seine_view v)
{
    if (!v.ptr)
        return;
    seine_json *value = seine_json_new_string(v.ptr, v.len);
    if (!value)
        value = jsonl_string(show_bytes(v.ptr, v.len).text);
    jsonl_set(out, name, value);
}

static seine_json *
object_of(const reading *r)
{
    seine_json *out = xalloc_json(seine_json_new_object());

    set_view(out, "file", (seine_view){r->name, strlen(r->name)});
    return out;
}

static void
list_json(const reading *r, const seine_warc_entry *e)
{
    seine_json *out = object_of(r);

    jsonl_set(out, "offset", seine_json_new_int((int64_t)e->offset));
    jsonl_set(out, "length", seine_json_new_int((int64_t)e->length));
    set_view(out, "type", e->type);
    set_view(out, "id", e->id);
    set_view(out, "date", e->date);
    if (e->status > 0)
        jsonl_set(out, "status", seine_json_new_int(e->status));
    if (e->media_type[0])
        set_view(out, "media", (seine_view){e->media_type, strlen(e->media_type)});
    set_view(out, "target", e->target);
    jsonl_set(out, "block", seine_json_new_int((int64_t)e->block));
    out_json(out);
}

static void
end_record(reading *r)
{
    const seine_warc_entry *e = seine_warc_at(r->warc);

    r->records++;
    if (r->checks)
        return;
    if (is_jsonl(r))
        list_json(r, e);
    else
        list_text(r, e);
}

static void
tell_finding(reading *r)
{
    uint64_t offset;
    const char *why = seine_warc_why(r->warc, &offset);

    r->findings++;
    if (is_jsonl(r)) {
        seine_json *out = object_of(r);

        jsonl_set(out, "ok", seine_json_new_bool(false));
        jsonl_set(out, "offset", seine_json_new_int((int64_t)offset));
        jsonl_set(out, "error", jsonl_string(why));
        out_json(out);
    } else if (r->checks) {
        put_name(r, ":");
        out_print("%llu: %s\n", (unsigned long long)offset, why);
    } else {
        say_note("%s:%llu: %s", show(r->name).text, (unsigned long long)offset, why);
    }
}

/* Reads to the end, or to the first damage. False: the file cannot be read. */
static bool
read_all(reading *r)
{
    for (;;) {
        seine_view piece;

        switch (seine_warc_next(r->warc, &r->in, r->is_last, &piece)) {
        case SEINE_WARC_MORE:
            if (!read_more(r))
                return false;
            break;
        case SEINE_WARC_END:
            end_record(r);
            break;
        case SEINE_WARC_FLAW:
            tell_finding(r);
            break;
        case SEINE_WARC_FAIL:
            tell_finding(r);
            return true;
        case SEINE_WARC_DONE:
            return true;
        case SEINE_WARC_RECORD:
        case SEINE_WARC_BLOCK:
        default:
            break;
        }
    }
}

static void
sum_up(reading *r)
{
    if (!r->checks)
        return;
    if (is_jsonl(r)) {
        seine_json *out = object_of(r);

        jsonl_set(out, "ok", seine_json_new_bool(r->findings == 0));
        jsonl_set(out, "records", seine_json_new_int((int64_t)r->records));
        jsonl_set(out, "findings", seine_json_new_int((int64_t)r->findings));
        out_json(out);
        return;
    }
    put_name(r, ": ");
    if (r->findings == 0)
        out_print("ok, %llu records\n", (unsigned long long)r->records);
    else
        out_print("%llu finding%s in %llu records\n", (unsigned long long)r->findings,
                  r->findings == 1 ? "" : "s", (unsigned long long)r->records);
}

static int
read_archive(reading *r)
{
    seine_warc_opts opts = {.size = sizeof(seine_warc_opts), .check = r->checks};
    bool is_stdin = strcmp(r->name, "-") == 0;

    r->fd = is_stdin ? STDIN_FILENO : open(r->name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (r->fd < 0)
        return say_fail(SAY_USAGE, "another name", "cannot read '%s': %s",
                        show(r->name).text, show_errno(errno).text);
    int code = SAY_DONE;
    if (seine_warc_new(&opts, &r->warc) != SEINE_OK)
        code = say_fail(SAY_MACHINE, NULL, "out of memory");
    else if (!read_all(r))
        code = say_fail(SAY_MACHINE, NULL, "cannot read '%s': %s", show(r->name).text,
                        show_errno(r->error).text);
    else
        sum_up(r);
    seine_warc_free(r->warc);
    if (!is_stdin)
        close(r->fd);
    return code;
}

static int
run_warc(const args *a, bool checks)
{
    char *buf = xalloc_zeroed(PIECE, 1);
    bool damaged = false;
    int code = SAY_DONE;

    for (size_t i = 0; i < a->count && code == SAY_DONE; i++) {
        reading r = {.a = a, .name = a->words[i], .checks = checks, .buf = buf};

        code = read_archive(&r);
        damaged = damaged || r.findings > 0;
    }
    free(buf);
    return code == SAY_DONE && damaged ? SAY_FAILED : code;
}

static int
run_ls(const args *a)
{
    return run_warc(a, false);
}

static int
run_warc_check(const args *a)
{
    return run_warc(a, true);
}
