/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_read.h - what the files of the reader know of each other: warc_read.c turns bytes
 * into records, warc_unpack.c takes streams apart, warc_check.c looks for flaws.
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
    SN_WARC_FLAWS = 16,     /* of one record that are told */
    SN_WARC_PENDING = 4096, /* references that wait for their record */
    SN_WARC_UNPACKED = 64 << 10
};

/* A digest that a record claims, and what it turns out to be. */
typedef struct sn_warc_claim {
    sn_digest digest;
    sn_digest_kind kind; /* NONE: not to be looked at */
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

/* What `check` remembers. */
typedef struct sn_warc_checks {
    sn_warc_claim block, payload, raw; /* raw: the body as it was framed */
    sn_fingerprint_set ids;
    uint64_t key[2];
    sn_warc_wait *waits; /* for ids that were not seen yet */
    uint32_t n_waits;
    bool is_lost; /* there were more than SN_WARC_PENDING */
} sn_warc_checks;

typedef enum sn_warc_kind {
    SN_WARC_NOT_KNOWN, /* not a byte has come */
    SN_WARC_AS_IT_IS,
    SN_WARC_MEMBERS, /* gzip */
    SN_WARC_FRAMES   /* zstd */
} sn_warc_kind;

/* Where in a record the next byte is. */
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
    bool is_over; /* DONE or FAIL was said */
    bool failed;
    bool is_cut; /* … because the file ends too early */

    /* bytes of the file */
    sn_warc_kind kind;
    uint64_t at;        /* of the next byte to be taken */
    uint64_t member_at; /* where the member began */
    uint64_t sound;
    sn_codec codec;
    bool in_member;
    bool at_start; /* nothing of the member has been unpacked */
    char *out;     /* unpacked … */
    sn_str ready;  /* … and not looked at */

    /* the record */
    sn_buf head;
    size_t scanned; /* bytes of the head up to its last newline */
    seine_field *fields;
    uint32_t n_fields;
    uint64_t left;
    uint8_t tail;   /* bytes of the end seen */
    bool is_spread; /* began or went on where it should not */
    bool is_http;
    sn_warc_http http;

    sn_warc_flaw flaws[SN_WARC_FLAWS];
    uint32_t n_flaws, told;
    sn_warc_flaw why, damage; /* told last; why it failed */
    bool is_blank;            /* blank lines before the next record were told */
    sn_warc_checks checks;
};

/* The next bytes into w->ready. False: there is no input left, or it failed. */
bool sn_warc_unpack(seine_warc *w, sn_str *in);

/* Of a packed one: has the member of the last record ended? Reads on to its end; false
 * when there is no input left. What is behind in it goes to w->ready. */
bool sn_warc_unpack_rest(seine_warc *w, sn_str *in);

/* Says so, if it is to be said at all. */
void sn_warc_flaw_add(seine_warc *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void sn_warc_fail(seine_warc *w, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* "gzip member", "zstd frame". */
const char *sn_warc_stream(const seine_warc *w);

sn_str sn_warc_get(const seine_warc *w, const char *name);

/* The head is there; a piece of the block; its end; the end of the file. */
SEINE_MUST_CHECK seine_err sn_warc_check_head(seine_warc *w);
void sn_warc_check_piece(seine_warc *w, sn_str piece);
SEINE_MUST_CHECK seine_err sn_warc_check_end(seine_warc *w);
void sn_warc_check_refs(seine_warc *w);
void sn_warc_check_fini(seine_warc *w);

#endif
