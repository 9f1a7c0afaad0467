/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_mem_parts.h - shared by the store_mem*.c files.
 *
 * A table holds 32 bytes per chunk, everything but its bytes, in pages that never move.
 * The number of a chunk in this table stays the same when its bytes grow, are spilled or
 * loaded again. A chunk is in one of three states:
 *
 *     OPEN     the first or the last of its list, or both: read from, written to
 *     MIDDLE   neither; in the list of those that may go to the file, newest first
 *     SPILLED  a middle one that went: its place in the file and its checksum
 *
 * Time    plays no part.
 * Memory  counted as the heap takes it: n + 8, in steps of 16.
 * Threads one owner.
 */
#ifndef SN_QUEUE_PARTS_H
#define SN_QUEUE_PARTS_H

#include "store/spill_disk.h"
#include "store/store_mem.h"

enum {
    SN_CHUNK_MOST = 1016,  /* bytes of a chunk with more than one entry */
    SN_CHUNK_PAGE = 512,   /* chunks to a page of the table */
    SN_SPILL_BLOCK = 1024, /* chunks start at multiples of it */
    SN_SPILL_BATCH = 64 << 10
};

typedef enum sn_chunk_state {
    SN_CHUNK_OPEN,
    SN_CHUNK_MIDDLE,
    SN_CHUNK_SPILLED
} sn_chunk_state;

/* The position of a reader or a writer in a chunk; all are offsets. */
typedef struct sn_chunk_mark {
    uint16_t at;
    uint16_t context; /* of the current context; 0: none */
    uint16_t anchor;  /* of the current anchor; 0: none */
} sn_chunk_mark;

typedef struct sn_chunk {
    union {
        uint8_t *bytes;
        struct {
            uint32_t block, crc;
        } file; /* SPILLED */
    };
    union {
        struct {
            sn_chunk_mark read;
            uint16_t context, anchor; /* of the writer, which is at `end` */
        } open;
        struct {
            uint32_t older, newer;
        } middle;
        sn_lost held; /* SPILLED: what is in it */
    };
    uint32_t next; /* of the list, or of free chunks; 0: none */
    uint16_t end;  /* bytes in use */
    uint16_t room;
    uint8_t state; /* sn_chunk_state */
} sn_chunk;

/* The spill file. */
typedef struct sn_spill {
    const sn_spill_disk *disk;
    char *dir;
    int fd;           /* -1: not created yet */
    uint64_t *used;   /* a bit per block */
    uint32_t words;   /* words of `used` */
    uint32_t blocks;  /* highest number of blocks so far */
    uint32_t n_used;  /* blocks in use */
    uint32_t hand;    /* where to search for free blocks */
    uint8_t *staging; /* write buffer; NULL before the first write */
} sn_spill;

typedef struct sn_mem_store {
    sn_store base;
    sn_chunk **pages;
    uint32_t n_pages, pages_room;
    uint32_t free; /* list of unused chunks, by `next` */
    uint32_t newest;
    uint64_t middle_bytes; /* bytes of MIDDLE chunks */
    uint64_t max_bytes;
    uint16_t chunk_most; /* SN_CHUNK_MOST, or what the options say */
    uint32_t spent;      /* chunk whose last entry was taken; 0: none */
    sn_spill spill;
    char target[SN_STORE_TEXT], parent[SN_STORE_TEXT]; /* assembled by take */
} sn_mem_store;

static inline sn_chunk *
sn_chunk_at(const sn_mem_store *mem, uint32_t id)
{
    return &mem->pages[id / SN_CHUNK_PAGE][id % SN_CHUNK_PAGE];
}

/* Prefetches the cache lines of a chunk that its reader or writer will touch. */
static inline void
sn_chunk_fetch(const sn_chunk *c, size_t at, size_t context, size_t anchor)
{
    __builtin_prefetch(c->bytes);
    __builtin_prefetch(c->bytes + context);
    __builtin_prefetch(c->bytes + anchor);
    __builtin_prefetch(c->bytes + at);
}

/* Returns what the heap takes for n bytes, and how many fit into the same. */
static inline size_t
sn_heap_cost(size_t n)
{
    return n <= 24 ? 32 : (n + 8 + 15) & ~(size_t)15;
}

static inline size_t
sn_heap_room(size_t n)
{
    return sn_heap_cost(n) - 8;
}

/* Counted allocations. */
void *sn_mem_store_alloc(sn_mem_store *mem, size_t n);
void *sn_mem_store_realloc(sn_mem_store *mem, void *p, size_t was, size_t n);
void sn_mem_store_release(sn_mem_store *mem, void *p, size_t n);

/* Makes a chunk with room for n bytes; 0: no memory. */
uint32_t sn_chunk_new(sn_mem_store *mem, size_t n);
seine_err sn_chunk_resize(sn_mem_store *mem, sn_chunk *c, size_t n);
void sn_chunk_free(sn_mem_store *mem, uint32_t id); /* wherever its bytes are */

/* Add to, and remove from, the list of MIDDLE chunks. */
void sn_middle_add(sn_mem_store *mem, uint32_t id);
void sn_middle_remove(sn_mem_store *mem, uint32_t id);

/*
 * Entries. `plan` decides how an entry is written at the end of a chunk (NULL: an empty
 * one) and its length; `write` writes it at the mark and moves the mark.
 */
typedef struct sn_entry {
    const sn_waiting_url *u;
    size_t len;            /* of the whole entry */
    size_t shared;         /* bytes of the target shared with the anchor */
    size_t from_parent;    /* bytes of the parent shared with the first parent */
    uint64_t number, line; /* minus those of the context */
    uint8_t head;          /* flags, see store_mem_entry.c */
} sn_entry;

void sn_entry_plan(const sn_chunk *c, const sn_waiting_url *u, sn_entry *out);
void sn_entry_write(sn_chunk *c, const sn_entry *e);

/* Counts the entries from the mark to the end. STATE_CORRUPT: some cannot be read. */
seine_err sn_entries_count(sn_mem_store *mem, const sn_chunk *c, sn_chunk_mark from,
                           sn_lost *out_held);

/* Reads the entry at the mark and moves the mark behind it. STATE_CORRUPT: none there. */
seine_err sn_entry_read(sn_mem_store *mem, const sn_chunk *c, sn_chunk_mark from,
                        sn_waiting_url *out, sn_chunk_mark *out_next);

/* The file. */
seine_err sn_spill_init(sn_mem_store *mem, const sn_store_opts *o);
void sn_spill_fini(sn_mem_store *mem); /* frees everything, counts nothing */

/* Spills, since n more bytes are needed. After a failure it spills no more, and the store
 * is above its bound until its owner has heard of it. */
void sn_spill_make_room(sn_mem_store *mem, size_t n);
seine_err sn_spill_load(sn_mem_store *mem, sn_chunk *c); /* from SPILLED to OPEN */
void sn_spill_forget(sn_mem_store *mem, const sn_chunk *c);

#endif
