/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - what one request will get, decided before the first byte is sent.
 *
 * The words of a path fill the plan in from left to right (url_words.h), flow and script
 * may add words, and response.c turns the plan into bytes. No other code looks at words.
 *
 * Time    spans only; nothing here knows what time it is.
 * Memory  texts belong to the arena of the request and are gone with it.
 * Threads one owner.
 */
#ifndef SNC_PLAN_H
#define SNC_PLAN_H

#include "base/str.h"
#include "chaos/coder.h"
#include "chaos/site.h"
#include "seine/time.h"

#define SNC_PLAN_LINES  32
#define SNC_PLAN_LABELS 16

#define SNC_BODY_CODINGS 8 /* codings of a body */
#define SNC_BODY_CODING_HELD \
    ((uint64_t)65536) /* the most that is cut or counted from the end */

/* The kind of body. */
typedef enum snc_final {
    SNC_FINAL_OK,
    SNC_FINAL_EMPTY,
    SNC_FINAL_TEXT,     /* `count` words */
    SNC_FINAL_BYTES,    /* `count` bytes that follow from the seed */
    SNC_FINAL_HTML,     /* `count` links, and the content words */
    SNC_FINAL_JSON,     /* a small object */
    SNC_FINAL_ECHO,     /* the request */
    SNC_FINAL_STATUS,   /* the name of the status */
    SNC_FINAL_RAW,      /* `raw` alone, without a head */
    SNC_FINAL_SITE,     /* `rest` of a generated site */
    SNC_FINAL_CALENDAR, /* `rest` of an endless one */
    SNC_FINAL_FILE,     /* `raw`, the bytes of the file `rest` */
    SNC_FINAL_SAID,     /* `raw` as text: an error, or the list of words */
    SNC_FINAL_BOMB,     /* `count` zeros, coded as `bomb` says */
    SNC_FINAL_LOG       /* the request_log */
} snc_final;

typedef enum snc_cut { SNC_CUT_NONE, SNC_CUT_RST, SNC_CUT_FIN, SNC_CUT_STALL } snc_cut;
typedef enum snc_framing { SNC_BY_LENGTH, SNC_BY_CHUNKS, SNC_BY_CLOSE } snc_framing;

/* How the field Content-Length is written. */
typedef enum snc_length {
    SNC_LENGTH_PLAIN, /* plus `length_off`, which is mostly 0 */
    SNC_LENGTH_TWO,   /* two fields that differ */
    SNC_LENGTH_SAME,  /* two fields that agree */
    SNC_LENGTH_LIST,  /* "5, 5" */
    SNC_LENGTH_ODD,   /* "5, 6" */
    SNC_LENGTH_FOLD,  /* the number on a line of its own */
    SNC_LENGTH_SPACE, /* a space before the colon */
    SNC_LENGTH_TEXT,  /* `length_text` instead of the number */
    SNC_LENGTH_NONE   /* no such field, and the connection stays open */
} snc_length;

/* What is wrong with the chunks. */
typedef enum snc_chunk_fault {
    SNC_CHUNK_FINE,
    SNC_CHUNK_SIZE,     /* a size that is no number */
    SNC_CHUNK_EMPTY,    /* no size at all */
    SNC_CHUNK_NEGATIVE, /* -5 */
    SNC_CHUNK_LONG,     /* 17 digits */
    SNC_CHUNK_HUGE,     /* 2^63 */
    SNC_CHUNK_LF,       /* a line feed alone behind the size */
    SNC_CHUNK_END,      /* no CRLF behind the data */
    SNC_CHUNK_LAST,     /* no CRLF behind the last chunk, then FIN */
    SNC_CHUNK_NONE      /* no last chunk, then FIN */
} snc_chunk_fault;

/* How the connection ends while it idles after the response. */
typedef enum snc_idle {
    SNC_IDLE_KEEP,
    SNC_IDLE_FIN,
    SNC_IDLE_RST,
    SNC_IDLE_BYTES
} snc_idle;

/* The content codings of the body, and the damage to them (body_coding.h). */
typedef struct snc_body_coding {
    snc_coding codings[SNC_BODY_CODINGS]; /* innermost first */
    unsigned count;
    uint64_t cut;            /* bytes missing at the end */
    bool flips, flips_end;   /* byte `flip` is wrong; counted from the end */
    uint64_t flip;           /* from 0; from the end, from 1 */
    uint64_t members, extra; /* empty encoded texts, and other bytes, behind the end */
    snc_coding member;       /* their coding */
} snc_body_coding;

/* A field, or with an empty name a line that is sent as it is. */
typedef struct snc_plan_line {
    sn_str name, value;
} snc_plan_line;

typedef struct snc_plan {
    snc_final final;
    bool has_final;
    uint64_t count;
    sn_str raw, prefix, rest;
    snc_site site;

    unsigned status; /* 0: as the final word says */
    sn_str reason, ctype, charset;
    sn_str nest_tag;
    uint64_t nest, attrs, links;
    bool has_content; /* a word has set the content */

    snc_coding bomb;
    snc_body_coding coding;
    sn_str labels[SNC_PLAN_LABELS]; /* of Content-Encoding, the innermost first */
    size_t label_count;

    seine_span delay; /* before the first byte */
    uint64_t drip;    /* so many bytes */
    seine_span every; /* at a time; 0: no drip */
    bool drip_body;   /* the head is sent at once */
    bool mute, stale, noread;

    snc_cut cut;
    uint64_t cut_at; /* bytes of the response, or with `cut_body` of the body */
    bool cut_body;
    bool unclean;     /* FIN without a close_notify, at the cut or at the end */
    uint64_t shorter; /* so many bytes are missing at the end */
    bool is_short;

    snc_framing framing;
    bool http10, http09, lf, both, with_body, no_reason;
    snc_length length;
    int64_t length_off;
    sn_str length_text;
    sn_str status_line; /* sent instead of the right one */
    sn_str te;          /* verbatim Transfer-Encoding; the body is chunked */
    snc_chunk_fault chunk_fault;
    uint64_t chunk_size, chunk_ext, trailers;
    uint64_t big_head, many_head;      /* bytes of one field; fields */
    uint64_t big_cookie, many_cookies; /* the same of Set-Cookie */
    uint64_t interim;
    unsigned interim_status;
    uint64_t extra; /* bytes behind the end */
    bool smuggle;   /* those bytes are a response */

    snc_plan_line lines[SNC_PLAN_LINES];
    size_t line_count;
    seine_span idle; /* after so long */
    snc_idle idle_end;

    sn_str login; /* "USER:PASSWORD" that a proxy demands; ptr NULL: none */
    bool has_method, has_reply;
    unsigned method, reply; /* SOCKS: the chosen method, the reply to the request */

    bool stop;    /* the words behind this one do not count */
    bool damaged; /* no client may accept it as complete */
} snc_plan;

#endif
