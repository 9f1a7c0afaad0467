/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap.h - the stages of the sitemap reader.
 *
 * sitemap_bytes.c decompresses gzip, counts bytes, and detects XML and its encoding from
 * the first bytes. sitemap_marks.c maps the elements of each kind of file to the members
 * of an entry. sitemap.c emits the entries.
 *
 * Time    plays no part.
 * Memory  8 KiB per text of an entry; the gzip buffer when gzip is met.
 * Threads one owner.
 */
#ifndef SN_SITEMAP_H
#define SN_SITEMAP_H

#include "base/codec.h"
#include "seine/sitemap.h"
#include "text/charset.h"
#include "text/xml.h"

enum {
    SN_SITEMAP_HEAD = 256,       /* bytes in which the encoding is detected */
    SN_SITEMAP_BLIND = 64 << 10, /* a text without a URL in so many bytes is no sitemap */
    SN_SITEMAP_STEP = 16 << 10,  /* decompressed at a time */
    SN_SITEMAP_CHARS = 2 << 10,  /* decoded at a time; a byte becomes at most 3 */
    SN_SITEMAP_MEMBERS = 1024,   /* of gzip */
    SN_SITEMAP_RATIO = 200,      /* decompressed : compressed, … */
    SN_SITEMAP_RATIO_FROM = 1 << 20 /* … checked above so many bytes */
};

typedef enum sn_sitemap_slot {
    SN_SITEMAP_LOC,
    SN_SITEMAP_LASTMOD,
    SN_SITEMAP_FREQ,
    SN_SITEMAP_SPARE, /* may become the loc */
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
    bool is_foreign;    /* not UTF-8: must be decoded */
    sn_decoder decoder; /* of that encoding … */
    sn_buf decoded;     /* … and its output */
    uint16_t n_head;
    char head[SN_SITEMAP_HEAD];

    /* plain text: the current line is in the slot of the loc */
    bool is_long;

    /* the current entry */
    double priority;
    bool is_spare_good;
    char prefix[32]; /* of the root */
    uint8_t n_prefix;
    size_t len[SN_SITEMAP_SLOTS];
    char slots[SN_SITEMAP_SLOTS][SN_XML_TEXT];
    sn_xml xml;
};

/* Stops reading; the first error stays. */
void sn_sitemap_fail(seine_sitemap *s, seine_err e, const char *why);

void sn_sitemap_begin_entry(seine_sitemap *s);
void sn_sitemap_put(seine_sitemap *s, sn_sitemap_slot slot, sn_str text); /* trimmed */
void sn_sitemap_give(seine_sitemap *s, bool is_map); /* does nothing without a loc */

/* sitemap_bytes.c */
void sn_sitemap_bytes(seine_sitemap *s, sn_str in);
void sn_sitemap_bytes_end(seine_sitemap *s);

/* sitemap_marks.c */
sn_xml_answer sn_sitemap_mark(const sn_xml_event *e, void *sitemap);

#endif
