/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap.h - which URLs of a site look alike, so that they may be one crawler trap?
 *
 * Calendars, session numbers and circular relative links give a site an endless number of
 * URLs. The text of a URL alone refuses nothing; it says with which others the URL is
 * judged. Its pattern is the path with everything that varies replaced, and the name of
 * its parameter; two or more parameters are a star.
 *
 *     /cal/2026/11/15?date=3           is    /cal/#/#/#?date
 *     /p/9f86d081884c7d65/edit         is    /p/%x/edit
 *     /list?color=red&size=m           is    /list?*
 *
 * Its family is wider and spans the paths of a site: all URLs with the session parameter
 * `sid`, all whose path goes round, all that have nothing but words. A URL belongs to one
 * pattern and to one family. Its residues are what is left of it without its session, or
 * without one of its parameters: two URLs of one residue may be one page.
 *
 *     size_t n = sn_trap_pattern(path, query, text, &kind);
 *     family = sn_trap_family_of(path, (sn_str){text, n}, &kind, wide, &len);
 *     unsigned residues = sn_trap_residues(path, query, &kind, list);
 *
 * engine/novelty.h judges the pages of a pattern.
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_TRAP_H
#define SN_TRAP_H

#include "base/str.h"
#include "seine/err.h"

enum {
    SN_TRAP_SEGMENTS = 32, /* segments of a path */
    SN_TRAP_SAME = 4,      /* repetitions of one segment */
    SN_TRAP_ROUNDS = 3,    /* repetitions in a row of one to four segments */
    SN_TRAP_PARAMS = 32,
    SN_TRAP_SAME_NAME = 8, /* repetitions of one parameter */
    SN_TRAP_RESIDUES = 8,
    SN_TRAP_SHOWN = 16, /* segments of a pattern */
    SN_TRAP_ROOM = 1024 /* bytes of a pattern; a longer one ends in "**" */
};

/* Returns what is odd about the path, or NULL: it repeats itself. The path begins with a
 * slash. Looks at its first 32 segments. */
const char *sn_trap_shape(sn_str path);

typedef struct sn_trap_kind {
    bool varies;          /* a part stands for many, or there is a query */
    bool has_path_params; /* ";jsessionid=…" */
    uint32_t params;      /* of the query */
    sn_str session;       /* the name of the parameter that carries one; a view into the
                             query; ptr NULL: none */
    size_t id_end;        /* of the pattern, behind its last identifier; 0: none */
} sn_trap_kind;

/* Writes the pattern, not terminated; returns its length, at most SN_TRAP_ROOM. The query
 * has no question mark. */
size_t sn_trap_pattern(sn_str path, sn_str query, char out[SN_TRAP_ROOM],
                       sn_trap_kind *out_kind);

typedef enum sn_trap_family {
    SN_TRAP_WORDS,  /* "/" and two stars: neither query nor identifier */
    SN_TRAP_DEVICE, /* a query, a session or an identifier, whatever the path */
    SN_TRAP_SHAPE   /* a path that repeats itself */
} sn_trap_family;

/* Writes the name of the family, not terminated. `pattern` and `kind` are those of
 * sn_trap_pattern. */
sn_trap_family sn_trap_family_of(sn_str path, sn_str pattern, const sn_trap_kind *kind,
                                 char out[SN_TRAP_ROOM], size_t *out_len);

/* Does a URL have more than 32 segments, more than 32 parameters or one of them more than
 * 8 times? */
typedef enum sn_trap_excess {
    SN_TRAP_WITHIN,
    SN_TRAP_NEAR, /* more than three quarters of that */
    SN_TRAP_OVER
} sn_trap_excess;

sn_trap_excess sn_trap_excess_of(sn_str path, sn_str query, const sn_trap_kind *kind);

/* What is left of a URL without one of its parts. */
typedef struct sn_trap_residue {
    uint64_t part; /* which part: a hash of its name */
    uint64_t hash; /* of the rest */
} sn_trap_residue;

/* Returns how many residues the URL has: without its identifiers, path parameters and
 * session, if it has any of them; else one for each of its first 8 parameters. */
unsigned sn_trap_residues(sn_str path, sn_str query, const sn_trap_kind *kind,
                          sn_trap_residue out[SN_TRAP_RESIDUES]);

/* A segment of a path that has more behind it. */
typedef struct sn_trap_child {
    uint64_t parent, child; /* hashes: of what stands before it; of both */
    sn_str behind;          /* what stands behind it */
} sn_trap_child;

/* The segment behind the first `depth` ones; false: there is none, or it is the last. */
bool sn_trap_segment(sn_str path, unsigned depth, sn_trap_child *out);

/* Writes a hash of each name in a path, each once; returns how many. Names are segments
 * and parts of them that are joined by a plus or a comma. Looks at the first 32. */
unsigned sn_trap_names(sn_str path, uint64_t out[SN_TRAP_SEGMENTS]);

/* The names of a path in any order: paths of the same ones have the same residue. */
sn_trap_residue sn_trap_unordered(sn_str path);

/* The path without that segment. */
sn_trap_residue sn_trap_without(const sn_trap_child *c);

#endif
