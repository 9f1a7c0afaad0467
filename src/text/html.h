/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html.h - find title, links and metadata of an HTML page while its bytes arrive.
 *
 * This is the tokenizer of the HTML standard, in one pass, without tree or recursion.
 * Pieces may have any size; the events do not depend on where they are cut. The tokenizer
 * handles comments, raw text, scripts, all forms of attributes, and character references.
 * It tracks template, svg and math, because links depend on them.
 *
 *     sn_html t;
 *     sn_html_init(&t, &(sn_html_options){.want = SN_HTML_LINK | SN_HTML_BASE}, fn, me);
 *     while (more && !sn_html_enough(&t))
 *         e = sn_html_feed(&t, bytes, n);
 *     e = sn_html_end(&t);
 *     sn_html_fini(&t);
 *
 * An event comes when it is complete. The link of an <a> comes at the end tag, because
 * the link text is part of the event; sort by `offset` for page order. A <base> also
 * counts for links before it, so a caller that resolves links at once is right only if
 * the <base> came first, as it should. Input is ASCII or a superset of ASCII. Bytes above
 * 0x7f are passed on unchanged, unless `convert` decodes them; character references
 * become UTF-8.
 *
 * Limits: 50,000 links, 256 attributes per tag, 64 KiB per value, 4 KiB of title, 1 MiB
 * per JSON-LD script. The rest is dropped, and sn_html_notes says so. With `lines` every
 * event has a line and a column. With `tree` the same states report every token to the
 * builder of a tree (text/tree_build.h), which says what is an element and what is text;
 * without it, html_foreign.c and html_frames.c stand for its rules.
 *
 * Time    plays no part; `steps` stays below 16 per byte plus 4096.
 * Memory  grows with the longest tag, title, link and JSON-LD script, and stays below 1
 *         MiB without JSON-LD. Buffers are allocated when first used and reused.
 * Threads one owner.
 */
#ifndef SN_HTML_H
#define SN_HTML_H

#include "base/buf.h"

enum {
    SN_HTML_LINKS = 50000,
    SN_HTML_ATTRS = 256,
    SN_HTML_VALUE = 64 * 1024,
    SN_HTML_TITLE_LEN = 4096,
    SN_HTML_TEXT_LEN = 256, /* bytes of link text */
    SN_HTML_SCRIPT_LEN = 1024 * 1024,
};

/* Kinds of events; `want` is a mask of them. */
typedef enum sn_html_what {
    SN_HTML_TITLE = 1,   /* value: the first one, blanks collapsed; once */
    SN_HTML_BASE = 2,    /* value: of the first <base href>; once */
    SN_HTML_LINK = 4,    /* tag, attr, value; rel and hreflang; text of an <a> */
    SN_HTML_META = 8,    /* name (of `attr`), value: its content */
    SN_HTML_LANG = 16,   /* value: of the first <html lang>; once */
    SN_HTML_JSONLD = 32, /* value: the text of a script of JSON-LD, as it stands */
    SN_HTML_ANCHOR = 64  /* value: an id, or the name of an <a> */
} sn_html_what;

/* clang-format off */
/* Known tags, sorted by length for the search, then by frequency. */
#define SN_HTML_TAG_TABLE(X) \
    X(A,             "a")             \
    X(IMG,           "img")           \
    X(SVG,           "svg")           \
    X(XMP,           "xmp")           \
    X(LINK,          "link")          \
    X(FORM,          "form")          \
    X(AREA,          "area")          \
    X(BASE,          "base")          \
    X(META,          "meta")          \
    X(HTML,          "html")          \
    X(MATH,          "math")          \
    X(DESC,          "desc")          \
    X(INPUT,         "input")         \
    X(STYLE,         "style")         \
    X(TITLE,         "title")         \
    X(VIDEO,         "video")         \
    X(AUDIO,         "audio")         \
    X(EMBED,         "embed")         \
    X(FRAME,         "frame")         \
    X(TRACK,         "track")         \
    X(SCRIPT,        "script")        \
    X(SOURCE,        "source")        \
    X(IFRAME,        "iframe")        \
    X(OBJECT,        "object")        \
    X(NOEMBED,       "noembed")       \
    X(NOSCRIPT,      "noscript")      \
    X(TEMPLATE,      "template")      \
    X(TEXTAREA,      "textarea")      \
    X(NOFRAMES,      "noframes")      \
    X(FRAMESET,      "frameset")      \
    X(PLAINTEXT,     "plaintext")     \
    X(FOREIGNOBJECT, "foreignobject") \
    X(ANNOTATION_XML, "annotation-xml")

#define SN_HTML_ATTR_TABLE(X) \
    X(ID,          "id")          \
    X(REL,         "rel")         \
    X(SRC,         "src")         \
    X(HREF,        "href")        \
    X(TYPE,        "type")        \
    X(NAME,        "name")        \
    X(DATA,        "data")        \
    X(LANG,        "lang")        \
    X(ACTION,      "action")      \
    X(SRCSET,      "srcset")      \
    X(POSTER,      "poster")      \
    X(CONTENT,     "content")     \
    X(PROPERTY,    "property")    \
    X(HREFLANG,    "hreflang")    \
    X(ENCODING,    "encoding")    \
    X(HTTP_EQUIV,  "http-equiv")  \
    X(IMAGESRCSET, "imagesrcset")
/* clang-format on */

typedef enum sn_html_tag {
    SN_TAG_OTHER,
#define SN_ROW(id, name) SN_TAG_##id,
    SN_HTML_TAG_TABLE(SN_ROW)
#undef SN_ROW
        SN_TAG_COUNT
} sn_html_tag;

typedef enum sn_html_attr {
    SN_ATTR_OTHER,
#define SN_ROW(id, name) SN_ATTR_##id,
    SN_HTML_ATTR_TABLE(SN_ROW)
#undef SN_ROW
        SN_ATTR_COUNT
} sn_html_attr;

const char *sn_html_tag_name(sn_html_tag tag); /* "" for OTHER */
const char *sn_html_attr_name(sn_html_attr attr);

typedef struct sn_html_event { /* views: valid during the call */
    sn_html_what what;
    sn_html_tag tag;
    sn_html_attr attr;
    bool cut;     /* the value was longer than its limit */
    sn_str value; /* decoded; not trimmed, unless it is a title */
    sn_str text;  /* blanks collapsed, at most SN_HTML_TEXT_LEN */
    sn_str rel, hreflang;
    sn_str name;        /* of a meta */
    uint64_t offset;    /* of the tag's first byte */
    uint32_t line, col; /* the same, from 1, columns in bytes; 0 without `lines` */
} sn_html_event;

/* Returns false to stop: the rest of the page is not read. */
typedef bool (*sn_html_fn)(void *user, const sn_html_event *e);

/* Decodes bytes above 0x7f, before references are decoded: of the value of `attr`, or of
 * text if `attr` is OTHER. The result stays valid until the next call. */
typedef sn_str (*sn_html_convert)(void *user, sn_str raw, sn_html_attr attr);

typedef struct sn_html_options {
    unsigned want;         /* mask of sn_html_what */
    bool until_title;      /* stop at </title> */
    bool scripting;        /* <noscript> is text, as for a browser that runs scripts */
    bool lines;            /* tell line and column */
    bool no_text;          /* the text of a link is not asked for: it comes at its tag */
    bool no_parts;         /* links to pictures, media and forms are not told */
    uint32_t max_links;    /* 0: SN_HTML_LINKS */
    struct sn_build *tree; /* builds a tree of every token; events are of its elements */
    sn_html_convert convert;       /* NULL: bytes stay as they are */
    struct sn_word_triples *words; /* told of the text that is no link; or NULL */
} sn_html_options;

/* Notes: what was dropped. */
enum {
    SN_HTML_NOTE_LINKS = 1,
    SN_HTML_NOTE_ATTRS = 2,
    SN_HTML_NOTE_VALUE = 4,
    SN_HTML_NOTE_TITLE = 8,
    SN_HTML_NOTE_SCRIPT = 16
};

/* Collected text: blanks are collapsed, references not yet decoded. */
typedef struct sn_html_text {
    sn_buf raw;
    bool blank, cut;
} sn_html_text;

/* Where the value of an attribute stands in `values`. */
typedef struct sn_html_value {
    uint32_t at, len;
    bool cut;
} sn_html_value;

/* A position in the page. */
typedef struct sn_html_place {
    uint64_t offset;
    uint32_t line, col;
} sn_html_place;

/* The parts of a link, stored one after the other. */
typedef struct sn_html_parts {
    size_t value, rel, hreflang; /* lengths */
} sn_html_parts;

/* A link whose text is not complete. */
typedef struct sn_html_held {
    sn_buf bytes;
    sn_html_parts parts;
    sn_html_text text;
    sn_html_place place;
    bool open, cut;
    bool is_told; /* without its text */
} sn_html_held;

typedef enum sn_html_content { /* what follows a start tag */
                               SN_HTML_MARKUP,
                               SN_HTML_RAW, /* up to its end tag */
                               SN_HTML_PLAIN
} sn_html_content;

/* An element that is open inside of svg or math. */
typedef struct sn_html_foreign {
    uint32_t name; /* its hash */
    bool is_math, has_html;
} sn_html_foreign;

enum { SN_HTML_FOREIGN = 64 };

enum { SN_HTML_NAME = 16 }; /* longer names are all unknown */

typedef struct sn_html { /* private */
    sn_html_options opts;
    sn_html_fn fn;
    void *user;

    const char *piece; /* the current piece, to compute offsets */
    uint64_t fed;      /* bytes before it */
    uint64_t tag_at;
    uint64_t run, name_at; /* for a tree: where its text and a name begin */
    uint64_t steps;
    uint64_t skims;  /* tags without a meaning, as bits */
    bool skims_head; /* only the title is asked for */

    uint64_t counted, line_at; /* bytes searched for lines; start of the last line */
    uint32_t line;             /* before `counted`, from 0 */
    sn_html_place early;       /* of a tag that began in an earlier piece */

    uint8_t state; /* html.c */
    uint8_t tag;   /* sn_html_tag being read */
    uint8_t attr;
    uint8_t raw;    /* the tag whose end ends the raw text */
    uint8_t escape; /* script: 0 not, 1 escaped, 2 doubly */
    uint8_t dashes, name_len;

    bool end_tag, self_closing, breaks_out, bang, start, in_raw, is_font;
    char name[SN_HTML_NAME]; /* of tag or attribute, lower case, zero padded */

    uint32_t keep; /* attributes to keep that did not come yet */
    uint32_t seen;
    uint32_t attrs; /* counted */
    sn_buf values;

    uint8_t depth; /* elements open in svg and math; deeper ones are ignored */
    uint32_t templates;
    uint32_t links;
    bool titling, titled, based, langed;
    bool frames_ok, in_frames; /* nothing of a body was seen; a frameset was */
    bool in_form;              /* a form is open: another one is none */
    uint32_t framesets;        /* open ones */
    sn_html_place title_place, script_place;
    sn_html_text title;
    sn_buf script;        /* of JSON-LD */
    uint64_t script_from; /* the first byte after its tag */
    bool in_script, script_cut;
    sn_html_held held;
    sn_buf decoded;

    unsigned notes;
    bool enough;
    seine_err err;

    /* From here on a reset leaves what is there: `seen` and `depth` say what counts. */
    sn_html_value value[SN_ATTR_COUNT];
    sn_html_foreign foreign[SN_HTML_FOREIGN];
} sn_html;

void sn_html_init(sn_html *t, const sn_html_options *opts, sn_html_fn fn, void *user);
void sn_html_fini(sn_html *t);

/* Ready for another page; keeps the memory. */
void sn_html_reset(sn_html *t);

/* NOMEM is permanent: the page is not read further. After `fn` returned false nothing is
 * read. */
SEINE_MUST_CHECK seine_err sn_html_feed(sn_html *t, const char *bytes, size_t n);

/* Ends the page: emits what is still open. */
SEINE_MUST_CHECK seine_err sn_html_end(sn_html *t);

/* Begins inside of an element whose content is text: for a fragment of a tree. */
void sn_html_start_raw(sn_html *t, sn_html_content content, sn_html_tag raw);

static inline bool
sn_html_enough(const sn_html *t)
{
    return t->enough;
}

static inline unsigned
sn_html_notes(const sn_html *t)
{
    return t->notes;
}

/* Decodes `raw` into `out`, at most `max` bytes: references by the rules for attributes
 * or for text, CR LF as LF, NUL as U+FFFD. False if there was more. */
bool sn_html_decode(sn_buf *out, sn_str raw, bool attribute, size_t max);

/* The next URL of a srcset, which may hold several ("a.jpg 1x, b.jpg 2x"); false:
 * there is none. `rest` moves behind it. */
bool sn_html_srcset(sn_str *rest, sn_str *out_url);

/* Reads the content of a <meta http-equiv=refresh>: seconds to wait and the URL, empty
 * for the page itself. False if the content is invalid. */
bool sn_html_refresh(sn_str content, uint32_t *out_seconds, sn_str *out_url);

/* Shared by the html*.c files only. */

#define SN_HTML_TAG_BIT(tag) (UINT64_C(1) << (tag))
_Static_assert(SN_TAG_COUNT <= 64, "a tag is a bit");

/* Tags that lead to a part of the page, and mean nothing else. */
#define SN_HTML_PARTS                                                \
    (SN_HTML_TAG_BIT(SN_TAG_IMG) | SN_HTML_TAG_BIT(SN_TAG_SOURCE) |  \
     SN_HTML_TAG_BIT(SN_TAG_VIDEO) | SN_HTML_TAG_BIT(SN_TAG_AUDIO) | \
     SN_HTML_TAG_BIT(SN_TAG_TRACK) | SN_HTML_TAG_BIT(SN_TAG_INPUT) | \
     SN_HTML_TAG_BIT(SN_TAG_OBJECT) | SN_HTML_TAG_BIT(SN_TAG_FORM) | \
     SN_HTML_TAG_BIT(SN_TAG_EMBED))

/* Letters (bit 1 is a) that a known tag of this length begins with. */
extern const uint32_t sn_html_tag_letters[SN_HTML_NAME];

sn_html_tag sn_html_find_tag(const char name[SN_HTML_NAME], size_t len);
sn_html_attr sn_html_find_attr(const char name[SN_HTML_NAME], size_t len);

/* True if a start tag of this name ends svg and math; one with such an attribute, if it
 * is a <font>. */
bool sn_html_is_font_attr(const char name[SN_HTML_NAME]);
bool sn_html_is_breakout(const char name[SN_HTML_NAME], size_t len);

/* The tag of a name as it stands in the page. First letter and length rule most of them
 * out, since most tags are unknown. */
sn_html_tag sn_html_known_tag_at(sn_str at);

static inline sn_html_tag
sn_html_find_tag_at(sn_str name)
{
    return name.len < SN_HTML_NAME &&
                   sn_html_tag_letters[name.len] >> (*name.ptr & 31) & 1
               ? sn_html_known_tag_at(name)
               : SN_TAG_OTHER;
}

/* html_skim.c: the tags that need not be read, as bits; 0: the states read all of them.
 * Skips what means nothing; returns where the states go on. Called between tags, outside
 * of svg, math, frames and the text of a link that is kept. */
uint64_t sn_html_skims(const sn_html_options *o);
const char *sn_html_skim(sn_html *t, const char *p, const char *end);

/* The same on the way to the title, if nothing else is asked for. */
bool sn_html_skims_head(const sn_html_options *o);
const char *sn_html_skim_head(sn_html *t, const char *p, const char *end);
void sn_html_plain_title(sn_html *t, sn_str text);

/* An <a> whose values need no decoding; one without href has ptr NULL. */
void sn_html_plain_link(sn_html *t, sn_str href, sn_str rel, sn_str hreflang);

/* Returns the attributes to keep of a start tag, as bits. */
uint32_t sn_html_keeps(const sn_html *t, sn_html_tag tag);

/* A tag is complete: emits its events and returns what follows the tag. */
sn_html_content sn_html_tag_done(sn_html *t);

/* The same where a tree is built, which decided what the tag is. */
void sn_html_tag_in_tree(sn_html *t);

/* Collects the bytes of the script up to `to`, which is not beyond this piece. */
void sn_html_script_upto(sn_html *t, uint64_t to);

/* Returns where the current tag begins. */
sn_html_place sn_html_here(sn_html *t);

/* Counts the lines of a piece of `n` bytes that was read. */
void sn_html_piece_lines(sn_html *t, size_t n);

/* html_frames.c: called as long as `frames_ok`. */
void sn_html_frames_text(sn_html *t, const char *p, size_t n);
void sn_html_frames_tag(sn_html *t, bool is_hidden);

/* html_foreign.c: svg and math. The root of one; a tag inside; both end here. */
bool sn_html_is_foreign(const sn_html *t);
bool sn_html_is_math_mark(const sn_html *t);
void sn_html_foreign_root(sn_html *t);
void sn_html_foreign_start(sn_html *t, bool is_html_annotation);
bool sn_html_foreign_end(sn_html *t); /* true: it closed one of them */
void sn_html_foreign_leave(sn_html *t);

void sn_html_text_add(sn_html_text *x, const char *p, size_t n);
void sn_html_text_end(sn_html *t); /* ends every kind of text */

#endif
