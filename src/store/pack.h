/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - text in packed members, each of which is whole by itself.
 *
 * A file of several gzip members or zstd frames is the text of all of them, for every
 * tool there is. So a file that is packed piece by piece is readable up to the last
 * piece, whenever the writer was killed, and the next one goes on behind it.
 *
 *     sn_pack_init(&p, SEINE_PACK_GZIP);
 *     e = sn_pack_text(&p, text, &member);    valid until the next call
 *     sn_pack_fini(&p);
 *
 * Before something is appended the file is read through once: where its last whole
 * member ends, and what text it begins and ends with.
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

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_pack_text(sn_pack *p, sn_str text, sn_str *out_member);

/* What is in a packed file. */
typedef struct sn_packed {
    uint64_t whole; /* bytes up to the end of the last whole member */
    uint64_t text;  /* bytes of text in them */
    char last;      /* byte of it */
    char head[512]; /* its first bytes */
    size_t n_head;
    uint64_t torn;   /* bytes of text behind them, in a member that has no end … */
    bool torn_lines; /* … in more than one line */
} sn_packed;

/* OK, also for one that is torn; BAD_ENCODING: `whole` is where it makes no sense; IO,
 * NOMEM. */
SEINE_MUST_CHECK seine_err sn_pack_scan(const sn_outfile *f, seine_sink_pack kind,
                                        sn_packed *out_packed);

#endif
