/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/gate_state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/file_write.h"
#include "base/hash.h"
#include "base/time.h"
#include "gate/gate.h"
#include "guard/gcra.h"
#include "guard/keyed.h"

/*
 * The file, numbers little-endian:
 *
 *     "seine-gate-1\n\0\0\0"  i64 wall time
 *     'P' u8 n, name  u8 n, header ("": by address)  u8 v4, u8 v6  i64 every  i64 depth
 *     'D' u8 n, key  i64 what is missing of a full bucket, in ns     under the last 'P'
 *     'E' u64 number of 'D'  u32 CRC-32 of all before it
 */
static const char magic[16] = "seine-gate-1\n";
static const char family[11] = "seine-gate-";

enum { CHUNK = 65536, MOST_NAME = 255 };

_Static_assert((int)SN_GATE_HEADER <= (int)MOST_NAME, "its length is one byte");

/* Bytes on their way to or from the file, and their sum. */
typedef struct stream {
    int fd;
    char *bytes; /* CHUNK of them */
    size_t at, len;
    uint32_t crc;
    int error; /* errno; reading: EBADMSG: the end came too early */
} stream;

static void
drain(stream *s)
{
    if (s->error == 0 && s->at > 0) {
        s->crc = sn_crc32(s->crc, s->bytes, s->at);
        if (!sn_file_write(s->fd, s->bytes, s->at))
            s->error = errno;
    }
    s->at = 0;
}

static void
put(stream *s, const void *bytes, size_t n)
{
    if (s->at + n > CHUNK)
        drain(s);
    memcpy(s->bytes + s->at, bytes, n);
    s->at += n;
}

static void
put_number(stream *s, uint64_t n, unsigned bytes)
{
    char le[8];

    for (unsigned i = 0; i < bytes; i++)
        le[i] = (char)(n >> 8 * i & 0xff);
    put(s, le, bytes);
}

static void
put_text(stream *s, seine_view text)
{
    put_number(s, text.len, 1);
    if (text.len)
        put(s, text.ptr, text.len);
}

static void
fill(stream *s)
{
    ssize_t n;

    do
        n = read(s->fd, s->bytes, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        s->error = n < 0 ? errno : EBADMSG;
    s->at = 0;
    s->len = n > 0 ? (size_t)n : 0;
}

/* Takes n bytes into the sum; zeros behind the end. */
static void
take(stream *s, void *out, size_t n)
{
    char *to = out;
    size_t want = n;

    while (n > 0 && s->error == 0) {
        if (s->at == s->len)
            fill(s);
        size_t some = s->len - s->at < n ? s->len - s->at : n;
        memcpy(to, s->bytes + s->at, some);
        s->at += some;
        to += some;
        n -= some;
    }
    if (s->error)
        memset(out, 0, want);
    else
        s->crc = sn_crc32(s->crc, out, want);
}

static uint64_t
take_number(stream *s, unsigned bytes)
{
    uint8_t le[8] = {0};
    uint64_t n = 0;

    take(s, le, bytes);
    for (unsigned i = 0; i < bytes; i++)
        n |= (uint64_t)le[i] << 8 * i;
    return n;
}

/* Terminated. */
static seine_view
take_text(stream *s, char out[MOST_NAME + 1])
{
    size_t n = take_number(s, 1);

    take(s, out, n);
    out[n] = 0;
    return (seine_view){out, n};
}

typedef struct writing {
    stream s;
    seine_time now;
    uint64_t debts;
} writing;

static bool
write_debt(seine_view key, seine_time full, void *arg)
{
    writing *w = arg;

    put(&w->s, "D", 1);
    put_text(&w->s, key);
    put_number(&w->s, (uint64_t)sn_time_sub(full, w->now), 8);
    w->debts++;
    return w->s.error == 0;
}

static void
write_rules(writing *w, const sn_gate_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++) {
        const sn_gate_rule *r = &rules->rules[i];

        put(&w->s, "P", 1);
        put_text(&w->s, sn_str_of(r->name));
        put_text(&w->s, sn_str_of(r->header));
        put_number(&w->s, rules->prefix[0], 1);
        put_number(&w->s, rules->prefix[1], 1);
        put_number(&w->s, (uint64_t)r->every, 8);
        put_number(&w->s, (uint64_t)r->depth, 8);
        sn_keyed_debts(r->buckets->keyed, w->now, write_debt, w);
    }
}

static void
write_all(writing *w, const sn_gate_rules *rules, int64_t wall)
{
    put(&w->s, magic, sizeof magic);
    put_number(&w->s, (uint64_t)wall, 8);
    write_rules(w, rules);
    put(&w->s, "E", 1);
    put_number(&w->s, w->debts, 8);
    drain(&w->s);
    put_number(&w->s, w->s.crc, 4);
    drain(&w->s);
}

static seine_err
tell(seine_diag *diag, const char *path, seine_err e, const char *text)
{
    sn_diag_text(diag, "%s", text);
    sn_diag_place(diag, path, 0, 0);
    return e;
}

static seine_err
tell_errno(seine_diag *diag, const char *path, int error)
{
    char text[SN_DIAG_ERRNO];

    sn_diag_errno(error, text);
    return tell(diag, path, error == ENOMEM ? SEINE_E_NOMEM : SEINE_E_IO, text);
}

seine_err
seine_gate_save(const seine_gate *g, const char *path, seine_time now, int64_t wall,
                seine_diag *diag)
{
    sn_file_new file;
    char *room SN_AUTOFREE = NULL;

    sn_diag_clear(diag);
    if (!g || !path)
        return SEINE_E_INVAL;
    room = sn_alloc(CHUNK);
    if (!room)
        return SEINE_E_NOMEM;
    if (!sn_file_begin(&file, path, 0600)) /* addresses are people */
        return tell_errno(diag, path, errno);
    writing w = {.s = {.fd = file.fd, .bytes = room}, .now = now};
    sn_gate_rules *rules = sn_gate_rules_ref(g);
    write_all(&w, rules, wall);
    sn_gate_rules_unref(rules);
    bool is_whole = w.s.error == 0;
    errno = w.s.error;
    return sn_file_end(&file, is_whole, SN_FILE_SYNCED) ? SEINE_OK
                                                        : tell_errno(diag, path, errno);
}

typedef struct reading {
    stream s;
    sn_gate_rules *rules; /* that learn it; NULL: it is only checked */
    sn_gate_rule *rule;   /* of the debts that follow; NULL: nobody's */
    seine_limiter was;    /* the bucket that the debts are of */
    seine_time now;
    int64_t wall;
    uint64_t debts;
    seine_gate_loaded loaded;
} reading;

static sn_gate_rule *
find_rule(const sn_gate_rules *rules, seine_view name, seine_view header, uint64_t v4,
          uint64_t v6)
{
    for (size_t i = 0; rules && i < rules->n; i++) {
        sn_gate_rule *r = &rules->rules[i];

        if (sn_str_eq(sn_str_of(r->name), name) &&
            sn_str_eq_nocase(sn_str_of(r->header), header) && rules->prefix[0] == v4 &&
            rules->prefix[1] == v6)
            return r;
    }
    return NULL;
}

static bool
read_rule(reading *r)
{
    char name[MOST_NAME + 1], header[MOST_NAME + 1];
    seine_view n = take_text(&r->s, name), h = take_text(&r->s, header);
    uint64_t v4 = take_number(&r->s, 1), v6 = take_number(&r->s, 1);

    r->was.every = (seine_span)take_number(&r->s, 8);
    r->was.depth = (seine_span)take_number(&r->s, 8);
    r->was.shut = SN_LONG_AGO;
    r->rule = find_rule(r->rules, n, h, v4, v6);
    return r->was.every > 0 && r->was.depth >= r->was.every;
}

/* What is missing now. Nobody owes more than a whole bucket. */
static void
read_debt(reading *r, seine_view key, seine_span missing)
{
    seine_limiter bucket = r->was;

    missing = sn_time_min(missing, r->was.depth) - r->loaded.age;
    if (missing <= 0 || !r->rules)
        return;
    bucket.full = sn_time_add(r->now, missing);
    if (r->rule)
        seine_limiter_set_rate(&bucket, r->now, r->rule->every,
                               r->rule->buckets->rate.burst);
    if (r->rule &&
        sn_keyed_owe(r->rule->buckets->keyed, key, r->now, bucket.full) == SEINE_OK)
        r->loaded.clients++;
    else
        r->loaded.left_out++;
}

static bool
read_debt_line(reading *r)
{
    char key[MOST_NAME + 1];
    seine_view k = take_text(&r->s, key);
    seine_span missing = (seine_span)take_number(&r->s, 8);

    r->debts++;
    if (r->s.error || k.len > SN_GATE_KEY || missing <= 0 || r->was.every == 0)
        return false;
    read_debt(r, k, missing);
    return true;
}

static bool
read_end(reading *r)
{
    char more;

    if (take_number(&r->s, 8) != r->debts)
        return false;
    uint32_t crc = r->s.crc;
    if (take_number(&r->s, 4) != crc || r->s.error)
        return false;
    take(&r->s, &more, 1);
    return r->s.error == EBADMSG; /* it ends here */
}

static seine_err
read_head(reading *r)
{
    char got[sizeof magic];

    take(&r->s, got, sizeof got);
    if (r->s.error || memcmp(got, family, sizeof family) != 0)
        return SEINE_E_STATE_FOREIGN;
    if (memcmp(got, magic, sizeof magic) != 0)
        return SEINE_E_STATE_NEWER;
    int64_t wall = (int64_t)take_number(&r->s, 8);
    r->loaded.age = r->wall > wall ? sn_time_sub(r->wall, wall) : 0;
    return SEINE_OK;
}

static seine_err
read_all(reading *r)
{
    seine_err e = read_head(r);
    bool ok = e == SEINE_OK;

    while (ok) {
        char kind;

        take(&r->s, &kind, 1);
        if (kind == 'E')
            return read_end(r) ? SEINE_OK : SEINE_E_STATE_CORRUPT;
        ok = kind == 'P' ? read_rule(r) : kind == 'D' && read_debt_line(r);
    }
    return e == SEINE_OK ? SEINE_E_STATE_CORRUPT : e;
}

static const char *
words_for(seine_err e)
{
    return e == SEINE_E_STATE_FOREIGN ? "not the state of a gate"
           : e == SEINE_E_STATE_NEWER ? "written by a newer version"
                                      : "the state is damaged";
}

/* Checks all of it, then reads it again for the gate. */
static seine_err
read_twice(reading *r, seine_gate *g, const char *path, seine_diag *diag)
{
    reading again = *r;
    seine_err e = read_all(r);

    if (e != SEINE_OK && r->s.error != 0 && r->s.error != EBADMSG)
        return tell_errno(diag, path, r->s.error);
    if (e != SEINE_OK)
        return tell(diag, path, e, words_for(e));
    if (lseek(r->s.fd, 0, SEEK_SET) != 0)
        return tell_errno(diag, path, errno);
    *r = again;
    r->rules = sn_gate_rules_ref(g);
    e = read_all(r);
    sn_gate_rules_unref(r->rules);
    return e == SEINE_OK ? e : tell(diag, path, e, words_for(e));
}

/* A directory or a pipe is no state. */
static int
open_state(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

seine_err
seine_gate_load(seine_gate *g, const char *path, seine_time now, int64_t wall,
                seine_gate_loaded *out_loaded, seine_diag *diag)
{
    char *room SN_AUTOFREE = NULL;

    sn_diag_clear(diag);
    if (!g || !path || !out_loaded)
        return SEINE_E_INVAL;
    int fd = open_state(path);
    if (fd < 0)
        return errno == ENOENT ? SEINE_E_UNKNOWN : tell_errno(diag, path, errno);
    room = sn_alloc(CHUNK);
    reading r = {.s = {.fd = fd, .bytes = room}, .now = now, .wall = wall};
    seine_err e = room ? read_twice(&r, g, path, diag) : SEINE_E_NOMEM;
    close(fd);
    if (e == SEINE_OK)
        *out_loaded = r.loaded;
    return e;
}
