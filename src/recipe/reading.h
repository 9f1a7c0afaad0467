/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h - how the YAML of a recipe becomes its parts, and how mistakes are told.
 *
 * Readers go on after a mistake, so that all of them are told at once: the first 20 in
 * order of position. `nomem` ends the reading.
 */
#ifndef SN_READING_H
#define SN_READING_H

#include "recipe/parts.h"

enum { SN_READING_NAMES = 512 };

typedef struct sn_reading {
    seine_recipe *r;
    sn_arena *arena;
    const char *file;
    seine_diag *wrong; /* SEINE_DIAG_MAX of them */
    unsigned count;    /* of mistakes; more than there is room for are counted */
    bool nomem;
    unsigned fields; /* so far */
    bool no_fields;  /* some items have none: what names fields is not looked at */
    /* Names that every template and expression may use. */
    sn_expr_name globals[SN_READING_NAMES];
    size_t n_globals;
    const char *kinds[SN_READING_NAMES + 1]; /* the ids of `pages` */
    const sn_yaml
        *derived; /* the value of `derive` that is read, those below it behind */
} sn_reading;

/* Tells a mistake at a node, or at a byte of its text. */
void sn_mistake(sn_reading *in, const sn_yaml *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void sn_mistake_in(sn_reading *in, const sn_yaml *at, size_t byte, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Tells that the text of a node is none of `words`, which end with NULL, and which of
 * them is near. */
void sn_mistake_word(sn_reading *in, const sn_yaml *v, const char *key,
                     const char *const *words);

/* Tells that a value must be a map of `of`, or that the blank behind a key is missing. */
void sn_mistake_map(sn_reading *in, const sn_yaml *v, const char *what, const char *of);

/* Tells that a key stands twice in its map; both are nodes of keys. */
void sn_mistake_twice(sn_reading *in, const sn_yaml *again, const sn_yaml *first);

/* Tells every key of the tree that stands twice in its map, byte for byte: names and
 * texts of the user may differ in - and _ alone. */
void sn_read_repeats(sn_reading *in, const sn_yaml *root);

/* Tells a known key that stands in its map a second time, spelt with - for _ or the other
 * way round. */
void sn_read_spelling(sn_reading *in, const sn_yaml *map, const sn_yaml *value);

/* Tells the keys of a map that `keys` (blanks between them) does not have. False: it is
 * no map. `where` is what the message calls the map. */
bool sn_read_keys(sn_reading *in, const sn_yaml *map, const char *where,
                  const char *keys);

/* Zeroed memory for parts; NULL sets nomem. */
void *sn_read_room(sn_reading *in, size_t count, size_t size);
#define SN_READ_ARRAY(in, type, n) ((type *)sn_read_room(in, n, sizeof(type)))

/* Values of a key; what is of another form is a mistake. A missing key leaves *out. */
bool sn_read_text(sn_reading *in, const sn_yaml *map, const char *key, sn_str *out);
bool sn_read_bool(sn_reading *in, const sn_yaml *map, const char *key, bool *out);
bool sn_read_int(sn_reading *in, const sn_yaml *map, const char *key, int64_t min,
                 int64_t max, int64_t *out);
/* The index of the word in `words`, which ends with NULL. */
bool sn_read_choice(sn_reading *in, const sn_yaml *map, const char *key,
                    const char *const *words, unsigned *out);
/* A scalar's text; a mistake if the node is none. `what` names it. */
bool sn_read_scalar(sn_reading *in, const sn_yaml *node, const char *what, sn_str *out);
/* A name: a letter or _, then letters, digits and _. */
const char *sn_read_id(sn_reading *in, const sn_yaml *node, const char *what);
/* One text or a list of them, ended by NULL. NULL if there is no node. */
const char **sn_read_texts(sn_reading *in, const sn_yaml *node, const char *what);

/* Compile; NULL: a mistake was told. */
seine_select *sn_read_select(sn_reading *in, const sn_yaml *node, sn_str text);
sn_pattern *sn_read_pattern(sn_reading *in, const sn_yaml *node);
bool sn_read_pointer(sn_reading *in, const sn_yaml *node, sn_str text);
sn_template *sn_read_template(sn_reading *in, const sn_yaml *node,
                              const sn_expr_name *names, size_t n_names);
bool sn_read_formula(sn_reading *in, const sn_yaml *node, const sn_expr_name *names,
                     size_t n_names, bool open, sn_formula *out);
seine_json *sn_read_json(sn_reading *in, const sn_yaml *node);

/* Tells that there is no page of that name under `pages`, and which is near. */
void sn_read_kind(sn_reading *in, const sn_yaml *at, const char *id);

/* The type of a name, for expressions. */
sn_expr_type sn_read_expr_type(sn_type type);

/* type, format, zone, decimal, values, min, max, pattern of a map. */
bool sn_read_meaning(sn_reading *in, const sn_yaml *map, sn_meaning *out);

void sn_read_global(sn_reading *in, const char *name, sn_expr_type type);

/* The parts of the language. */
void sn_read_vars(sn_reading *in, const sn_yaml *vars);
void sn_read_start(sn_reading *in, const sn_yaml *start);
void sn_read_request(sn_reading *in, const sn_yaml *map);
void sn_read_page(sn_reading *in, const sn_yaml *map, sn_kind_of_page *page);
void sn_read_items(sn_reading *in, const sn_yaml *node, sn_kind_of_page *page);
void sn_read_field(sn_reading *in, const sn_yaml *node, const sn_expr_name *names,
                   size_t n_names, sn_field *f);
void sn_read_expect(sn_reading *in, const sn_yaml *map);
void sn_read_tests(sn_reading *in, const sn_yaml *tests);
void sn_read_options(sn_reading *in, const sn_yaml *map);

#endif
