/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "store/store_mem_parts.h"

enum {
    BATCH = SN_SPILL_BATCH / SN_SPILL_BLOCK,       /* blocks written at a time */
    LOOK = 16384,                                  /* blocks searched for a free one */
    STAGING = SN_SPILL_BATCH + 32 * SN_SPILL_BLOCK /* the last one may be long */
};

seine_err
sn_spill_init(sn_mem_store *mem, const sn_store_opts *o)
{
    const char *dir = o->spill ? o->spill : "/tmp";
    size_t n = strlen(dir) + 1;

    mem->spill.fd = -1;
    mem->spill.disk = o->disk ? o->disk : &sn_spill_disk_system;
    mem->spill.dir = sn_mem_store_alloc(mem, n);
    if (!mem->spill.dir)
        return SEINE_E_NOMEM;
    memcpy(mem->spill.dir, dir, n);
    return SEINE_OK;
}

void
sn_spill_fini(sn_mem_store *mem)
{
    const sn_spill_disk *disk = mem->spill.disk;

    if (mem->spill.fd >= 0)
        disk->close(mem->spill.fd, disk->arg);
    sn_free(mem->spill.dir);
    sn_free(mem->spill.used);
    sn_free(mem->spill.staging);
}

static seine_err
err_of(int error)
{
    if (error == ENOSPC || error == EDQUOT || error == EFBIG)
        return SEINE_E_DISK_FULL;
    return error == EMFILE || error == ENFILE ? SEINE_E_NO_FILES : SEINE_E_IO;
}

/* Keeps the first failure and its words; `error` is an errno, 0: none. */
static seine_err
fail_disk(sn_mem_store *mem, const char *what, int error, seine_err e)
{
    char dir[SEINE_DIAG_FILE], words[SN_DIAG_ERRNO];

    if (mem->base.err != SEINE_OK)
        return e;
    sn_diag_path(mem->spill.dir, dir);
    sn_diag_errno(error, words);
    sn_diag_text(&mem->base.why, "%s%s%s%s", what, dir, error ? ": " : "",
                 error ? words : "");
    mem->base.err = e;
    return e;
}

static seine_err
fail_write(sn_mem_store *mem, int error)
{
    return fail_disk(mem, "cannot write waiting URLs to a file in ", error,
                     err_of(error));
}

/* Creates an unnamed file and what is needed to write to it. */
static seine_err
open_file(sn_mem_store *mem)
{
    sn_spill *s = &mem->spill;

    if (!s->staging)
        s->staging = sn_mem_store_alloc(mem, STAGING);
    if (!s->staging)
        return SEINE_E_NOMEM;
    if (s->fd < 0)
        s->fd = s->disk->open(s->dir, s->disk->arg);
    return s->fd >= 0 ? SEINE_OK : fail_write(mem, errno);
}

static uint32_t
blocks_of(const sn_chunk *c)
{
    return ((uint32_t)c->end + SN_SPILL_BLOCK - 1) / SN_SPILL_BLOCK;
}

static bool
is_used(const sn_spill *s, uint32_t block)
{
    return s->used[block / 64] >> block % 64 & 1;
}

static void
mark_blocks(sn_spill *s, uint32_t block, uint32_t n, bool used)
{
    for (uint32_t i = block; i < block + n; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;

        s->used[i / 64] = used ? s->used[i / 64] | bit : s->used[i / 64] & ~bit;
    }
    s->n_used += used ? n : 0 - n;
}

static void
give_back(sn_spill *s, uint32_t block, uint32_t n)
{
    mark_blocks(s, block, n, false);
    if (s->n_used > 0)
        return;
    s->blocks = s->hand = 0;
    s->disk->empty(s->fd, s->disk->arg);
}

/* Finds n free blocks in a row, from where the last search ended. */
static bool
find_blocks(sn_spill *s, uint32_t n, uint32_t *out_block)
{
    uint32_t left = s->n_used == s->blocks ? 0 : s->blocks < LOOK ? s->blocks : LOOK;
    uint32_t at = s->hand, run = 0;

    for (; left > 0; left--, at++) {
        if (at >= s->blocks) {
            at = 0;
            run = 0;
        }
        if (is_used(s, at)) {
            run = 0;
        } else if (++run == n) {
            *out_block = at + 1 - n;
            s->hand = at + 1;
            return true;
        }
    }
    s->hand = at;
    return false;
}

static seine_err
take_blocks(sn_mem_store *mem, uint32_t n, uint32_t *out_block)
{
    sn_spill *s = &mem->spill;

    if (!find_blocks(s, n, out_block)) {
        uint32_t words = (s->blocks + n + 63) / 64;

        if (s->blocks > UINT32_MAX - n - 64)
            return fail_write(mem, EFBIG);
        if (words > s->words) {
            uint32_t more = words + words / 2 + 16;
            uint64_t *used = sn_mem_store_realloc(mem, s->used, s->words * sizeof *used,
                                                  more * sizeof *used);

            if (!used)
                return SEINE_E_NOMEM;
            memset(used + s->words, 0, (more - s->words) * sizeof *used);
            s->used = used;
            s->words = more;
        }
        *out_block = s->blocks;
        s->blocks += n;
    }
    mark_blocks(s, *out_block, n, true);
    return SEINE_OK;
}

static seine_err
write_all(sn_mem_store *mem, const uint8_t *bytes, size_t n, uint64_t at)
{
    const sn_spill_disk *disk = mem->spill.disk;

    while (n > 0) {
        ssize_t done = disk->write(mem->spill.fd, bytes, n, (off_t)at, disk->arg);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return fail_write(mem, done < 0 ? errno : ENOSPC);
        bytes += done;
        n -= (size_t)done;
        at += (uint64_t)done;
    }
    return SEINE_OK;
}

/* Chunks being written. */
typedef struct batch {
    uint32_t ids[BATCH], blocks[BATCH];
    uint32_t n;
} batch;

/* Chooses the newest chunks and a place for each. */
static seine_err
choose_chunks(sn_mem_store *mem, batch *b)
{
    uint32_t all = 0;
    seine_err e = SEINE_OK;

    for (uint32_t id = mem->newest; id != 0 && all < BATCH;) {
        const sn_chunk *c = sn_chunk_at(mem, id);

        e = take_blocks(mem, blocks_of(c), &b->blocks[b->n]);
        if (e != SEINE_OK)
            break;
        b->ids[b->n++] = id;
        all += blocks_of(c);
        id = c->middle.older;
    }
    return e;
}

/* Writes chunks in adjacent places at once. */
static seine_err
write_batch(sn_mem_store *mem, const batch *b)
{
    seine_err e = SEINE_OK;

    for (uint32_t i = 0, k; i < b->n && e == SEINE_OK; i = k) {
        uint32_t first = b->blocks[i], next = first;
        size_t n = 0;

        for (k = i; k < b->n && b->blocks[k] == next; k++) {
            const sn_chunk *c = sn_chunk_at(mem, b->ids[k]);
            size_t at = (size_t)(next - first) * SN_SPILL_BLOCK;

            memset(mem->spill.staging + n, 0, at - n);
            memcpy(mem->spill.staging + at, c->bytes, c->end);
            n = at + c->end;
            next += blocks_of(c);
        }
        e = write_all(mem, mem->spill.staging, n, (uint64_t)first * SN_SPILL_BLOCK);
    }
    return e;
}

static void
leave_memory(sn_mem_store *mem, uint32_t id, uint32_t block)
{
    sn_chunk *c = sn_chunk_at(mem, id);
    uint32_t crc = sn_crc32(0, c->bytes, c->end);
    sn_lost held;

    (void)!sn_entries_count(mem, c, (sn_chunk_mark){0}, &held); /* it was never damaged */
    sn_middle_remove(mem, id);
    sn_mem_store_release(mem, c->bytes, c->room);
    c->state = SN_CHUNK_SPILLED;
    c->file.block = block;
    c->file.crc = crc;
    c->held = held;
    mem->base.figures.spilled += c->end;
}

static seine_err
spill_batch(sn_mem_store *mem)
{
    batch b = {.n = 0};
    seine_err e = open_file(mem);

    if (e == SEINE_OK)
        e = choose_chunks(mem, &b);
    if (e == SEINE_OK)
        e = write_batch(mem, &b);
    for (uint32_t i = 0; i < b.n; i++)
        if (e == SEINE_OK)
            leave_memory(mem, b.ids[i], b.blocks[i]);
        else
            give_back(&mem->spill, b.blocks[i], blocks_of(sn_chunk_at(mem, b.ids[i])));
    return e;
}

/* Spills in batches, early enough that one more batch fits into memory. */
void
sn_spill_make_room(sn_mem_store *mem, size_t n)
{
    uint64_t least =
        mem->max_bytes / 8 < SN_SPILL_BATCH ? mem->max_bytes / 8 : SN_SPILL_BATCH;
    seine_err e = mem->base.err;

    while (mem->base.figures.bytes + n > mem->max_bytes - least &&
           mem->middle_bytes > least && e == SEINE_OK)
        e = spill_batch(mem);
    if (e != SEINE_OK && mem->base.err == SEINE_OK)
        fail_disk(mem, "no memory to write waiting URLs to a file in ", 0, e);
}

/* Reads all bytes of a chunk; fewer than were written, or others, are damage. */
static seine_err
read_chunk(sn_mem_store *mem, const sn_chunk *c, uint8_t *bytes)
{
    const sn_spill_disk *disk = mem->spill.disk;
    uint64_t at = (uint64_t)c->file.block * SN_SPILL_BLOCK;

    for (size_t done = 0; done < c->end;) {
        ssize_t n = disk->read(mem->spill.fd, bytes + done, c->end - done,
                               (off_t)(at + done), disk->arg);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_disk(mem, "cannot read waiting URLs back from a file in ", errno,
                             SEINE_E_IO);
        if (n == 0)
            return fail_disk(mem, "bytes are missing from the waiting URLs in a file in ",
                             0, SEINE_E_STATE_CORRUPT);
        done += (size_t)n;
    }
    if (sn_crc32(0, bytes, c->end) == c->file.crc)
        return SEINE_OK;
    return fail_disk(mem, "other bytes than were written stand in a file in ", 0,
                     SEINE_E_STATE_CORRUPT);
}

seine_err
sn_spill_load(sn_mem_store *mem, sn_chunk *c)
{
    size_t room = sn_heap_room(c->end);
    uint8_t *bytes = sn_mem_store_alloc(mem, room);

    if (!bytes)
        return fail_disk(mem, "no memory to read waiting URLs back from a file in ", 0,
                         SEINE_E_NOMEM);
    seine_err e = read_chunk(mem, c, bytes);
    if (e != SEINE_OK) {
        sn_mem_store_release(mem, bytes, room);
        return e;
    }
    sn_spill_forget(mem, c);
    c->bytes = bytes;
    c->room = (uint16_t)room;
    c->state = SN_CHUNK_OPEN;
    memset(&c->open, 0, sizeof c->open);
    return SEINE_OK;
}

void
sn_spill_forget(sn_mem_store *mem, const sn_chunk *c)
{
    mem->base.figures.spilled -= c->end;
    give_back(&mem->spill, c->file.block, blocks_of(c));
}
