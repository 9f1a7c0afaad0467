/* SPDX-License-Identifier: Apache-2.0 */
/*
 * xml.h - a streaming XML reader for sitemaps and feeds.
 *
 * Bytes go in, in pieces of any size. Each start tag, each wanted attribute and each end
 * tag comes out as an event. There is no tree and no recursion. The caller gives an
 * element a role, a small number, when it opens. The role comes back when the element
 * closes, and as `parent` of the elements inside.
 *
 *     enum { LOC = 1 };
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
 * The reader knows the five entities, character references, CDATA, comments, processing
 * instructions and name prefixes. It refuses a <!DOCTYPE with an internal subset, so no
 * entity is ever expanded. At most 64 elements may be open. A wanted text or value may
 * have 8 KiB; others have no limit.
 *
 * The reader tolerates sloppy files: an & that begins no reference is text, values may
 * lack quotes, and everything after the root is ignored. An end tag that matches no open
 * element is ignored, and one that matches an outer element closes those inside;
 * sn_xml_end then returns BAD_XML, but all events remain valid.
 *
 * Time    plays no part. Work is linear, at most 16 steps per byte plus 4096.
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
    SN_XML_STRAYS = 60 /* unmatched end tags; one more is BAD_XML */
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

/* The result of OPEN; for other events only `stop` counts. */
typedef struct sn_xml_answer {
    uint8_t role;
    bool text, attrs; /* are wanted */
    bool stop;        /* ignores the rest of the file, which may be missing */
} sn_xml_answer;

typedef sn_xml_answer (*sn_xml_fn)(const sn_xml_event *e, void *arg);

typedef struct sn_xml_level {
    uint64_t hash; /* of its name */
    uint8_t role;
} sn_xml_level;

typedef struct sn_xml {
    sn_xml_fn fn;
    void *arg;
    seine_err err, late;  /* late: reported at the end */
    const char *flaw;     /* the first flaw, for people; NULL: none */
    uint64_t flaw_line;   /* from 1 */
    uint64_t line, steps; /* so far */
    uint8_t state, after; /* after: the state that a reference interrupts */
    char quote;
    uint8_t seen;  /* matched bytes of "-->", "]]>", "?>" or "<!…" */
    uint8_t depth; /* open elements */
    uint8_t kept;  /* the depth whose text is kept; 0: none */
    uint8_t strays;
    bool wants_attrs, is_over;
    uint16_t n_name, n_ref;
    size_t n_text, n_value;
    sn_xml_level open[SN_XML_DEPTH];
    char mark[8]; /* the bytes after "<!" */
    char name[SN_XML_NAME], ref[SN_XML_REF];
    char text[SN_XML_TEXT], value[SN_XML_TEXT];
} sn_xml;

/* There is no fini: nothing is allocated. */
void sn_xml_init(sn_xml *x, sn_xml_fn fn, void *arg);

/* BAD_XML is permanent. */
SEINE_MUST_CHECK seine_err sn_xml_feed(sn_xml *x, sn_str piece);

/* BAD_XML also if an element is still open or the file has none. */
SEINE_MUST_CHECK seine_err sn_xml_end(sn_xml *x);

#endif
