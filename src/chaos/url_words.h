/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_words.h - the language of chaos URLs.
 *
 *     /delay:100ms/reset:1000/bytes:5000
 *
 * has three words. Each changes the plan of the response, from left to right, and the
 * last one names the body. A word has up to two arguments behind colons; the last
 * argument takes the rest, colons included. Arguments are percent-decoded after the path
 * was split.
 *
 *     snc_plan plan = {0};
 *     snc_wrong wrong;
 *     if (!snc_url_words_apply(SN_STR("/delay:1s/ok"), &scene, &plan, &wrong))
 *         say(wrong.word, wrong.why);
 *
 * The table below the functions is the only list of words. The help text and the response
 * to an unknown word come from it.
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

/* What words may depend on. */
typedef struct snc_scene {
    const snc_request *req; /* never NULL */
    const sn_map *added;    /* words that tests added: name to snc_added; or NULL */
    sn_arena *arena;
    uint64_t seed;
    bool tls;                /* the request is for https:// */
    uint16_t port, tls_port; /* of this server; 0: closed */
    sn_str key;              /* the key that is counted */
    sn_str login; /* "USER:PASSWORD" that a SOCKS client gave; ptr NULL: none */
    uint64_t hit; /* requests for the key, this one included */
    uint64_t nth; /* number of the request on its connection, from 1 */
} snc_scene;

/* A word that stands for others, or for exact bytes. */
typedef struct snc_added {
    sn_str name, words, bytes; /* bytes.ptr NULL: none */
} snc_added;

/* The word that was not understood. */
typedef struct snc_wrong {
    sn_str word;     /* the segment */
    const char *why; /* static */
} snc_wrong;

/* The position of a word: "/a/b" before it, "/c" behind it. */
typedef struct snc_spot {
    sn_str before, after, segment;
} snc_spot;

/* NULL: done. Otherwise what is wrong with the arguments (static). */
typedef const char *snc_url_word_fn(snc_plan *p, const sn_str arg[2], const snc_scene *s,
                                    const snc_spot *at);

typedef struct snc_url_word {
    const char *name, *args; /* "delay", "100ms" as an example */
    const char *group;       /* "time" */
    unsigned min, max;       /* arguments */
    bool final, takes_rest;  /* the path may end here; takes the rest of it */
    snc_url_word_fn *apply;
    const char *help;
} snc_url_word;

/* Applies all words of a path. False: *out_wrong names the word that is unknown or wrong,
 * and the plan is incomplete. */
bool snc_url_words_apply(sn_str path, const snc_scene *s, snc_plan *p,
                         snc_wrong *out_wrong);

/* Applies one word; `at` is its position. */
bool snc_url_words_one(sn_str segment, const snc_scene *s, const snc_spot *at,
                       snc_plan *p, snc_wrong *out_wrong);

/* Writes the list of words for people. */
void snc_url_words_help(sn_buf *out);

/* Is there a word of that name in the table? */
bool snc_url_words_known(sn_str name);

/* Does the path hold this word? Ignores its arguments. */
bool snc_url_words_hold(sn_str path, sn_str name);

/* The table, in three parts: words for the body, for its coding, for how it is sent. A
 * NULL name ends each part. */
extern const snc_url_word snc_url_words_served[], snc_url_words_coded[],
    snc_url_words_sent[];

/* Adds a field to the plan; NULL or "too many". */
const char *snc_plan_field(snc_plan *p, sn_str name, sn_str value);

#endif
