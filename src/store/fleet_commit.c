/* SPDX-License-Identifier: Apache-2.0 */
/* The sink thread of a worker. A commit has an order that no crash may change: records to
 * their segment, synced; links that were found to their inboxes; then, for each partition
 * and behind its lease, what has ended. Each step is acknowledged before the next. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/file_write.h"
#include "base/time.h"
#include "store/fleet_parts.h"
#include "store/job_parts.h"
#include "store/out_items.h"
#include "store/record.h"
#include "store/record_items.h"

#define SPAN       SEINE_MS(250) /* between two commits */
#define BLOCK_SPAN SEINE_MS(50)  /* a link waits no longer for its block to fill */
#define PAUSE_MOST SEINE_SECS(5)

enum {
    MOST_PENDING = 20000, /* results that wait; above, nothing new starts */
    SOON = 2000,          /* … and above this a commit comes at once */
    TEXT_MOST = 1 << 20   /* bytes of a segment that wait to be written */
};

/* Operations of the shards. */

static sn_str
text_of(const sn_job_op *op, unsigned i)
{
    const char *at = (const char *)(op->ints + op->n_ints);

    for (unsigned k = 0; k < i; k++)
        at += op->lens[k];
    return (sn_str){at, op->lens[i]};
}

static seine_err
send_link(sn_fleet *f, const sn_fleet_link *l)
{
    if (f->links_out == 0)
        f->blocks_since = f->clock->now(f->clock);
    atomic_fetch_add(&f->pending, 1);
    return sn_outbox_add(f, l);
}

/* A link that was found, or a URL that was given. */
static seine_err
take_found(sn_fleet *f, const sn_job_op *op)
{
    char url[SN_STORE_TEXT];
    sn_str host = text_of(op, 0), target = text_of(op, 1);
    int64_t meta = op->ints[5];
    sn_fleet_link l = {.url = {.target = target,
                               .parent = text_of(op, 2),
                               .line = (uint32_t)op->ints[3],
                               .depth = (uint32_t)op->ints[4],
                               .kind = meta & 7,
                               .ceiling = meta >> 3 & 3,
                               .tag = meta >> 5 & 63,
                               .attr = meta >> 11 & 15,
                               .flags = (uint8_t)(meta >> 15),
                               .moved = (uint8_t)(meta >> 23)},
                       .ask = text_of(op, 3)};

    if (host.len > 0) {
        int n = snprintf(url, sizeof url, "%.*s%.*s", SN_FMT(host), SN_FMT(target));

        if (n < 0 || (size_t)n >= sizeof url)
            return SEINE_OK; /* nothing that long is fetched */
        l.url.target = (sn_str){url, (size_t)n};
    }
    return send_link(f, &l);
}

/* The URL of that number has ended; its tenure may be over. The caller has the lock. */
static seine_err
finish(sn_fleet *f, uint64_t number, sn_tenure **out_tenure)
{
    uint32_t index = SN_FLEET_TENURE(number);
    sn_tenure *t = sn_tenure_of(f, number);
    uint64_t print;

    *out_tenure = NULL;
    if (atomic_load(&f->out_of[index]) > 0)
        atomic_fetch_sub(&f->out_of[index], 1);
    if (!t || atomic_load(&f->states[index]) == SN_TENURE_LOST ||
        !sn_tenure_finish(f, t, number, &print))
        return SEINE_OK;
    sn_fleet_batch *b = &t->next;
    if (b->n_prints == b->prints_room) {
        size_t more = b->prints_room > 0 ? b->prints_room * 2 : 64;
        uint64_t *bigger = sn_realloc(b->prints, more * sizeof *bigger);

        if (!bigger)
            return SEINE_E_NOMEM;
        b->prints = bigger;
        b->prints_room = more;
    }
    b->prints[b->n_prints++] = print;
    atomic_fetch_add(&f->pending, 1);
    *out_tenure = t;
    return SEINE_OK;
}

static seine_err
take_host_row(sn_fleet *f, const sn_job_op *op)
{
    sn_str name = text_of(op, 0);
    char row[SN_FLEET_ROW];
    bool is_awaited;
    size_t n = sn_fleet_row_write(op->ints, op->n_ints, atomic_load(&f->ahead_ms), row,
                                  &is_awaited);
    sn_fleet_row *r = sn_alloc(sizeof *r + name.len + n);

    if (!r)
        return SEINE_E_NOMEM;
    *r = (sn_fleet_row){
        .name_len = name.len, .len = name.len + n, .is_awaited = is_awaited};
    memcpy(r->bytes, name.ptr, name.len);
    memcpy(r->bytes + name.len, row, n);
    pthread_mutex_lock(&f->lock);
    sn_tenure *t = f->by_part[sn_fleet_part_of(f, name)];
    if (t) {
        sn_fleet_batch *b = &t->next;

        *(b->last_row ? &b->last_row->next : &b->rows) = r;
        b->last_row = r;
        b->n_rows++;
        atomic_fetch_add(&f->pending, 1);
    }
    pthread_mutex_unlock(&f->lock);
    if (!t)
        sn_free(r); /* another worker knows it better */
    return SEINE_OK;
}

/* Tells all workers where a seed redirects. One that does not hear of it refuses what
 * this one follows, and it is told again when the page is asked for again. */
static void
tell_moved(sn_fleet *f, sn_str from, sn_str to)
{
    sn_redis_sync *r = f->servers[0].sink;
    sn_fleet_key key = sn_fleet_key_of_job(&f->id, "wide");
    sn_str words[] = {SN_STR("HSET"), sn_fleet_key_view(&key), from, to};
    const sn_redis_reply *reply;

    if (sn_fleet_reach(f, r, &f->servers[0].sink_retry_at, &f->servers[0].sink_pause) ==
        SEINE_OK)
        (void)!sn_redis_sync_ask(r, words, 4, &reply);
}

/* Notes: where the scope goes with a seed that redirects is told to all workers; path
 * patterns of a host are for its next owner. */
static seine_err
take_note(sn_fleet *f, const sn_job_op *op)
{
    if (op->ints[0] == SN_FLEET_NOTE_PAGES || op->ints[0] == SN_FLEET_NOTE_TRAP)
        return sn_fleet_take_pattern(f, text_of(op, 0), text_of(op, 1),
                                     op->ints[0] == SN_FLEET_NOTE_TRAP);
    if (op->ints[0] == SN_FLEET_NOTE_WIDENED)
        tell_moved(f, text_of(op, 0), text_of(op, 1));
    return SEINE_OK;
}

seine_err
sn_fleet_take_op(sn_fleet *f, const sn_job_op *op)
{
    sn_tenure *t;
    seine_err e;

    switch ((sn_job_kind)op->kind) {
    case SN_JOB_FOUND:
        return take_found(f, op);
    case SN_JOB_ENDED:
        pthread_mutex_lock(&f->lock);
        e = finish(f, (uint64_t)op->ints[0], &t);
        pthread_mutex_unlock(&f->lock);
        return e;
    case SN_JOB_HOST_ROW:
        return take_host_row(f, op);
    case SN_JOB_NOTE_ROW:
        return take_note(f, op);
    case SN_JOB_REFUSED:
    case SN_JOB_ROBOTS_ROW:
    case SN_JOB_COUNTED:
        return SEINE_OK;
    }
    return SEINE_OK;
}

/* Segments. */

static seine_err
say_segment(sn_fleet *f, const char *what, const sn_tenure *t, int error)
{
    seine_diag why = SEINE_DIAG;

    sn_diag_text(&why, "cannot %s '%s/%s': %s", what, f->out, t->segment,
                 strerrordesc_np(error) ? strerrordesc_np(error) : "?");
    return sn_fleet_fail(f, error == ENOSPC ? SEINE_E_DISK_FULL : SEINE_E_IO, &why);
}

static seine_err
open_segment(sn_fleet *f, sn_tenure *t)
{
    char path[4096];

    if (t->fd >= 0)
        return SEINE_OK;
    snprintf(t->segment, sizeof t->segment, "p%05u.e%" PRIu64 ".jsonl", t->part,
             t->epoch);
    snprintf(path, sizeof path, "%s/%s", f->out, t->segment);
    t->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    return t->fd < 0 ? say_segment(f, "make", t, errno) : SEINE_OK;
}

static seine_err
write_segment(sn_fleet *f, sn_tenure *t)
{
    if (t->text.len == 0)
        return SEINE_OK;
    seine_err e = open_segment(f, t);
    if (e != SEINE_OK)
        return e;
    if (!sn_file_write(t->fd, t->text.ptr, t->text.len))
        return say_segment(f, "write", t, errno);
    t->written += t->text.len;
    t->is_unsynced = true;
    sn_buf_reset(&t->text);
    return SEINE_OK;
}

static seine_err
sync_segment(sn_fleet *f, sn_tenure *t)
{
    seine_err e = write_segment(f, t);

    if (e != SEINE_OK || !t->is_unsynced)
        return e;
    if (fdatasync(t->fd) != 0)
        return say_segment(f, "sync", t, errno);
    t->is_unsynced = false;
    return SEINE_OK;
}

static seine_err
add_line(sn_fleet *f, sn_tenure *t, const seine_record *r, uint64_t seq)
{
    sn_record_form form = {.members = f->record_members, .job = sn_str_of(f->name)};
    size_t room = 4096;

    for (;;) {
        char *at = sn_buf_reserve(&t->text, room);
        if (!at)
            return SEINE_E_NOMEM;
        sn_text_writer p = sn_text_writer_on(at, room);
        sn_record_json(&p, r, seq, &form);
        size_t len = sn_text_writer_len(&p);
        if (len <= room) {
            sn_buf_commit(&t->text, len);
            t->records++;
            return t->text.len < TEXT_MOST ? SEINE_OK : write_segment(f, t);
        }
        room = len;
    }
}

/* What is kept of the page, then its items: lines of the same commit. */
static seine_err
add_items(sn_fleet *f, sn_tenure *t, const seine_record *r, uint64_t seq)
{
    const sn_record_hold *hold = r->hold;
    sn_item_cursor c = sn_record_items_of(r);
    seine_item item;

    if (hold && hold->kept.len > 0) {
        sn_buf_text(&t->text, "{\"v\":1,\"type\":\"page\",\"data\":");
        sn_buf_str(&t->text, hold->kept);
        sn_buf_text(&t->text, "}\n");
        t->records++;
    }
    while (sn_record_items_next(&c, &item)) {
        sn_out_item_line(sn_str_of(f->name), r, &item, ++seq, &t->text);
        t->records++;
    }
    return sn_buf_done(&t->text);
}

/* What the page leads to: URLs of the same commit as its record. */
static seine_err
send_leads(sn_fleet *f, const seine_record *r)
{
    sn_item_cursor c = sn_record_leads_of(r);
    seine_err e = SEINE_OK;
    sn_item_lead lead;

    while (e == SEINE_OK && sn_record_leads_next(&c, &lead)) {
        sn_fleet_link l = {.url = {.target = lead.url, .kind = SN_JOB_BY_USER},
                           .ask = lead.rest};

        if (lead.is_moved)
            tell_moved(f, lead.url, lead.rest);
        else
            e = send_link(f, &l);
    }
    return e;
}

static void
count_record(sn_fleet_batch *b, const seine_record *r)
{
    b->emitted += r->type == SEINE_RECORD_RESULT;
    b->refused += r->type == SEINE_RECORD_SKIP;
    b->ok += r->type == SEINE_RECORD_RESULT && r->fate == SEINE_FATE_OK;
    b->failed += r->type == SEINE_RECORD_RESULT && r->fate != SEINE_FATE_OK;
}

/* A commit holds as many ended URLs as a chunk: more of them wait until there is room,
 * and the shards with them. What stands in the lanes goes first: among it are the links
 * of the pages that end with this commit. */
static seine_err
make_room(sn_fleet *f, uint64_t number)
{
    static const uint32_t nobody;
    seine_diag diag = SEINE_DIAG;

    for (;;) {
        pthread_mutex_lock(&f->lock);
        const sn_tenure *t = sn_tenure_of(f, number);
        bool is_full = t && t->next.n_prints >= SN_FLEET_CHUNK;
        pthread_mutex_unlock(&f->lock);
        if (!is_full)
            return SEINE_OK;
        seine_err e = sn_job_remote_commit(f->job, true, &diag);
        if (e != SEINE_OK)
            return e;
        if (atomic_load(&f->is_away) || atomic_load(&f->is_full))
            (void)!f->clock->wait(f->clock, &nobody, 0,
                                  sn_time_add(f->clock->now(f->clock), SEINE_MS(50)));
    }
}

seine_err
sn_fleet_take_result(sn_fleet *f, const seine_record *r, uint64_t seq)
{
    sn_tenure *t;
    seine_err e = make_room(f, r->number);

    if (e != SEINE_OK)
        return e;
    pthread_mutex_lock(&f->lock);
    e = finish(f, r->number, &t);
    if (t) {
        t->is_busy = true;
        count_record(&t->next, r);
    }
    pthread_mutex_unlock(&f->lock);
    if (e != SEINE_OK || !t)
        return e;
    e = add_line(f, t, r, seq);
    if (e == SEINE_OK)
        e = add_items(f, t, r, seq);
    if (e == SEINE_OK)
        e = send_leads(f, r);
    atomic_fetch_add(&f->n_records, 1);
    pthread_mutex_lock(&f->lock);
    t->is_busy = false;
    pthread_mutex_unlock(&f->lock);
    return e;
}

/* The group. */

static bool
has_news(const sn_tenure *t)
{
    return t->sent.is_sent || t->next.n_prints > 0 || t->next.n_rows > 0 ||
           t->next.patterns.count > 0 || t->n_changed > 0;
}

/* Takes the bits of the entries as they are now. The caller has the lock. */
static seine_err
close_batch(sn_tenure *t)
{
    sn_fleet_batch *b = &t->sent;

    *b = t->next;
    t->next = (sn_fleet_batch){0};
    b->is_sent = true;
    b->cseq = t->cseq + 1;
    b->seg_len = t->written;
    b->seg_records = t->records;
    b->marks = sn_calloc(t->n_changed + 1, sizeof *b->marks);
    if (!b->marks)
        return SEINE_E_NOMEM;
    for (uint32_t i = 0; i < t->n_changed; i++) {
        sn_fleet_entry *e = &t->entries[t->changed[i]];

        b->marks[b->n_marks++] = (sn_fleet_mark){
            .entry = t->changed[i], .is_done = e->left == 0, .bits = e->done};
        e->is_changed = false;
    }
    t->n_changed = 0;
    return SEINE_OK;
}

typedef struct number {
    char text[24];
} number;

static size_t
put_counter(sn_fleet_pair *pairs, number *texts, size_t n, const char *name, int64_t by)
{
    if (by == 0)
        return n;
    int len = snprintf(texts[n].text, sizeof texts[n].text, "%" PRId64, by);
    pairs[n] = (sn_fleet_pair){sn_str_of(name), {texts[n].text, (size_t)len}};
    return n + 1;
}

/* Queues the call. Entries do not move meanwhile: the caller has the lock. */
static seine_err
add_batch(sn_fleet *f, const sn_tenure *t, sn_redis_sync *r)
{
    const sn_fleet_batch *b = &t->sent;
    sn_fleet_pair *bits SN_AUTOFREE = sn_calloc(b->n_marks + 1, sizeof *bits);
    sn_fleet_pair *hosts SN_AUTOFREE = sn_calloc(b->n_rows + 1, sizeof *hosts);
    sn_fleet_pair *patterns SN_AUTOFREE =
        sn_calloc(b->patterns.count + 1, sizeof *patterns);
    sn_str *done SN_AUTOFREE = sn_calloc(b->n_marks + 1, sizeof *done);
    sn_fleet_pair counters[4];
    number texts[4];
    char length[128];
    size_t n_counters = 0;
    sn_fleet_commit c = {.part = t->part,
                         .token = t->token,
                         .cseq = b->cseq,
                         .prints = t->prints,
                         .added = b->prints,
                         .n_added = b->n_prints,
                         .counters = counters,
                         .hosts = hosts,
                         .patterns = patterns,
                         .bits = bits,
                         .done = done};

    if (!bits || !hosts || !patterns || !done)
        return SEINE_E_NOMEM;
    SN_MAP_EACH(entry, &b->patterns) {
        const sn_fleet_count *n = entry->value;

        patterns[c.n_patterns++] = (sn_fleet_pair){entry->key, sn_str_of(n->value)};
    }
    n_counters = put_counter(counters, texts, n_counters, "emitted", b->emitted);
    n_counters = put_counter(counters, texts, n_counters, "refused", b->refused);
    n_counters = put_counter(counters, texts, n_counters, "ok", b->ok);
    c.n_counters = put_counter(counters, texts, n_counters, "failed", b->failed);
    for (const sn_fleet_row *row = b->rows; row; row = row->next)
        hosts[c.n_hosts++] =
            (sn_fleet_pair){{row->bytes, row->name_len},
                            {row->bytes + row->name_len, row->len - row->name_len}};
    for (size_t i = 0; i < b->n_marks; i++) {
        const sn_fleet_entry *e = &t->entries[b->marks[i].entry];

        if (b->marks[i].is_done)
            done[c.n_done++] = sn_str_of(e->id);
        else
            bits[c.n_bits++] = (sn_fleet_pair){
                sn_str_of(e->id),
                {(const char *)b->marks[i].bits.bytes, sizeof b->marks[i].bits.bytes}};
    }
    if (b->seg_len > 0) {
        int n = snprintf(length, sizeof length, "%" PRIu64 " %" PRIu64 " %s", b->seg_len,
                         b->seg_records, f->host_name);

        c.segment = sn_str_of(t->segment);
        c.length = (sn_str){length, (size_t)n};
    }
    return sn_fleet_add_commit(r, &f->id, &c);
}

/* Rows that somebody waits for go to the keeper, which tells the engine. */
static void
note_kept(sn_fleet *f, sn_fleet_batch *b)
{
    for (sn_fleet_row *r = b->rows, *next; r; r = next) {
        next = r->next;
        if (r->is_awaited) {
            r->next = f->kept_rows;
            f->kept_rows = r;
        } else {
            sn_free(r);
        }
    }
    b->rows = b->last_row = NULL;
}

static void
end_batch(sn_fleet *f, sn_tenure *t, sn_fleet_committed how)
{
    if (how == SN_FLEET_FENCED) {
        sn_tenure_set(f, t, SN_TENURE_LOST);
        atomic_fetch_add(&f->n_fenced, 1);
    } else {
        t->prints += t->sent.n_prints;
        t->cseq = t->sent.cseq;
        note_kept(f, &t->sent);
        atomic_fetch_add(&f->n_commits, 1);
    }
    sn_fleet_batch_clear(&t->sent);
}

/* The calls of one server, all in one pipeline. */
static seine_err
commit_to(sn_fleet *f, uint32_t server, sn_tenure **busy, uint32_t n)
{
    sn_fleet_server *s = &f->servers[server];
    const sn_redis_reply *reply;
    uint32_t any = 0;
    seine_err e = SEINE_OK;

    for (uint32_t i = 0; i < n; i++)
        any += busy[i]->part % f->n_servers == server;
    if (any == 0)
        return SEINE_OK;
    e = sn_fleet_reach(f, s->sink, &s->sink_retry_at, &s->sink_pause);
    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < n && e == SEINE_OK; i++)
        if (busy[i]->part % f->n_servers == server && busy[i]->sent.is_sent)
            e = add_batch(f, busy[i], s->sink);
    pthread_mutex_unlock(&f->lock);
    for (uint32_t i = 0; i < n && e == SEINE_OK; i++) {
        sn_fleet_committed how = SN_FLEET_DONE;

        if (busy[i]->part % f->n_servers != server || !busy[i]->sent.is_sent)
            continue;
        e = sn_redis_sync_next(s->sink, &reply);
        if (e != SEINE_OK)
            break;
        seine_err one = sn_fleet_read_commit(reply, &how);
        if (one != SEINE_OK) { /* LOADING, READONLY: it is repeated */
            sn_redis_sync_close(s->sink);
            return SEINE_E_STORE_UNAVAILABLE;
        }
        pthread_mutex_lock(&f->lock);
        end_batch(f, busy[i], how);
        pthread_mutex_unlock(&f->lock);
    }
    if (e == SEINE_E_NOMEM)
        sn_redis_sync_close(s->sink);
    return e;
}

/* The tenures with news, which stay until they are let go. */
static seine_err
choose(sn_fleet *f, sn_tenure ***out_busy, uint32_t *out_n)
{
    sn_tenure **busy;
    uint32_t n = 0;

    pthread_mutex_lock(&f->lock);
    busy = sn_calloc(f->held + 1, sizeof(sn_tenure *));
    for (uint32_t i = 0; busy && i < f->held; i++) {
        sn_tenure *t = f->all[i];

        if (atomic_load(&f->states[t->index]) != SN_TENURE_LOST && has_news(t)) {
            t->is_busy = true;
            busy[n++] = t;
        }
    }
    pthread_mutex_unlock(&f->lock);
    *out_busy = busy;
    *out_n = n;
    return busy ? SEINE_OK : SEINE_E_NOMEM;
}

static seine_err
commit_group(sn_fleet *f, sn_tenure **busy, uint32_t n)
{
    seine_err e = SEINE_OK;

    for (uint32_t i = 0; i < n && e == SEINE_OK; i++)
        e = sync_segment(f, busy[i]);
    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < n && e == SEINE_OK; i++)
        if (!busy[i]->sent.is_sent)
            e = close_batch(busy[i]);
    pthread_mutex_unlock(&f->lock);
    if (e == SEINE_OK)
        e = sn_outbox_pack_all(f);
    if (e == SEINE_OK)
        e = sn_outbox_send(f);
    for (uint32_t s = 0; s < f->n_servers && e == SEINE_OK; s++)
        e = commit_to(f, s, busy, n);
    return e;
}

/* What still waits for Redis. */
static void
count_pending(sn_fleet *f)
{
    uint64_t pending = f->links_out + (f->packed ? 1 : 0);

    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < f->held; i++) {
        const sn_tenure *t = f->all[i];

        if (atomic_load(&f->states[t->index]) != SN_TENURE_LOST)
            pending += t->next.n_prints + t->next.n_rows + t->n_changed +
                       t->sent.n_prints + (t->sent.is_sent ? 1 : 0);
    }
    atomic_store(&f->pending, pending);
    pthread_mutex_unlock(&f->lock);
}

seine_err
sn_fleet_reach(sn_fleet *f, sn_redis_sync *r, seine_time *at, seine_span *pause)
{
    seine_time now = f->clock->now(f->clock);

    if (sn_redis_sync_is_open(r))
        return SEINE_OK;
    if (now < *at)
        return SEINE_E_STORE_UNAVAILABLE;
    seine_err e = sn_redis_sync_open(r);
    if (e == SEINE_OK) {
        *pause = 0;
        return SEINE_OK;
    }
    *pause = *pause == 0 ? SEINE_MS(100) : sn_time_min(2 * *pause, PAUSE_MOST);
    *at = sn_time_add(f->clock->now(f->clock), *pause);
    return e == SEINE_E_NOMEM ? e : SEINE_E_STORE_UNAVAILABLE;
}

/* Redis is away or full: the work waits, but not for ever. */
static seine_err
wait_on(sn_fleet *f, seine_err e, seine_diag *diag)
{
    seine_time now = f->clock->now(f->clock);
    seine_diag why = SEINE_DIAG;

    if (e == SEINE_OK) {
        f->sink_away_since = SEINE_NEVER;
        return SEINE_OK;
    }
    if (e == SEINE_E_STORE_UNAVAILABLE) {
        if (f->sink_away_since == SEINE_NEVER)
            f->sink_away_since = now;
        if (now - f->sink_away_since < f->wait)
            return SEINE_OK;
        sn_diag_text(&why, "Redis %s, for longer than it is waited for",
                     atomic_load(&f->is_full) ? "has no memory left"
                                              : sn_redis_sync_why(f->servers[0].sink));
        e = sn_fleet_fail(f, e, &why);
    }
    if (diag)
        *diag = f->why;
    return e;
}

seine_err
sn_fleet_commit_all(sn_fleet *f, bool now, seine_diag *diag)
{
    seine_time at = f->clock->now(f->clock);
    sn_tenure **busy = NULL;
    uint32_t n = 0;
    seine_err e = (seine_err)atomic_load(&f->err);

    if (e != SEINE_OK) {
        if (diag)
            *diag = f->why;
        return e;
    }
    if (!now && at - f->committed_at < SPAN && atomic_load(&f->pending) < SOON) {
        if (f->links_out > 0 && at - f->blocks_since >= BLOCK_SPAN)
            e = sn_outbox_pack_all(f);
        if (e == SEINE_OK && f->packed)
            e = sn_outbox_send(f);
        return wait_on(f, e, diag);
    }
    f->committed_at = at;
    e = choose(f, &busy, &n);
    if (e == SEINE_OK)
        e = commit_group(f, busy, n);
    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < n; i++)
        busy[i]->is_busy = false;
    pthread_mutex_unlock(&f->lock);
    sn_free(busy);
    count_pending(f);
    return wait_on(f, e, diag);
}

bool
sn_fleet_is_ready(const sn_fleet *f)
{
    return atomic_load_explicit(&f->pending, memory_order_relaxed) < MOST_PENDING;
}

bool
sn_fleet_has_work(const sn_fleet *f)
{
    return atomic_load_explicit(&f->pending, memory_order_relaxed) > 0;
}
