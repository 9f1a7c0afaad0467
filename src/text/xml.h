/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.h - the elements of sitemaps and feeds, told one by one while the bytes arrive.
 *
 * Bytes go in, in pieces of any size; each element that opens, each attribute that was
 * asked for and each element that closes comes out as an event. There is no tree and no
 * recursion. What an element means to the caller is its role, a small number: the caller
 * gives it when the element opens, and finds it again as `parent` of those inside and
 * when the element closes.
 *
 *     static sn_xml_answer on_event(const sn_xml_event *e, void *arg)
 *     {
 *         if (e->what == SN_XML_OPEN && sn_str_eq(e->name, SN_STR("loc")))
 *             return (sn_xml_answer){.role = LOC, .text = true};
 *         if (e->what == SN_XML_CLOSE && e->role == LOC)
 *             found(e->value);
 *         return (sn_xml_answer){0};
 *     }
 *     sn_xml_init(&x, on_event, arg);
 *     e = sn_xml_feed(&x, piece);               BAD_XML: x.flaw, x.flaw_line
 *     e = sn_xml_end(&x);
 *
 * Known are the five entities and character references, CDATA, comments, processing
 * instructions and prefixes of names. <!DOCTYPE with an internal subset is refused, and
 * so nothing is ever expanded. At most 64 elements are open, and at most 8 KiB of text
 * or of a value are kept where they were asked for; nobody counts the others.
 *
 * Sloppy files are read as they were meant: an & that begins no reference stands for
 * itself, values may lack quotes, and what stands behind the root is ignored. An end
 * tag that fits no open element is ignored, and one that fits an outer element closes
 * those inside, but the end is BAD_XML then: everything that was told stands.
 *
 * Time    plays no part. Work is linear, at most 16 steps a byte and 4096.
 * Memory  20 KiB inside the struct; nothing is allocated.
 * Threads one owner.
 */
#ifndef SN_XML_H
#define SN_XML_H

#include "base/str.h"

enum {
    SN_XML_DEPTH = 64,
    SN_XML_TEXT = 8 << 10, /* of an element, and of a value */
    SN_XML_NAME = 256,
    SN_XML_REF = 12,   /* of a reference, without & and ; */
    SN_XML_STRAYS = 60 /* end tags that fit nothing; one more breaks the file */
};

typedef enum sn_xml_what {
    SN_XML_OPEN,
    SN_XML_ATTR, /* of the element that opened last: name and value */
    SN_XML_CLOSE /* with its own text, where that was asked for */
} sn_xml_what;

/* Views are valid during the call. */
typedef struct sn_xml_event {
    sn_xml_what what;
    sn_str prefix, name; /* "image", "loc"; of CLOSE both are empty */
    sn_str value;
    uint8_t role, parent; /* role 0 at OPEN; the root's parent is 0 */
    uint8_t depth;        /* the root's is 1 */
} sn_xml_event;

/* To OPEN; of those to the others `stop` alone counts. */
typedef struct sn_xml_answer {
    uint8_t role;
    bool text, attrs; /* are wanted */
    bool stop;        /* nothing more is: the rest is ignored, and may be missing */
} sn_xml_answer;

typedef sn_xml_answer (*sn_xml_fn)(const sn_xml_event *e, void *arg);

typedef struct sn_xml_level {
    uint64_t hash; /* of its name */
    uint8_t role;
} sn_xml_level;

typedef struct sn_xml {
    sn_xml_fn fn;
    void *arg;
    seine_err err, late;  /* late: told at the end */
    const char *flaw;     /* the first one, for people; NULL: none */
    uint64_t flaw_line;   /* from 1 */
    uint64_t line, steps; /* so far */
    uint8_t state, after; /* after: the state that a reference interrupts */
    char quote;
    uint8_t seen;  /* of what ends a comment, CDATA or instruction, or begins "<!…" */
    uint8_t depth; /* open elements */
    uint8_t kept;  /* the depth whose text is kept; 0: none */
    uint8_t strays;
    bool wants_attrs, is_over;
    uint16_t n_name, n_ref;
    size_t n_text, n_value;
    sn_xml_level open[SN_XML_DEPTH];
    char mark[8]; /* what stands behind "<!" */
    char name[SN_XML_NAME], ref[SN_XML_REF];
    char text[SN_XML_TEXT], value[SN_XML_TEXT];
} sn_xml;

/* There is nothing to give back. */
void sn_xml_init(sn_xml *x, sn_xml_fn fn, void *arg);

/* BAD_XML stays. */
SEINE_MUST_CHECK seine_err sn_xml_feed(sn_xml *x, sn_str piece);

/* BAD_XML too where an element is open, or there was none. */
SEINE_MUST_CHECK seine_err sn_xml_end(sn_xml *x);

#endif
