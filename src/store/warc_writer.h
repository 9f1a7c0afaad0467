/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warc_writer.h - how does a capture become bytes of a web archive (WARC/1.1)?
 *
 * The format is WARC/1.1, ISO 28500:2017. A capture, one request and its response,
 * becomes two records: a `response` with the bytes as received and a `request` that is
 * concurrent to it. A file begins with a `warcinfo`. The writer opens no file; it appends
 * the bytes of records to a buffer:
 *
 *     sn_warc_writer_init(&w, &opts);
 *     e = sn_warc_writer_info(&w, SN_STR("a.warc.gz"), wall, &out);
 *     e = sn_warc_writer_capture(&w, capture, &out, &made);   made.offset, made.length
 *
 * A payload that is already in the archive becomes a `revisit`: its head alone, with a
 * reference to the first record. A truncated response says so (WARC-Truncated) and has no
 * payload digest, since the rest is unknown. Every compressed record is a gzip member or
 * a zstd frame of its own.
 *
 * Time    wall time is that of the captures.
 * Memory  the digests and the payloads seen, both bounded; a compressed record is made in
 *         `out`, in pieces.
 * Threads one owner.
 */
#ifndef SN_WARC_WRITER_H
#define SN_WARC_WRITER_H

#include "base/buf.h"
#include "base/codec.h"
#include "base/gzip.h"
#include "base/hash.h"
#include "base/rng.h"
#include "seine/record.h"
#include "store/warc_http.h"
#include "store/warc_seen.h"

enum {
    SN_WARC_ID = 47,             /* "<urn:uuid:…>" */
    SN_WARC_DIGEST = 37,         /* "sha1:" and 32 letters */
    SN_WARC_PAYLOADS = 1 << 16,  /* remembered at most … */
    SN_WARC_ADDRESSES = 16 << 20 /* … with so many bytes of URLs */
};

typedef enum sn_warc_pack { SN_WARC_PLAIN, SN_WARC_GZIP, SN_WARC_ZSTD } sn_warc_pack;

typedef struct sn_warc_writer_opts {
    sn_warc_pack pack;
    const char *software;   /* borrowed, like the others */
    const char *user_agent; /* NULL: not written */
    const char *robots;     /* NULL: not written */
    uint64_t seed;          /* of record ids; 0: unpredictable */
} sn_warc_writer_opts;

typedef struct sn_warc_writer {
    sn_warc_writer_opts opts;
    sn_rng rng;
    sn_codec codec;
    sn_gzip gzip; /* for records of usual size, which are … */
    sn_buf whole; /* … assembled here */
    sn_digest digest;
    sn_warc_seen seen;
    sn_buf head; /* of the current record */
    uint8_t info[16];
    bool has_info;
} sn_warc_writer;

/* The response record, and its data for the index. */
typedef struct sn_warc_writer_made {
    uint64_t offset, length; /* in `out`; length 0: there was no response */
    char id[SN_WARC_ID + 1];
    char digest[SN_WARC_DIGEST + 1]; /* of the payload; "": incomplete */
    char type[SN_WARC_TYPE];
    uint16_t status;
    bool is_revisit;
} sn_warc_writer_made;

void sn_warc_writer_init(sn_warc_writer *w, const sn_warc_writer_opts *opts);
void sn_warc_writer_fini(sn_warc_writer *w);

/* Writes the first record of a file. NOMEM, FULL: nothing is appended. */
SEINE_MUST_CHECK seine_err sn_warc_writer_info(sn_warc_writer *w, sn_str file,
                                               int64_t wall, sn_buf *out);

/* Writes the pair of records of a capture; nothing if there is no response. NOMEM, FULL:
 * nothing is appended. */
SEINE_MUST_CHECK seine_err sn_warc_writer_capture(sn_warc_writer *w,
                                                  const seine_capture *c, sn_buf *out,
                                                  sn_warc_writer_made *out_made);

/* "length", "time", "disconnect", "unspecified"; NULL for NONE. */
const char *sn_warc_cut_name(seine_cut cut);

/* <urn:uuid:…> of 16 bytes, terminated. */
void sn_warc_id_text(const uint8_t id[16], char out_text[SN_WARC_ID + 1]);

#endif
