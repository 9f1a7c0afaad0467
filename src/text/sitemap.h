/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap.h - the reader behind seine/sitemap.h, in the order bytes take.
 *
 * sitemap_bytes.c takes gzip off, counts, and finds out from the first bytes whether it
 * is XML and in which encoding; sitemap_marks.c knows what the elements of each kind of
 * file mean; sitemap.c gives the entries out.
 *
 * Time    plays no part.
 * Memory  a room of 8 KiB for each text of an entry; gzip's when it is met.
 * Threads one owner.
 */
#ifndef SN_SITEMAP_H
#define SN_SITEMAP_H

#include "base/codec.h"
#include "seine/sitemap.h"
#include "text/charset.h"
#include "text/xml.h"

enum {
    SN_SITEMAP_HEAD = 256,          /* first bytes that may tell an encoding */
    SN_SITEMAP_BLIND = 64 << 10,    /* bytes of text without a URL before it is none */
    SN_SITEMAP_STEP = 16 << 10,     /* unpacked at once */
    SN_SITEMAP_CHARS = 2 << 10,     /* decoded at once; each byte is 3 at most */
    SN_SITEMAP_MEMBERS = 1024,      /* of gzip */
    SN_SITEMAP_RATIO = 200,         /* unpacked : packed, … */
    SN_SITEMAP_RATIO_FROM = 1 << 20 /* … looked at above so many bytes */
};

typedef enum sn_sitemap_slot {
    SN_SITEMAP_LOC,
    SN_SITEMAP_LASTMOD,
    SN_SITEMAP_FREQ,
    SN_SITEMAP_SPARE, /* what may become the loc */
    SN_SITEMAP_SLOTS
} sn_sitemap_slot;

struct seine_sitemap {
    seine_sitemap_fn fn;
    void *arg;
    seine_sitemap_opts most;
    seine_err err;
    const char *why; /* NULL: ask the XML reader */
    seine_sitemap_kind kind;
    unsigned notes;
    bool is_enough; /* the rest is ignored */
    uint64_t urls, bytes, packed;

    /* gzip */
    enum { SN_PACK_BEFORE, SN_PACK_NONE, SN_PACK_INSIDE, SN_PACK_BEHIND } pack;
    uint8_t n_peek;
    char peek[4];
    uint32_t members;
    sn_codec codec;
    char *room; /* NULL until gzip is met */

    /* what kind of text */
    enum { SN_FORM_UNKNOWN, SN_FORM_XML, SN_FORM_TEXT } form;
    bool is_foreign;    /* not UTF-8: it goes through the decoder */
    sn_decoder decoder; /* of it … */
    sn_buf decoded;     /* … and what it made of a few bytes */
    uint16_t n_head;
    char head[SN_SITEMAP_HEAD];

    /* lines of text: the one begun is in the slot of the loc */
    bool is_long;

    /* the entry begun */
    double priority;
    bool is_spare_good;
    char prefix[32]; /* of the root */
    uint8_t n_prefix;
    size_t len[SN_SITEMAP_SLOTS];
    char slots[SN_SITEMAP_SLOTS][SN_XML_TEXT];
    sn_xml xml;
};

/* Nothing more is read; the first error stays. */
void sn_sitemap_fail(seine_sitemap *s, seine_err e, const char *why);

void sn_sitemap_begin_entry(seine_sitemap *s);
void sn_sitemap_put(seine_sitemap *s, sn_sitemap_slot slot, sn_str text); /* trimmed */
void sn_sitemap_give(seine_sitemap *s, bool is_map); /* unless it has no loc */

/* sitemap_bytes.c */
void sn_sitemap_bytes(seine_sitemap *s, sn_str bytes);
void sn_sitemap_bytes_end(seine_sitemap *s);

/* sitemap_marks.c */
sn_xml_answer sn_sitemap_mark(const sn_xml_event *e, void *sitemap);

#endif
