/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_read.h - shared by the files of the reader. warc_read.c parses records,
 * warc_unpack.c decompresses, warc_check.c finds flaws.
 */
#ifndef SN_WARC_READ_H
#define SN_WARC_READ_H

#include "base/buf.h"
#include "base/codec.h"
#include "base/fingerprint_set.h"
#include "base/hash.h"
#include "seine/warc.h"
#include "store/warc_http.h"

enum {
    SN_WARC_HEAD = 64 << 10, /* bytes of a head */
    SN_WARC_FIELDS = 1000,
    SN_WARC_WHY = 200,
    SN_WARC_FLAWS = 16,     /* flaws reported per record */
    SN_WARC_PENDING = 4096, /* references that wait for their record */
    SN_WARC_UNPACKED = 64 << 10
};

/* A digest that a record claims, and the computed one. */
typedef struct sn_warc_claim {
    sn_digest digest;
    sn_digest_kind kind; /* NONE: not checked */
    uint8_t want[SN_DIGEST_MOST];
    size_t want_len;
} sn_warc_claim;

typedef struct sn_warc_flaw {
    uint64_t offset;
    char text[SN_WARC_WHY];
} sn_warc_flaw;

typedef struct sn_warc_wait {
    uint64_t fp, offset;
} sn_warc_wait;

/* The state of `check`. */
typedef struct sn_warc_checks {
    sn_warc_claim block, payload, raw; /* raw: the body with its framing */
    sn_fingerprint_set ids;
    uint64_t key[2];
    sn_warc_wait *waits; /* references to ids not seen yet */
    uint32_t n_waits;
    bool is_lost; /* there were more than SN_WARC_PENDING */
} sn_warc_checks;

typedef enum sn_warc_kind {
    SN_WARC_NOT_KNOWN, /* before the first byte */
    SN_WARC_AS_IT_IS,
    SN_WARC_MEMBERS, /* gzip */
    SN_WARC_FRAMES   /* zstd */
} sn_warc_kind;

/* The position within a record. */
typedef enum sn_warc_state {
    SN_WARC_BETWEEN,
    SN_WARC_IN_HEAD,
    SN_WARC_IN_BLOCK,
    SN_WARC_IN_TAIL,
    SN_WARC_IN_REST, /* of its member */
    SN_WARC_ENDED
} sn_warc_state;

struct seine_warc {
    seine_warc_opts opts;
    seine_warc_entry entry;
    sn_warc_state state;
    bool is_over; /* DONE or FAIL was returned */
    bool failed;
    bool is_cut; /* … because the file is truncated */

    /* bytes of the file */
    sn_warc_kind kind;
    uint64_t at;        /* offset of the next byte */
    uint64_t member_at; /* start of the member */
    uint64_t sound;
    sn_codec codec;
    bool in_member;
    bool at_start; /* nothing of the member is decompressed yet */
    char *out;     /* decompressed bytes … */
    sn_str ready;  /* … not parsed yet */

    /* the record */
    sn_buf head;
    size_t scanned; /* bytes of the head up to its last newline */
    seine_field *fields;
    uint32_t n_fields;
    uint64_t left;
    uint8_t tail;   /* bytes of the record's end seen */
    bool is_spread; /* spans members where it should not */
    bool is_http;
    sn_warc_http http;

    sn_warc_flaw flaws[SN_WARC_FLAWS];
    uint32_t n_flaws, told;
    sn_warc_flaw why, damage; /* last reported; why reading failed */
    bool is_blank;            /* blank lines before the record were reported */
    sn_warc_checks checks;
};

/* Decompresses the next bytes into w->ready. False: no input left, or an error. */
bool sn_warc_unpack(seine_warc *w, sn_str *in);

/* Reads to the end of the last record's member; false if no input is left. Further bytes
 * of the member go to w->ready. */
bool sn_warc_unpack_rest(seine_warc *w, sn_str *in);

/* Reports a flaw, if `check` is set. */
void sn_warc_flaw_add(seine_warc *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void sn_warc_fail(seine_warc *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* "gzip member", "zstd frame". */
const char *sn_warc_stream(const seine_warc *w);

sn_str sn_warc_get(const seine_warc *w, const char *name);

/* Called for a head; a piece of the block; the end of the block; the end of the file. */
SEINE_MUST_CHECK seine_err sn_warc_check_head(seine_warc *w);
void sn_warc_check_piece(seine_warc *w, sn_str piece);
SEINE_MUST_CHECK seine_err sn_warc_check_end(seine_warc *w);
void sn_warc_check_refs(seine_warc *w);
void sn_warc_check_fini(seine_warc *w);

#endif
