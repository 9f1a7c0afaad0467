/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - what does a configuration file say, and where does it say it?
 *
 * A file is YAML: texts, lists and maps, without anchors, aliases and tags. It becomes a
 * tree of nodes that know their line and column. What the keys mean is the caller's
 * business; whoever reads a section tells its mistakes at the nodes, and all of them are
 * shown at once:
 *
 *     seine_config *c;
 *     e = seine_config_parse(yaml, len, "seine.yaml", &c);
 *     const seine_config_node *rate = seine_config_get(seine_config_root(c), "rate");
 *     if (rate && seine_units_rate(seine_config_text(rate), &pace))
 *         seine_config_wrong(c, rate, "not a rate; try 5/s");
 *     for (size_t i = 0; seine_config_mistake(c, i); i++)
 *         puts(seine_config_mistake(c, i)->text);
 *     seine_config_free(c);
 *
 * In keys `-` and `_` are the same. A file that is no YAML has one mistake and no root,
 * an empty one has neither. A file has at most 1 MiB, 20,000 values and 32 levels.
 *
 * Time    plays no part.
 * Memory  the configuration's; nodes and texts live as long.
 * Threads one owner; reading: any thread.
 */
#ifndef SEINE_CONFIG_H
#define SEINE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"

typedef struct seine_config seine_config;
typedef struct seine_config_node seine_config_node;

typedef enum seine_config_kind {
    SEINE_CONFIG_TEXT, /* a scalar, as it is written: 5, on, "a b" */
    SEINE_CONFIG_LIST,
    SEINE_CONFIG_MAP
} seine_config_kind;

SEINE_BEGIN

/* `name` is that of the file, for its mistakes; NULL: none. Repeated keys are mistakes,
 * and so is a file that is no map. NOMEM, INVAL. */
SEINE_MUST_CHECK seine_err seine_config_parse(const char *yaml, size_t len,
                                              const char *name,
                                              seine_config **out_config);
void seine_config_free(seine_config *c); /* NULL is fine */

/* The map of the top level; NULL: the file is empty, or wrong. */
const seine_config_node *seine_config_root(const seine_config *c);

/* NULL is fine for all of these: a text, "", no children, no place. */
seine_config_kind seine_config_kind_of(const seine_config_node *n);
const char *seine_config_text(const seine_config_node *n); /* "" for lists and maps */
const char *seine_config_key(const seine_config_node *n);  /* of a map's value; or "" */
const seine_config_node *seine_config_first(const seine_config_node *n); /* child */
const seine_config_node *seine_config_next(const seine_config_node *n);
const seine_config_node *seine_config_get(const seine_config_node *map, const char *key);
uint32_t seine_config_line(const seine_config_node *n);   /* from 1; 0: none */
uint32_t seine_config_column(const seine_config_node *n); /* likewise, in characters */

/* Nothing stands there, or null. */
bool seine_config_is_null(const seine_config_node *n);

/* Tells a mistake: at the value, or at its key. A text may end with "; try …". */
void seine_config_wrong(seine_config *c, const seine_config_node *at, const char *text);
void seine_config_wrong_key(seine_config *c, const seine_config_node *at,
                            const char *text);

/* Is the key of this value one of the words? The list ends with NULL. If it is not, that
 * is a mistake: the message names `where` and the nearest word, or else `hint`. */
bool seine_config_knows(seine_config *c, const seine_config_node *at, const char *where,
                        const char *const *words, const char *hint);

/* The mistakes in order of position, at most SEINE_DIAG_MAX; NULL behind the last. */
const seine_diag *seine_config_mistake(const seine_config *c, size_t i);

SEINE_END

#endif
