/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - compress text in members that are each complete.
 *
 * Every tool reads a file of several gzip members or zstd frames as one text. So a file
 * that is compressed piece by piece is readable up to its last piece, even if the writer
 * was killed, and the next run can append to it.
 *
 *     sn_pack_init(&p, SEINE_PACK_GZIP);
 *     e = sn_pack_text(&p, text, &member);    valid until the next call
 *     sn_pack_fini(&p);
 *
 * Before appending, sn_pack_scan reads the file once to find where its last complete
 * member ends, and the text that it begins and ends with.
 *
 * Time    plays no part.
 * Memory  that of the codec, and one member.
 * Threads one owner.
 */
#ifndef SN_PACK_H
#define SN_PACK_H

#include "base/codec.h"
#include "store/outfile.h"

typedef struct sn_pack {
    sn_codec codec;
    sn_codec_kind kind;
    char *buf;
    size_t room;
} sn_pack;

void sn_pack_init(sn_pack *p, seine_sink_pack kind);
void sn_pack_fini(sn_pack *p); /* all zero is fine */

/* A long member, piece by piece: *out_packed is what came out of the next part of the
 * text, until all of it is taken and, if it is the last piece, the event is END. */
SEINE_MUST_CHECK seine_err sn_pack_begin(sn_pack *p);
SEINE_MUST_CHECK seine_err sn_pack_step(sn_pack *p, sn_str *text, bool is_last,
                                        sn_str *out_packed, sn_codec_event *out_event);

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_pack_text(sn_pack *p, sn_str text, sn_str *out_member);

/* The content of a compressed file. */
typedef struct sn_packed {
    uint64_t whole; /* bytes up to the end of the last complete member */
    uint64_t text;  /* bytes of text in these */
    char last;      /* last byte of the text */
    char head[512]; /* first bytes of the text */
    size_t n_head;
    uint64_t torn;   /* bytes of text in an incomplete member … */
    bool torn_lines; /* … and whether they span lines */
} sn_packed;

/* OK, also for an incomplete last member. BAD_ENCODING: `whole` is where the damage
 * begins. IO, NOMEM. */
SEINE_MUST_CHECK seine_err sn_pack_scan(const sn_outfile *f, seine_sink_pack kind,
                                        sn_packed *out_packed);

#endif
