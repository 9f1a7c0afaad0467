/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sink.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/crashpoint.h"
#include "base/opts.h"
#include "base/time.h"
#include "seine/clock.h"
#include "store/failures.h"
#include "store/out_job.h"
#include "store/record_items.h"
#include "store/reorder.h"
#include "store/sink_metrics.h"
#include "store/timeline.h"

/*
 * The sink thread empties the lanes, renders and writes, and then naps for 5 ms. So busy
 * shards need not wake it, and it writes many records at once. A shard whose lane is a
 * quarter full ends the nap. If nothing came during a nap, the thread sleeps, and the
 * next record wakes it at once.
 *
 * With a job the thread works in groups (job.h): it writes the records of all lanes, then
 * flushes and syncs the outputs, then commits the job, which takes the operations of the
 * shards, and only then counts the records. A group takes 20 ms or 1,000 records.
 *
 * Two futexes: `bell` changes when the thread must look; `done` changes when it has done
 * what `asked` says. `state` is AWAKE unless somebody must ring.
 */

enum { OUTPUTS = 32, BATCH = 64 };
enum { RINGS = 2 << 20, SMALL_RING = 64 << 10 };
enum { JOB_RINGS = 4 }; /* with a job a ring is so many times as large */
enum { AWAKE, NAP, ASLEEP };
#define NAP_SPAN   SEINE_MS(5)
#define GROUP_SPAN SEINE_MS(20)
enum { GROUP = 1000, GROUP_BYTES = 4 << 20 };

typedef enum line_kind {
    SAID,    /* a line of the outputs, with its type */
    SLICES,  /* of the timeline, a line each */
    ORPHANS, /* they are told */
    COMMIT,  /* ends the group */
    END      /* as SAID; belongs to the outputs when the job is finished */
} line_kind;

typedef struct line {
    struct line *next;
    int64_t wall;
    line_kind kind;
    size_t type_len, len;
    char text[]; /* the type, then the members */
} line;

struct seine_sinks {
    seine_sinks_opts opts;
    seine_clock *clock;
    sn_out outs[OUTPUTS]; /* first those that set members of records */
    unsigned n_outs, n_lanes;
    sn_record_lane *lanes;
    sn_hurry hurry;
    pthread_mutex_t writing; /* held while outputs are written; `halt` keeps it */
    pthread_t thread;
    bool is_started, is_joined;
    uint32_t referrers; /* that an output asks for */
    bool has_links;     /* an output writes the links of pages */

    _Atomic uint32_t bell, state;
    _Atomic uint32_t asked, done;
    atomic_bool closing;
    atomic_bool is_over; /* the job is: what is written from here on is none of it */

    pthread_mutex_t lock; /* of lines and `told` */
    line *lines, **lines_end;
    seine_diag told; /* the first error */
    _Atomic uint32_t err;

    /* owned by the thread; others read the counts */
    seine_diag diag; /* empty until a write fails */
    sn_reorder order;
    bool has_passed;      /* `order` is behind what earlier runs have ended */
    sn_failures failures; /* off, unless an output asks for referrers */
    uint64_t in_group;    /* records that are written and not committed */
    uint64_t group_bytes;
    bool is_ended;      /* a line of END is in the outputs, and no record behind it */
    seine_time grouped; /* when the last group was committed */
    _Atomic uint64_t waiting, due, seq, records, bytes;
    sn_sink_metrics *metrics; /* NULL: none */
};

static const uint32_t *
word(const _Atomic uint32_t *w)
{
    return (const uint32_t *)(const void *)w;
}

seine_err
seine_sinks_new(const seine_sinks_opts *opts, seine_sinks **out_sinks)
{
    if (!out_sinks)
        return SEINE_E_INVAL;
    static const seine_sinks_opts defaults = SEINE_SINKS_OPTS;
    size_t first = offsetof(seine_sinks_opts, job);
    seine_sinks_opts own, *o = &own;

    if (!sn_opts_read(o, sizeof *o, first, opts ? opts : &defaults) ||
        o->ring_size < 4096 || o->ring_size > (size_t)1 << 32 ||
        (o->ring_size & (o->ring_size - 1)) != 0 || (o->ordered && o->window == 0))
        return SEINE_E_INVAL;

    seine_sinks *s = sn_zalloc(sizeof *s);
    if (!s)
        return SEINE_E_NOMEM;
    s->opts = *o;
    s->clock = seine_clock_system();
    s->lines_end = &s->lines;
    seine_err e = sn_hurry_init(&s->hurry);
    if (e != SEINE_OK) {
        sn_free(s);
        return e;
    }
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->writing, NULL);
    *out_sinks = s;
    return SEINE_OK;
}

/* The same file under any name: two outputs would mix their lines. */
static bool
is_there(const seine_sinks *s, const seine_sink_opts *opts)
{
    struct stat st;

    if (!opts->path || stat(opts->path, &st) != 0)
        return false;
    for (unsigned i = 0; i < s->n_outs; i++)
        if (s->outs[i].ino != 0 && s->outs[i].ino == st.st_ino &&
            s->outs[i].dev == st.st_dev)
            return true;
    return false;
}

/* Sorts the new output behind the others of its rank. */
static void
take_rank(seine_sinks *s)
{
    unsigned i = s->n_outs++;
    sn_out o = s->outs[i];

    for (; o.ops->is_first && i > 0 && !s->outs[i - 1].ops->is_first; i--)
        s->outs[i] = s->outs[i - 1];
    s->outs[i] = o;
}

/* The output is one of the job's. */
static seine_err
join_job(const seine_sinks *s, sn_out *o, const char *path)
{
    size_t n = path ? strlen(path) + 1 : 0;
    char *own = sn_alloc(n > 0 ? n : 1);

    if (!own) {
        sn_out_drop(o);
        return SEINE_E_NOMEM;
    }
    if (path)
        memcpy(own, path, n);
    o->job_path = path ? own : NULL;
    if (!path)
        sn_free(own);
    o->is_durable = true;
    o->owner = s->opts.job;
    o->job = sn_job_name_of(s->opts.job);
    o->job_id = sn_job_id(s->opts.job);
    o->cut_seq = sn_job_last_seq(s->opts.job);
    o->marked_seq = sn_out_job_marked(s->opts.job, path);
    return SEINE_OK;
}

seine_err
seine_sinks_open(seine_sinks *s, const seine_sink_opts *opts, seine_diag *diag)
{
    if (!s)
        return SEINE_E_INVAL;
    sn_diag_clear(diag);
    seine_sink_opts own;
    if (!sn_opts_read(&own, sizeof own, offsetof(seine_sink_opts, only_changes), opts))
        return SEINE_E_INVAL;
    if (s->is_started || s->n_outs == OUTPUTS) {
        sn_diag_text(diag,
                     s->is_started ? "outputs are open already" : "too many outputs");
        return SEINE_E_INVAL;
    }

    if (is_there(s, opts)) {
        char name[SEINE_DIAG_FILE];

        sn_diag_path(opts->path, name);
        sn_diag_text(diag, "%s is an output already", name);
        return SEINE_E_INVAL;
    }
    seine_err e = s->opts.job ? sn_out_job_recover(s->opts.job, &own, diag) : SEINE_OK;
    if (e == SEINE_OK)
        e = sn_out_open(&s->outs[s->n_outs], &own, &s->hurry, diag);
    if (e == SEINE_OK && s->opts.job)
        e = join_job(s, &s->outs[s->n_outs], opts->path);
    if (e == SEINE_OK) {
        s->referrers = own.referrers > s->referrers ? own.referrers : s->referrers;
        s->has_links |= own.links && s->outs[s->n_outs].ops->links;
        take_rank(s);
    }
    return e;
}

/* The first error stays. */
static void
fail_sinks(seine_sinks *s, seine_err e, const seine_diag *diag)
{
    if (atomic_load(&s->err) != SEINE_OK)
        return;
    pthread_mutex_lock(&s->lock);
    s->told = *diag;
    pthread_mutex_unlock(&s->lock);
    atomic_store(&s->err, (uint32_t)e);
    if (s->opts.job)
        sn_job_give_up(s->opts.job, e);
    if (s->opts.failed)
        s->opts.failed(e, s->opts.arg);
}

static void
fail_out(seine_sinks *s, const sn_out *o, seine_err e, const seine_diag *diag)
{
    sn_sink_metrics_failed(s->metrics, o);
    fail_sinks(s, e, diag);
}

static bool
has_failed(const seine_sinks *s)
{
    return atomic_load_explicit(&s->err, memory_order_relaxed) != SEINE_OK;
}

seine_err
seine_sinks_err(const seine_sinks *s, seine_diag *diag)
{
    if (!s)
        return SEINE_E_INVAL;
    seine_err e = (seine_err)atomic_load(&s->err);

    if (diag) {
        pthread_mutex_t *lock = (pthread_mutex_t *)&s->lock;

        pthread_mutex_lock(lock);
        *diag = s->told;
        pthread_mutex_unlock(lock);
    }
    return e;
}

static void
ring(seine_sinks *s)
{
    atomic_fetch_add(&s->bell, 1);
    s->clock->wake(s->clock, word(&s->bell), 1);
}

/* Notes since when an output waits. True if it has waited long enough. */
static bool
note_wait(sn_out *o, seine_time now)
{
    if (o->since == 0)
        o->since = now;
    return now - o->since >= o->ops->patience;
}

/* Flushes all outputs, even if one fails: each keeps what it was given. */
static void
flush_outs(seine_sinks *s, bool all)
{
    seine_time now = s->clock->now(s->clock);
    uint64_t bytes = 0;

    for (unsigned i = 0; i < s->n_outs; i++) {
        sn_out *o = &s->outs[i];
        seine_diag diag = SEINE_DIAG;
        bool everything = all || note_wait(o, now);
        seine_err e = sn_out_flush(o, everything, &diag);

        if (everything)
            o->since = 0;
        if (e != SEINE_OK)
            fail_out(s, o, e, &diag);
        bytes += o->bytes;
    }
    sn_sink_metrics_flushed(s->metrics, s->outs, s->n_outs);
    atomic_store_explicit(&s->bytes, bytes, memory_order_relaxed);
}

static void
flush(seine_sinks *s, bool all)
{
    pthread_mutex_lock(&s->writing);
    flush_outs(s, all);
    pthread_mutex_unlock(&s->writing);
}

static void
count(_Atomic uint64_t *n)
{
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* Links and items are rows of their own. */
static void
number_rows(seine_sinks *s, uint64_t last)
{
    atomic_store_explicit(&s->seq, last, memory_order_relaxed);
    if (s->opts.job)
        sn_job_seq(s->opts.job, last);
}

/* An error ends the outputs; the others keep what they have, and nothing is added. */
static void
fail_write(seine_sinks *s, seine_err e)
{
    if (s->diag.text[0] == '\0')
        sn_diag_text(&s->diag, "%s", seine_err_text(e));
    fail_sinks(s, e, &s->diag);
    flush_outs(s, true);
}

/* Outputs that hear of a failure when it happens. */
static bool
hears_at_once(const sn_out *o)
{
    return o->opts.format == SEINE_SINK_CALL && o->opts.referrers == 0;
}

/* Links that have numbers of their own. */
static size_t
links_of(const seine_sinks *s, const seine_record *r)
{
    return s->has_links ? seine_record_links(r, NULL, NULL) : 0;
}

static seine_err
write_out(seine_sinks *s, sn_out *o, seine_record *r, uint64_t seq)
{
    seine_err e = sn_out_record(o, r, seq, &s->diag);

    if (e == SEINE_OK)
        e = sn_out_links(o, r, seq, &s->diag);
    return e == SEINE_OK ? sn_out_items(o, r, seq + links_of(s, r), &s->diag) : e;
}

/* Writes the record to all outputs; to those that have heard of it not once more. */
static void
write_outs(seine_sinks *s, seine_record *r, bool was_heard)
{
    seine_err e = SEINE_OK;

    count(&s->seq);
    uint64_t seq = atomic_load_explicit(&s->seq, memory_order_relaxed);
    for (unsigned i = 0; i < s->n_outs && e == SEINE_OK; i++)
        if (!was_heard || !hears_at_once(&s->outs[i])) {
            e = write_out(s, &s->outs[i], r, seq);
            if (e != SEINE_OK)
                sn_sink_metrics_failed(s->metrics, &s->outs[i]);
        }
    if (e == SEINE_OK && s->opts.job)
        e = sn_job_result(s->opts.job, r, seq);
    size_t more = links_of(s, r) + sn_record_items_count(r);
    if (more > 0)
        number_rows(s, seq + more);
    if (e == SEINE_OK && s->opts.job) {
        s->in_group++;
        s->group_bytes += r->bytes_body;
    } else if (e == SEINE_OK) {
        count(&s->records);
    } else {
        fail_write(s, e);
    }
}

static void
write_new(seine_record *r, void *arg)
{
    write_outs(arg, r, false);
}

static void
write_held(seine_record *r, void *arg)
{
    write_outs(arg, r, true);
}

/* The failure is held back, and has no number yet. */
static void
tell_failure(seine_sinks *s, seine_record *r)
{
    seine_err e = SEINE_OK;

    for (unsigned i = 0; i < s->n_outs && e == SEINE_OK; i++)
        if (hears_at_once(&s->outs[i]))
            e = sn_out_record(&s->outs[i], r, 0, &s->diag);
    if (e != SEINE_OK)
        fail_write(s, e);
}

/* The next run of the job learns what the record told. */
static void
write_and_keep(seine_sinks *s, seine_record *r)
{
    write_outs(s, r, false);
    if (!s->opts.job || has_failed(s))
        return;
    seine_err e =
        sn_job_keep_links(s->opts.job, r->number, sn_referrers_news(&s->failures.table));
    if (e != SEINE_OK)
        fail_write(s, e);
}

static void
write_or_hold(seine_sinks *s, seine_record *r)
{
    if (!s->failures.pages) {
        write_outs(s, r, false);
        return;
    }
    sn_referrers_see(&s->failures.table, r);
    if (!sn_failures_is_failure(r)) /* a failure has no links */
        write_and_keep(s, r);
    else if (!s->opts.ordered && sn_failures_hold(&s->failures, r))
        tell_failure(s, r);
    else
        sn_failures_with(&s->failures, r, write_new, s);
}

static void
write_record(seine_sinks *s, seine_record *r)
{
    if (has_failed(s))
        return;
    pthread_mutex_lock(&s->writing);
    s->is_ended = false;
    write_or_hold(s, r);
    pthread_mutex_unlock(&s->writing);
}

/* Holds a record that came too early on the heap until its turn. */
static void
hold(seine_sinks *s, seine_record *r, sn_record_block *block)
{
    seine_err e = SEINE_E_NOMEM;

    if (!block)
        block = sn_record_block_new(r);
    if (block)
        e = sn_reorder_hold(&s->order, block);
    if (e != SEINE_OK) {
        seine_diag diag = SEINE_DIAG;

        sn_diag_text(&diag, "%s", seine_err_text(e));
        sn_record_block_free(block);
        fail_sinks(s, e, &diag);
    }
}

/* What has ended in an earlier run has no record in this one. */
static void
pass_ended(seine_sinks *s)
{
    if (!s->opts.ordered || !s->opts.job || !sn_job_is_started(s->opts.job))
        return;
    s->has_passed = true;
    while (sn_job_has_ended(s->opts.job, s->order.due))
        sn_reorder_pass(&s->order);
}

static void
write_due(seine_sinks *s)
{
    pass_ended(s);
    for (sn_record_block *b; (b = sn_reorder_take(&s->order)); pass_ended(s)) {
        write_record(s, b->record);
        sn_record_block_free(b);
    }
}

/* No more records come: nothing waits for those that are missing. With a job whose run is
 * to go on they stay behind: their URLs have no result, and are fetched again in order.
 */
static void
write_waiting(seine_sinks *s, bool is_asked)
{
    bool is_kept = s->opts.ordered && s->opts.job;

    if (is_kept ? !atomic_load(&s->closing) || atomic_load(&s->is_over) : !is_asked)
        return;
    while (s->order.waiting > 0) {
        sn_reorder_skip(&s->order);
        write_due(s);
    }
}

/* Writes or holds the record; frees the block, if there is one. */
static void
emit(seine_sinks *s, seine_record *r, sn_record_block *block)
{
    if (s->opts.ordered && r->number > s->order.due && !has_failed(s)) {
        hold(s, r, block);
        return;
    }
    write_record(s, r);
    if (s->opts.ordered && r->number == s->order.due) {
        sn_reorder_pass(&s->order);
        write_due(s);
    }
    sn_record_block_free(block);
}

static bool
is_ready(const seine_sinks *s, const sn_record_lane *l)
{
    uint64_t waiting = atomic_load_explicit(&s->waiting, memory_order_acquire);

    return (!s->opts.ordered || waiting < s->opts.window) && sn_record_lane_is_ready(l) &&
           (!s->opts.job || sn_job_is_ready(s->opts.job));
}

/* Whoever sets `starved` checks again afterwards; whoever clears it made room before.
 * Both use an atomic exchange, so one of them sees the other. */
static void
tell_room(seine_sinks *s, sn_record_lane *l)
{
    if (!atomic_fetch_or(&l->starved, 0) || !is_ready(s, l))
        return;
    if (atomic_exchange(&l->starved, 0) && s->opts.room)
        s->opts.room(s->opts.arg);
}

static bool
take_lane(seine_sinks *s, sn_record_lane *l)
{
    uint64_t n = sn_record_lane_waiting(l);

    for (uint64_t i = 1; i <= n; i++) {
        sn_record_block *block;
        seine_record *r = sn_record_lane_next(l, &block);
        size_t size = block ? block->size : 0;

        emit(s, r, block);
        sn_record_lane_done(l, block);
        if (size > 0)
            atomic_fetch_sub(&l->held, size);
        if (i % BATCH == 0 || i == n) {
            sn_record_lane_release(l);
            tell_room(s, l);
        }
    }
    return n > 0;
}

static line *
take_lines(seine_sinks *s)
{
    pthread_mutex_lock(&s->lock);
    line *all = s->lines;
    s->lines = NULL;
    s->lines_end = &s->lines;
    pthread_mutex_unlock(&s->lock);
    return all;
}

static void
write_line(seine_sinks *s, const line *n)
{
    sn_str job = s->opts.job ? sn_job_name_of(s->opts.job) : (sn_str){NULL, 0};
    /* a byte of a type may be escaped */
    size_t room = 6 * n->type_len + job.len + n->len + 128;
    char *text SN_AUTOFREE = sn_alloc(room);
    seine_diag diag = SEINE_DIAG;
    seine_err e = text ? SEINE_OK : SEINE_E_NOMEM;

    if (has_failed(s))
        return;
    if (text) {
        sn_text_writer p = sn_text_writer_on(text, room);

        count(&s->seq);
        uint64_t seq = atomic_load_explicit(&s->seq, memory_order_relaxed);
        SN_WRITE(&p, "{\"v\":1,\"type\":");
        sn_text_writer_quoted(&p, (sn_str){n->text, n->type_len});
        if (job.ptr) {
            SN_WRITE(&p, ",\"job\":");
            sn_text_writer_quoted(&p, job);
        }
        SN_WRITE(&p, ",\"seq\":");
        sn_text_writer_u64(&p, seq);
        SN_WRITE(&p, ",\"ts\":\"");
        sn_text_writer_stamp(&p, n->wall);
        SN_WRITE(&p, "\"");
        if (n->len > 0)
            SN_WRITE(&p, ",");
        sn_text_writer_add(&p, n->text + n->type_len, n->len);
        SN_WRITE(&p, "}\n");
        if (s->is_ended)
            sn_job_end_seq(s->opts.job, seq);
        else if (s->opts.job && !atomic_load(&s->is_over))
            sn_job_seq(s->opts.job, seq);
        sn_said said = {{n->text, n->type_len}, seq, {text, sn_text_writer_len(&p)}};
        pthread_mutex_lock(&s->writing);
        for (unsigned i = 0; i < s->n_outs && e == SEINE_OK; i++)
            e = sn_out_line(&s->outs[i], &said, &diag);
        pthread_mutex_unlock(&s->writing);
    } else {
        sn_diag_text(&diag, "%s", seine_err_text(e));
    }
    if (e != SEINE_OK)
        fail_sinks(s, e, &diag);
}

/* They are no lines of the outputs, and have no number. */
static void
write_slices(seine_sinks *s, const line *n)
{
    seine_diag diag = SEINE_DIAG;
    seine_err e = SEINE_OK;

    if (has_failed(s))
        return;
    pthread_mutex_lock(&s->writing);
    for (unsigned i = 0; i < s->n_outs && e == SEINE_OK; i++)
        e = sn_out_slices(&s->outs[i], (sn_str){n->text, n->len}, &diag);
    pthread_mutex_unlock(&s->writing);
    if (e != SEINE_OK)
        fail_sinks(s, e, &diag);
}

static line *
line_new(const seine_sinks *s, line_kind kind, const char *type, size_t len)
{
    size_t type_len = strlen(type);
    line *n = sn_alloc(sizeof *n + type_len + len);

    if (!n)
        return NULL;
    *n = (line){NULL, s->clock->wall(s->clock), kind, type_len, len};
    memcpy(n->text, type, type_len);
    return n;
}

static void
put_moment(sn_text_writer *p, const char *name, int64_t wall_ms)
{
    if (wall_ms <= 0)
        return;
    SN_WRITE(p, ",\"");
    sn_text_writer_text(p, name);
    SN_WRITE(p, "\":\"");
    sn_text_writer_stamp(p, wall_ms * 1000000);
    SN_WRITE(p, "\"");
}

/* One event, as those of hosts are. A failed output ends the list. */
static seine_err
write_orphan(const sn_job_orphan *o, void *arg)
{
    seine_sinks *s = arg;
    size_t room = 6 * (o->url.len + o->host.len) + 256; /* a byte may be escaped */
    line *n SN_AUTOFREE = line_new(s, SAID, "event", room);

    if (!n)
        return SEINE_E_NOMEM;
    sn_text_writer p = sn_text_writer_on(n->text + n->type_len, room);
    SN_WRITE(&p, "\"event\":\"page.orphan\",\"host\":");
    sn_text_writer_quoted(&p, o->host);
    SN_WRITE(&p, ",\"data\":{\"url\":");
    sn_text_writer_quoted(&p, o->url);
    SN_WRITE(&p, ",\"round\":");
    sn_text_writer_i64(&p, o->round);
    put_moment(&p, "seen", o->seen_ms);
    put_moment(&p, "changed", o->changed_ms);
    SN_WRITE(&p, "}");
    n->len = sn_text_writer_len(&p);
    write_line(s, n);
    return (seine_err)atomic_load(&s->err);
}

static void end_group(seine_sinks *s, bool now);

/* The lines and the note of the job that they are written are one group: after a kill all
 * of them are there, or the next run writes all of them. */
static void
write_orphans(seine_sinks *s)
{
    seine_diag diag = SEINE_DIAG;

    if (!s->opts.job || atomic_load(&s->is_over))
        return;
    end_group(s, true);
    if (has_failed(s))
        return;
    seine_err e = sn_job_tell_orphans(s->opts.job, write_orphan, s);
    SN_CRASHPOINT("orphans.written");
    if (e != SEINE_OK) {
        sn_diag_text(&diag, "cannot list orphans: %s", seine_err_text(e));
        fail_sinks(s, e, &diag); /* unless an output has failed before */
    }
    end_group(s, true);
}

/* What is in the outputs so far is what a resume cuts them to, until the job is finished.
 */
static void
mark_end(seine_sinks *s)
{
    seine_diag diag = SEINE_DIAG;
    seine_err e = SEINE_OK;

    if (!s->opts.job || atomic_load(&s->is_over) || has_failed(s))
        return;
    pthread_mutex_lock(&s->writing);
    for (unsigned i = 0; i < s->n_outs && e == SEINE_OK; i++)
        e = sn_out_job_mark_end(s->opts.job, &s->outs[i], &diag);
    pthread_mutex_unlock(&s->writing);
    if (e != SEINE_OK)
        fail_sinks(s, e, &diag);
    s->is_ended = e == SEINE_OK;
}

static bool
write_all_lines(seine_sinks *s, line *n)
{
    bool any = n;

    while (n) {
        line *next = n->next;

        switch (n->kind) {
        case SAID:
            write_line(s, n);
            break;
        case SLICES:
            write_slices(s, n);
            break;
        case ORPHANS:
            write_orphans(s);
            break;
        case COMMIT:
            end_group(s, true);
            break;
        case END:
            mark_end(s);
            write_line(s, n);
            break;
        }
        sn_free(n);
        n = next;
    }
    return any;
}

static bool
has_group(const seine_sinks *s)
{
    return s->opts.job && !atomic_load(&s->is_over) &&
           (s->in_group > 0 || sn_job_has_work(s->opts.job));
}

/* Outputs first, then the job: what is committed is in the files. */
static void
write_group(seine_sinks *s)
{
    seine_diag diag = SEINE_DIAG;
    seine_err e = SEINE_OK;

    flush_outs(s, true);
    for (unsigned i = 0; i < s->n_outs && e == SEINE_OK && !has_failed(s); i++)
        e = s->is_ended ? sn_out_job_mark_behind(s->opts.job, &s->outs[i], &diag)
                        : sn_out_job_mark(s->opts.job, &s->outs[i], &diag);
    SN_CRASHPOINT("out.synced");
    if (e == SEINE_OK && !has_failed(s)) {
        seine_time began = s->clock->now(s->clock);

        e = sn_job_commit(s->opts.job, &diag);
        sn_sink_metrics_committed(s->metrics, s->clock->now(s->clock) - began);
    }
    SN_CRASHPOINT("sink.committed");
    if (e != SEINE_OK)
        fail_sinks(s, e, &diag);
    if (!has_failed(s))
        atomic_store_explicit(&s->records,
                              atomic_load_explicit(&s->records, memory_order_relaxed) +
                                  s->in_group,
                              memory_order_relaxed);
    s->in_group = s->group_bytes = 0;
}

/* A group is long enough, or somebody waits for it. */
static void
end_group(seine_sinks *s, bool now)
{
    seine_time t = s->clock->now(s->clock);

    if (!s->opts.job || atomic_load(&s->is_over) || has_failed(s) ||
        (!now && (!has_group(s) || (t - s->grouped < GROUP_SPAN && s->in_group < GROUP &&
                                    s->group_bytes < GROUP_BYTES))))
        return;
    pthread_mutex_lock(&s->writing);
    write_group(s);
    pthread_mutex_unlock(&s->writing);
    s->grouped = s->clock->now(s->clock);
    for (unsigned i = 0; i < s->n_lanes; i++)
        tell_room(s, &s->lanes[i]);
}

/* All pages have been seen. */
static void
write_failures(seine_sinks *s)
{
    for (seine_record *r; s->failures.pages && (r = sn_failures_next(&s->failures));) {
        if (has_failed(s))
            continue;
        pthread_mutex_lock(&s->writing);
        sn_failures_with(&s->failures, r, write_held, s);
        pthread_mutex_unlock(&s->writing);
        end_group(s, false);
    }
}

/* Does what was asked: first everything in the lanes, then the lines. The lines are taken
 * before the lanes are emptied, so they follow all records put before them. */
static bool
turn(seine_sinks *s)
{
    uint32_t asked = atomic_load(&s->asked);
    line *lines = take_lines(s);
    bool any = false;

    write_due(s);

    for (unsigned i = 0; i < s->n_lanes; i++)
        any |= take_lane(s, &s->lanes[i]);
    write_waiting(s, asked != atomic_load(&s->done));
    if (asked != atomic_load(&s->done))
        write_failures(s);
    atomic_store_explicit(&s->waiting, s->order.waiting, memory_order_release);
    sn_sink_metrics_waiting(s->metrics, s->order.waiting + s->in_group);
    atomic_store_explicit(&s->due, s->order.due, memory_order_release);
    for (unsigned i = 0; s->opts.ordered && i < s->n_lanes; i++)
        tell_room(s, &s->lanes[i]);
    any |= write_all_lines(s, lines);
    if (asked != atomic_load(&s->done)) {
        flush(s, true);
        atomic_store(&s->done, asked);
        s->clock->wake(s->clock, word(&s->done), INT32_MAX);
        any = true;
    }
    return any;
}

static bool
has_work(const seine_sinks *s)
{
    for (unsigned i = 0; i < s->n_lanes; i++)
        if (sn_record_lane_waiting(&s->lanes[i]) > 0)
            return true;
    return s->opts.ordered && s->opts.job && !s->has_passed &&
           sn_job_is_started(s->opts.job);
}

static bool
is_urgent(const seine_sinks *s)
{
    for (unsigned i = 0; i < s->n_lanes; i++)
        if (sn_record_lane_is_quarter(&s->lanes[i]) ||
            !sn_record_lane_is_ready(&s->lanes[i]))
            return true;
    return false;
}

/* Waits in that state. `bell` was read before the last check, so a request since then has
 * rung. */
static void
rest(seine_sinks *s, uint32_t how, uint32_t bell)
{
    seine_time until = SEINE_NEVER;

    atomic_store(&s->state, how);
    if (how == NAP ? is_urgent(s) : has_work(s)) {
        atomic_store(&s->state, AWAKE);
        return;
    }
    if (how == NAP)
        until = sn_time_add(s->clock->now(s->clock), NAP_SPAN);
    while (atomic_load(&s->bell) == bell &&
           s->clock->wait(s->clock, word(&s->bell), bell, until))
        continue;
    atomic_store(&s->state, AWAKE);
}

static void
close_outs(seine_sinks *s)
{
    for (unsigned i = 0; i < s->n_outs; i++) {
        seine_diag diag = SEINE_DIAG;
        seine_err e = sn_out_close(&s->outs[i], &diag);

        if (e != SEINE_OK)
            fail_sinks(s, e, &diag);
    }
    s->n_outs = 0;
}

/* Outputs are closed on the thread that wrote them, where signals are blocked: the last
 * bytes may exceed a limit. */
static void *
run_thread(void *arg)
{
    seine_sinks *s = arg;

    for (;;) {
        uint32_t bell = atomic_load(&s->bell);
        bool closing = atomic_load(&s->closing), any = turn(s);

        if (!s->opts.job || atomic_load(&s->is_over))
            flush(s, !any);
        end_group(s, closing);
        any |= has_group(s) && !has_failed(s);
        if (!any && closing) {
            close_outs(s);
            return NULL;
        }
        if (!closing)
            rest(s, any ? NAP : ASLEEP, bell);
    }
}

/* All signals are blocked: a closed pipe is EPIPE, a file that is too large EFBIG. */
static seine_err
start_thread(seine_sinks *s)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&s->thread, NULL, run_thread, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? SEINE_E_NOMEM : SEINE_OK;
}

static seine_err
start_outs(seine_sinks *s)
{
    for (unsigned i = 0; i < s->n_outs; i++) {
        seine_diag diag = SEINE_DIAG;
        seine_err e = sn_out_start(&s->outs[i], &diag);

        if (e != SEINE_OK) {
            fail_sinks(s, e, &diag);
            return e;
        }
        if (s->outs[i].last_seq > atomic_load(&s->seq))
            atomic_store(&s->seq, s->outs[i].last_seq);
    }
    return SEINE_OK;
}

static void
wake_for_job(void *arg)
{
    seine_sinks *s = arg;

    if (atomic_load(&s->state) == ASLEEP && atomic_exchange(&s->state, AWAKE) != AWAKE)
        ring(s);
}

/* The scan of the job tells this before the first record comes. */
static void
learn_links(sn_str packed, void *arg)
{
    seine_sinks *s = arg;
    bool is_known = sn_referrers_learn(&s->failures.table, packed);

    (void)is_known; /* false: another version has kept something else */
}

static bool
needs_marks(const seine_sinks *s)
{
    for (unsigned i = 0; i < s->n_outs; i++)
        if (sn_out_job_needs_mark(s->opts.job, &s->outs[i]))
            return true;
    return false;
}

/* The files that were there belong to the job before the first record comes. One that was
 * made now is claimed, and is made anew after a kill: the first group marks it. */
static seine_err
start_job(seine_sinks *s)
{
    seine_durable_job *j = s->opts.job;
    uint64_t last = j ? sn_job_last_seq(j) : 0;

    if (!j)
        return SEINE_OK;
    if (last > atomic_load(&s->seq))
        atomic_store(&s->seq, last);
    sn_job_seq(j, atomic_load(&s->seq));
    sn_job_listen(j, wake_for_job, s);
    if (s->failures.pages) {
        sn_referrers_secret(&s->failures.table, sn_job_secret(j));
        sn_job_hear_links(j, learn_links, s);
    }
    if (needs_marks(s))
        write_group(s);
    SN_CRASHPOINT("recover.done");
    return (seine_err)atomic_load(&s->err);
}

static void
free_lanes(seine_sinks *s)
{
    for (unsigned i = 0; i < s->n_lanes; i++)
        sn_record_lane_fini(&s->lanes[i]);
    sn_free_line(s->lanes);
    s->lanes = NULL;
    s->n_lanes = 0;
}

/* The size of a ring. Many of them are smaller, so that a machine with many processors
 * takes no more memory for them. With a job the thread takes nothing while a group is
 * synced, some 20 ms on a busy disk: a ring has room for what a crawl finds meanwhile. */
static size_t
ring_of(const seine_sinks *s, unsigned lanes)
{
    size_t more = s->opts.job ? JOB_RINGS : 1, size = s->opts.ring_size * more;

    while (size > SMALL_RING && size * lanes > RINGS * more)
        size /= 2;
    return size;
}

seine_err
seine_sinks_start(seine_sinks *s, unsigned lanes)
{
    if (!s)
        return SEINE_E_INVAL;
    if (s->is_started || lanes == 0 || lanes > 65536)
        return SEINE_E_INVAL;
    s->lanes = sn_zalloc_line(lanes * sizeof *s->lanes);
    if (!s->lanes)
        return SEINE_E_NOMEM;

    seine_err e = SEINE_OK;
    while (e == SEINE_OK && s->n_lanes < lanes) {
        e = sn_record_lane_init(&s->lanes[s->n_lanes], ring_of(s, lanes));
        s->n_lanes += e == SEINE_OK;
    }
    if (e == SEINE_OK && s->referrers > 0)
        e = sn_failures_init(&s->failures, s->referrers);
    if (e == SEINE_OK)
        e = start_outs(s);
    if (e == SEINE_OK)
        e = start_job(s);
    if (e == SEINE_OK)
        e = start_thread(s);
    if (e != SEINE_OK)
        free_lanes(s);
    s->is_started = e == SEINE_OK;
    return e;
}

seine_err
seine_sinks_put(seine_sinks *s, unsigned lane, const seine_record *r)
{
    if (!s || !r)
        return SEINE_E_INVAL;
    if (lane >= s->n_lanes)
        return SEINE_E_INVAL;
    if (has_failed(s))
        return SEINE_OK;

    sn_record_lane *l = &s->lanes[lane];
    seine_err e = sn_record_lane_put(l, r);
    uint32_t state = atomic_load(&s->state);

    if (state == ASLEEP ||
        (state == NAP && (sn_record_lane_is_quarter(l) || !sn_record_lane_is_ready(l))))
        if (atomic_exchange(&s->state, AWAKE) != AWAKE)
            ring(s);
    return e;
}

bool
seine_sinks_poll(const seine_sinks *s, unsigned lane)
{
    if (!s)
        return false;
    if (lane >= s->n_lanes)
        return false;

    sn_record_lane *l = &s->lanes[lane];
    if (has_failed(s) || is_ready(s, l))
        return true;
    atomic_exchange(&l->starved, 1);
    return is_ready(s, l);
}

uint64_t
seine_sinks_due(const seine_sinks *s)
{
    if (!s)
        return 0;
    return atomic_load_explicit(&s->due, memory_order_acquire);
}

static seine_err
put_line(seine_sinks *s, line_kind kind, const char *type, sn_str members)
{
    size_t len = members.len;
    line *n = line_new(s, kind, type, len);

    if (!n)
        return SEINE_E_NOMEM;
    if (len > 0)
        memcpy(n->text + n->type_len, members.ptr, len);

    pthread_mutex_lock(&s->lock);
    *s->lines_end = n;
    s->lines_end = &n->next;
    pthread_mutex_unlock(&s->lock);
    ring(s);
    return SEINE_OK;
}

static seine_err
put_text(seine_sinks *s, line_kind kind, const char *type, const char *members,
         size_t len)
{
    if (!s || !type || !type[0])
        return SEINE_E_INVAL;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)members[i] < 0x20)
            return SEINE_E_INVAL;
    return put_line(s, kind, type, (sn_str){members, len});
}

seine_err
seine_sinks_line(seine_sinks *s, const char *type, const char *members, size_t len)
{
    return put_text(s, SAID, type, members, len);
}

seine_err
seine_sinks_timeline(seine_sinks *s, const seine_timeline *t)
{
    bool is_wanted = false;
    seine_text text;
    sn_buf b;

    if (!s || !t)
        return SEINE_E_INVAL;
    for (unsigned i = 0; i < s->n_outs; i++)
        is_wanted |= s->outs[i].ops->slices != NULL;
    if (!is_wanted)
        return SEINE_OK;
    sn_buf_init(&b, SIZE_MAX - 1);
    sn_timeline_lines(t, &b);
    seine_err e = sn_buf_take(&b, &text);
    if (e == SEINE_OK && text.len > 0)
        e = put_line(s, SLICES, "", (sn_str){text.bytes, text.len});
    if (e == SEINE_OK)
        seine_text_free(&text);
    sn_buf_fini(&b);
    return e;
}

seine_err
seine_sinks_orphans(seine_sinks *s)
{
    return s && s->opts.job ? put_line(s, ORPHANS, "", (sn_str){NULL, 0}) : SEINE_E_INVAL;
}

seine_err
sn_sinks_commit(seine_sinks *s)
{
    seine_err e = s ? put_line(s, COMMIT, "", (sn_str){NULL, 0}) : SEINE_E_INVAL;

    return e == SEINE_OK ? seine_sinks_drain(s) : e;
}

seine_err
seine_sinks_last_line(seine_sinks *s, const char *type, const char *members, size_t len)
{
    seine_err e = sn_sinks_commit(s); /* a failure stays in the sinks */

    if (s && e == SEINE_OK)
        atomic_store(&s->is_over, s->opts.job != NULL);
    return seine_sinks_line(s, type, members, len);
}

seine_err
seine_sinks_end_line(seine_sinks *s, const char *type, const char *members, size_t len)
{
    return put_text(s, END, type, members, len);
}

seine_err
seine_sinks_drain(seine_sinks *s)
{
    if (!s)
        return SEINE_E_INVAL;
    if (!s->is_started || s->is_joined)
        return (seine_err)atomic_load(&s->err);

    uint32_t ask = atomic_fetch_add(&s->asked, 1) + 1, done;
    ring(s);
    while ((int32_t)((done = atomic_load(&s->done)) - ask) < 0)
        s->clock->wait(s->clock, word(&s->done), done, SEINE_NEVER);
    return (seine_err)atomic_load(&s->err);
}

static void
join(seine_sinks *s)
{
    if (!s->is_started || s->is_joined)
        return;
    atomic_store(&s->closing, true);
    ring(s);
    pthread_join(s->thread, NULL);
    s->is_joined = true;
}

seine_err
seine_sinks_close(seine_sinks *s)
{
    if (!s)
        return SEINE_E_INVAL;
    seine_err first = seine_sinks_drain(s);

    join(s);
    close_outs(s); /* of those that never started */
    return first != SEINE_OK ? first : (seine_err)atomic_load(&s->err);
}

void
seine_sinks_hurry(seine_sinks *s)
{
    if (!s)
        return;
    sn_hurry_up(&s->hurry);
}

bool
seine_sinks_halt(seine_sinks *s, seine_span patience)
{
    if (!s)
        return false;
    seine_time until = sn_time_add(s->clock->now(s->clock), patience);

    while (pthread_mutex_trylock(&s->writing) != 0) {
        static const uint32_t never;

        if (s->clock->now(s->clock) >= until)
            return false;
        s->clock->wait(s->clock, &never, 0,
                       sn_time_add(s->clock->now(s->clock), SEINE_MS(1)));
    }
    return true;
}

void
seine_sinks_free(seine_sinks *s)
{
    if (!s)
        return;

    seine_err e = seine_sinks_close(s);
    (void)e;
    for (line *n = s->lines; n;) {
        line *next = n->next;

        sn_free(n);
        n = next;
    }
    sn_reorder_fini(&s->order);
    sn_failures_fini(&s->failures);
    free_lanes(s);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->writing);
    sn_hurry_fini(&s->hurry);
    sn_free(s);
}

seine_err
seine_sinks_metrics(seine_sinks *s, seine_metrics *metrics)
{
    if (!s)
        return SEINE_E_INVAL;
    if (s->is_started)
        return SEINE_E_CLOSED;
    return metrics ? sn_sink_metrics_new(metrics, &s->metrics) : SEINE_OK;
}

void
seine_sinks_stats_get(const seine_sinks *s, seine_sinks_stats *out_stats)
{
    if (!s || !out_stats)
        return;
    *out_stats = (seine_sinks_stats){
        atomic_load_explicit(&s->records, memory_order_relaxed),
        atomic_load_explicit(&s->bytes, memory_order_relaxed),
        atomic_load_explicit(&s->seq, memory_order_relaxed),
    };
}
