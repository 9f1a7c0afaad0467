/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml.h - a YAML text as a tree of nodes that know where they stand.
 *
 *     sn_yaml *root;
 *     if (!sn_yaml_read(text, &arena, &root, &fault))
 *         complain(fault.line, fault.column, fault.text);
 *
 * One document of scalars, lists and maps. Anchors, aliases and tags are refused, as are
 * keys that are no plain words. A key may stand twice in a map: sn_yaml_repeats_find
 * finds all of them, so that they are told beside the other mistakes of a file.
 *
 * Time    plays no part.
 * Memory  the arena's; at most 20,000 nodes and 32 levels.
 * Threads one owner.
 */
#ifndef SN_YAML_H
#define SN_YAML_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "seine/diag.h"
#include "seine/plumbing.h"

enum { SN_YAML_BYTES = 1 << 20, SN_YAML_NODES = 20000, SN_YAML_DEPTH = 32 };

typedef enum sn_yaml_kind { SN_YAML_SCALAR, SN_YAML_LIST, SN_YAML_MAP } sn_yaml_kind;

typedef struct sn_yaml {
    sn_yaml_kind kind;
    bool plain;          /* a scalar without quotes: 5, true and null are no texts */
    bool exact;          /* byte i of `text` stands at column `inner` + i of `line` */
    uint32_t line;       /* from 1 */
    uint32_t col;        /* from 1, in characters */
    uint32_t inner;      /* the column of the first character of the text */
    sn_str text;         /* of a scalar; terminated */
    struct sn_yaml *key; /* of a value in a map */
    struct sn_yaml *first, *next; /* children; the sibling behind this node */
    uint32_t count;               /* of children */
} sn_yaml;

/* False: the diag says where and why; an empty text: out of memory. */
bool sn_yaml_read(sn_str text, sn_arena *arena, sn_yaml **out_root, seine_diag *fault);

/* The same for a file that may say nothing: *out_root is NULL then. */
bool sn_yaml_read_loose(sn_str text, sn_arena *arena, sn_yaml **out_root,
                        seine_diag *fault);

/* Who is told of keys that stand twice in a map, and which keys are the same. `tell` gets
 * the nodes of both keys. */
typedef struct sn_yaml_repeats {
    bool (*is_same)(sn_str a, sn_str b); /* sn_str_eq or sn_yaml_same_key */
    void (*tell)(const sn_yaml *again, const sn_yaml *first, void *arg);
    void *arg;
} sn_yaml_repeats;

/* Looks at every map of the tree. False: no memory. */
bool sn_yaml_repeats_find(const sn_yaml *root, const sn_yaml_repeats *r);

/* Are two keys the same but for `-` and `_`? */
bool sn_yaml_same_key(sn_str a, sn_str b);

/* The value of a key; NULL if there is none. `-` and `_` in keys are the same. */
const sn_yaml *sn_yaml_get(const sn_yaml *map, const char *key);
bool sn_yaml_is_key(sn_str text, const char *key);

/* The byte of the ':' in a text like "each:li", which was meant to be a key and its
 * value; 0: it is none. URLs are no such texts. */
size_t sn_yaml_joined_key(sn_str text);

/* Is it a plain null, or nothing at all? NULL is. */
bool sn_yaml_is_null(const sn_yaml *node);

/* The node as a JSON value: plain scalars by the core schema of YAML 1.2. NULL: NOMEM. */
seine_json *sn_yaml_json(const sn_yaml *node);

#endif
