/* SPDX-License-Identifier: Apache-2.0 */
#include "store/warc_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file_write.h"
#include "store/text_writer.h"
#include "store/warc_merge.h"

enum { LIMIT = 8 << 20, LINE_MOST = 64 << 10 };

seine_err
sn_warc_index_init(sn_warc_index *x, const char *path)
{
    size_t n = strlen(path) + 1;

    *x = (sn_warc_index){.fd = -1, .limit = LIMIT};
    sn_buf_init(&x->text, LIMIT + LINE_MOST);
    x->path = sn_alloc(n);
    if (!x->path)
        return SEINE_E_NOMEM;
    memcpy(x->path, path, n);
    return SEINE_OK;
}

void
sn_warc_index_fini(sn_warc_index *x)
{
    if (!x->path)
        return;
    sn_buf_fini(&x->text);
    if (x->fd >= 0)
        close(x->fd);
    sn_free(x->path);
    sn_free(x->lines);
    sn_free(x->runs);
    *x = (sn_warc_index){.fd = -1};
}

void
sn_warc_stamp(int64_t wall, char out_stamp[15])
{
    char text[SN_STAMP];
    sn_text_writer p = sn_text_writer_on(text, sizeof text);

    sn_text_writer_stamp(&p, wall);
    sn_warc_stamp_of((sn_str){text, sizeof text}, out_stamp);
}

void
sn_warc_stamp_of(sn_str date, char out_stamp[15])
{
    size_t n = 0;

    for (size_t i = 0; i < date.len && n < 14 && date.ptr[i] != '.'; i++)
        if (sn_is_digit(date.ptr[i]))
            out_stamp[n++] = date.ptr[i];
    while (n > 0 && n < 14) /* only a date */
        out_stamp[n++] = '0';
    out_stamp[n] = '\0';
}

/* Writes the line. */

static void
member(sn_text_writer *p, const char *name, sn_str value)
{
    SN_WRITE(p, "\"");
    sn_text_writer_text(p, name);
    SN_WRITE(p, "\": ");
    sn_text_writer_quoted(p, value);
}

static void
put_number(sn_text_writer *p, const char *name, uint64_t n)
{
    SN_WRITE(p, ", \"");
    sn_text_writer_text(p, name);
    SN_WRITE(p, "\": \"");
    sn_text_writer_u64(p, n);
    SN_WRITE(p, "\"");
}

static void
put_object(sn_text_writer *p, const sn_warc_line *l)
{
    SN_WRITE(p, " {");
    member(p, "url", l->url);
    if (l->media.len > 0) {
        SN_WRITE(p, ", ");
        member(p, "mime", l->media);
    }
    if (l->status > 0)
        put_number(p, "status", l->status);
    if (l->digest.len > 0) {
        SN_WRITE(p, ", ");
        member(p, "digest", l->digest);
    }
    put_number(p, "length", l->length);
    put_number(p, "offset", l->offset);
    SN_WRITE(p, ", ");
    member(p, "filename", l->file);
    SN_WRITE(p, "}\n");
}

/* Appends a line; drops one that is too long for an index. */
static seine_err
put_line(sn_warc_index *x, const sn_warc_line *l)
{
    size_t before = x->text.len;

    sn_warc_surt(l->url, &x->text);
    sn_buf_char(&x->text, ' ');
    sn_buf_add(&x->text, l->stamp, strlen(l->stamp));
    char *room = sn_buf_reserve(&x->text, LINE_MOST / 2);
    if (room) {
        sn_text_writer p = sn_text_writer_on(room, LINE_MOST / 2);

        put_object(&p, l);
        if (p.lost == 0)
            sn_buf_commit(&x->text, sn_text_writer_len(&p));
        else
            sn_buf_truncate(&x->text, before);
    }
    seine_err e = sn_buf_done(&x->text);
    if (e == SEINE_OK)
        return SEINE_OK;
    sn_buf_truncate(&x->text, before);
    x->text.err = SEINE_OK;
    return e == SEINE_E_FULL ? SEINE_OK : e;
}

/* Sorted runs. */

static int
by_text(const void *a, const void *b, void *text)
{
    const char *one = (const char *)text + *(const uint32_t *)a;
    const char *other = (const char *)text + *(const uint32_t *)b;

    while (*one == *other && *one != '\n') {
        one++;
        other++;
    }
    /* a newline sorts below every byte of a line */
    return (unsigned char)*one - (unsigned char)*other;
}

static seine_err
err_of(int error)
{
    if (error == ENOMEM)
        return SEINE_E_NOMEM;
    return error == ENOSPC || error == EDQUOT ? SEINE_E_DISK_FULL : SEINE_E_IO;
}

/* Creates an unnamed file in the directory of the index. */
static seine_err
open_aside(sn_warc_index *x)
{
    char name[4096];
    const char *slash = strrchr(x->path, '/');
    size_t n = slash == x->path ? 1 : slash ? (size_t)(slash - x->path) : 0;

    if (x->fd >= 0)
        return SEINE_OK;
    snprintf(name, sizeof name, "%.*s", n > 0 ? (int)n : 1, n > 0 ? x->path : ".");
    x->fd = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (x->fd >= 0)
        return SEINE_OK;
    snprintf(name, sizeof name, "%s.sort", x->path); /* without O_TMPFILE */
    x->fd = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (x->fd < 0)
        return err_of(errno);
    unlink(name);
    return SEINE_OK;
}

static seine_err
put_run(sn_warc_index *x)
{
    size_t room = x->runs_room ? 2 * x->runs_room : 16;

    if (x->n_runs < x->runs_room)
        return SEINE_OK;
    sn_warc_run *runs = sn_realloc(x->runs, room * sizeof *runs);
    if (!runs)
        return SEINE_E_NOMEM;
    x->runs = runs;
    x->runs_room = room;
    return SEINE_OK;
}

static void
sort(sn_warc_index *x)
{
    if (x->n > 1)
        qsort_r(x->lines, x->n, sizeof *x->lines, by_text, x->text.ptr);
}

static sn_str
line_at(const sn_warc_index *x, size_t i)
{
    const char *from = x->text.ptr + x->lines[i];
    const char *end = memchr(from, '\n', x->text.len - x->lines[i]);

    return (sn_str){from, (size_t)(end - from) + 1};
}

static seine_err
write_lines(sn_warc_index *x, sn_warc_file *f)
{
    sort(x);
    for (size_t i = 0; i < x->n; i++)
        sn_warc_file_add(f, line_at(x, i));
    return sn_warc_file_flush(f);
}

static seine_err
put_aside(sn_warc_index *x)
{
    seine_err e = open_aside(x);
    sn_warc_file f;

    if (e == SEINE_OK)
        e = put_run(x);
    if (e == SEINE_OK)
        e = sn_warc_file_init(&f, x->fd);
    if (e != SEINE_OK)
        return e;
    e = write_lines(x, &f);
    x->runs[x->n_runs] = (sn_warc_run){x->end, f.written};
    x->n_runs += e == SEINE_OK;
    x->end += f.written;
    sn_warc_file_fini(&f);
    x->n = 0;
    sn_buf_reset(&x->text);
    return e;
}

seine_err
sn_warc_index_add(sn_warc_index *x, const sn_warc_line *line)
{
    seine_err e = SEINE_OK;
    size_t before = x->text.len;

    if (x->n == x->room) {
        size_t room = x->room ? 2 * x->room : 1024;
        uint32_t *lines = sn_realloc(x->lines, room * sizeof *lines);

        if (!lines)
            return SEINE_E_NOMEM;
        x->lines = lines;
        x->room = room;
    }
    e = put_line(x, line);
    if (e != SEINE_OK || x->text.len == before)
        return e;
    x->lines[x->n++] = (uint32_t)before;
    return x->text.len >= x->limit ? put_aside(x) : SEINE_OK;
}

/* Writing. */

static seine_err
write_all(sn_warc_index *x, int fd)
{
    sn_warc_file f;
    seine_err e = sn_warc_file_init(&f, fd);

    if (e != SEINE_OK)
        return e;
    if (x->n_runs == 0)
        e = write_lines(x, &f);
    else
        e = sn_warc_merge(x->fd, x->runs, x->n_runs, &f);
    sn_warc_file_fini(&f);
    return e;
}

seine_err
sn_warc_index_write(sn_warc_index *x)
{
    sn_file_new f;
    seine_err e = SEINE_OK;

    if (x->n_runs > 0 && x->n > 0)
        e = put_aside(x);
    if (e != SEINE_OK)
        return e;
    if (!sn_file_begin(&f, x->path, 0666))
        return err_of(errno);
    e = write_all(x, f.fd);
    if (!sn_file_end(&f, e == SEINE_OK, SN_FILE_SYNCED) && e == SEINE_OK)
        e = err_of(errno);
    return e;
}
