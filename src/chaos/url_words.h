/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_words.h - the language of chaos URLs.
 *
 *     /delay:100ms/reset:1000/bytes:5000
 *
 * is three words; each changes the plan of the response, from left to right, and
 * the last one says what the body is. A word has up to two arguments behind
 * colons; the last takes the rest, colons and all. Arguments are percent-decoded
 * after the path was split.
 *
 *     snc_plan plan = {0};
 *     snc_wrong wrong;
 *     if (!snc_url_words_apply(SN_STR("/delay:1s/ok"), &scene, &plan, &wrong))
 *         say(wrong.word, wrong.why);
 *
 * The table below the functions is the only list of words; help text and the
 * answer to an unknown word are made from it.
 *
 * Time    plays no part.
 * Memory  decoded arguments come from the arena of the scene.
 * Threads any thread.
 */
#ifndef SNC_URL_WORDS_H
#define SNC_URL_WORDS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "chaos/plan.h"
#include "chaos/request.h"

/* What the words may look at. */
typedef struct snc_scene {
    const snc_request *req; /* never NULL */
    const sn_map *added;    /* words from tests: name to snc_added; or NULL */
    sn_arena *arena;
    uint64_t seed;
    bool tls;                /* it was asked for as https:// */
    uint16_t port, tls_port; /* of this server; 0: no such door */
    sn_str key;              /* what is counted */
    sn_str login; /* "USER:PASSWORD" that was given to a SOCKS proxy; ptr NULL: none */
    uint64_t hit; /* and how often it came, this one included */
    uint64_t nth; /* request on its connection; the first is 1 */
} snc_scene;

/* A word that stands for others, or for exact bytes. */
typedef struct snc_added {
    sn_str name, words, bytes; /* bytes.ptr NULL: none */
} snc_added;

/* What was not understood. */
typedef struct snc_wrong {
    sn_str word;     /* the segment */
    const char *why; /* static */
} snc_wrong;

/* Where a word stands: "/a/b" before it, "/c" behind it. */
typedef struct snc_spot {
    sn_str before, after, segment;
} snc_spot;

/* NULL: done. Otherwise what is wrong with the arguments, in static words. */
typedef const char *snc_url_word_fn(snc_plan *p, const sn_str arg[2], const snc_scene *s,
                                    const snc_spot *at);

typedef struct snc_url_word {
    const char *name, *args; /* "delay", "100ms" as an example */
    const char *group;       /* "time" */
    unsigned min, max;       /* arguments */
    bool final, takes_rest;  /* the path may end here; what follows is its own */
    snc_url_word_fn *apply;
    const char *help;
} snc_url_word;

/* Applies all words of a path. False: *out_wrong says which one is not known or
 * makes no sense, and the plan is half done. */
bool snc_url_words_apply(sn_str path, const snc_scene *s, snc_plan *p,
                         snc_wrong *out_wrong);

/* One word; `at` says where it stands. */
bool snc_url_words_one(sn_str segment, const snc_scene *s, const snc_spot *at,
                       snc_plan *p, snc_wrong *out_wrong);

/* The list for people. */
void snc_url_words_help(sn_buf *out);

/* Whether a word of that name exists in the table. */
bool snc_url_words_known(sn_str name);

/* Whether the path holds this word, without looking at its arguments. */
bool snc_url_words_hold(sn_str path, sn_str name);

/* The table, in three parts: words of what is served, of its coding, of how it is sent.
 * Each is ended by a NULL name. */
extern const snc_url_word snc_url_words_served[], snc_url_words_coded[],
    snc_url_words_sent[];

/* Adds a field to the plan; NULL or "too many". */
const char *snc_plan_field(snc_plan *p, sn_str name, sn_str value);

#endif
