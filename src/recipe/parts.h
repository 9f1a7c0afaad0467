/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parts.h - a compiled recipe, shared by the files of this module.
 *
 * All of it lies in the arena of the recipe; what has a destructor of its own (selectors,
 * patterns, expressions, JSON values) is also in the list `owned`.
 *
 * Threads any thread: a compiled recipe never changes.
 */
#ifndef SN_RECIPE_PARTS_H
#define SN_RECIPE_PARTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "recipe/yaml.h"
#include "seine/calendar.h"
#include "seine/plumbing.h"
#include "seine/recipe.h"
#include "seine/select.h"
#include "text/expr.h"
#include "text/pattern.h"

enum {
    SN_RECIPE_FIELDS = 200,
    SN_RECIPE_ROWS = 100000,
    SN_RECIPE_CELLS = 1000000,     /* of a table with its spans */
    SN_RECIPE_ROW_BYTES = 4 << 20, /* texts of one row */
    SN_RECIPE_STARTS = 10000000,   /* URLs of `start` */
    SN_RECIPE_DATES = 100000       /* of one `months` or `days` */
};

/* clang-format off */
#define SN_TYPES(X) \
    X(STRING, "string") X(INT, "int") X(NUMBER, "number") X(BOOL, "bool") \
    X(DATE, "date") X(TIME, "time") X(MONTH, "month") X(DATETIME, "datetime") \
    X(DURATION, "duration") X(MONEY, "money") X(URL, "url") X(EMAIL, "email") \
    X(ENUM, "enum") X(JSON, "json")
/* clang-format on */

typedef enum sn_type {
#define X(id, name) SN_TYPE_##id,
    SN_TYPES(X)
#undef X
        SN_TYPE_COUNT
} sn_type;

extern const char *const sn_type_names[SN_TYPE_COUNT + 1]; /* ends with NULL */

/* A text with names in braces. */
typedef struct sn_template_part {
    sn_str text;      /* what stands there, if `name` is NULL */
    const char *name; /* NULL: a text */
    sn_expr *format;  /* of {name:FORMAT}; NULL: none */
    sn_str format_text;
    bool whole_url; /* a variable of type url at the beginning: not escaped */
} sn_template_part;

typedef struct sn_template {
    const sn_template_part *parts;
    size_t count;
} sn_template;

/* An expression and the names that it was compiled with. */
typedef struct sn_formula {
    sn_expr *x; /* NULL: none */
    const sn_expr_name *names;
} sn_formula;

typedef struct sn_pair {
    sn_str from, to;
} sn_pair;

typedef struct sn_replacement {
    sn_pattern *pattern;
    sn_str with;
} sn_replacement;

/* What a text means. */
typedef struct sn_meaning {
    sn_type type;
    sn_str format, zone; /* empty: none */
    char decimal;        /* '.' or ',' */
    const sn_str *values;
    size_t n_values;
    sn_str min, max; /* ptr NULL: none */
    sn_pattern *pattern;
} sn_meaning;

typedef enum sn_source {
    SN_FROM_CSS,
    SN_FROM_JSON,
    SN_FROM_COL,
    SN_FROM_JSONLD,
    SN_FROM_HEADER,
    SN_FROM_META,
    SN_FROM_CONST,
    SN_FROM_PAGE
} sn_source;

typedef struct sn_field {
    const char *name;
    sn_source source;
    sn_str from;          /* selector, pointer, column, header, meta or name */
    seine_select *select; /* of CSS; NULL: the row itself */
    sn_template *constant;
    sn_str attr; /* empty: text */
    bool all;
    int32_t nth; /* 0: the first */
    sn_pattern *regex;
    const sn_replacement *replace;
    size_t n_replace;
    sn_pattern *split;
    const sn_pair *map;
    size_t n_map;
    sn_template *as;
    bool lower, upper, fill, required, keep_empty;
    seine_json *fallback; /* NULL: none */
    sn_meaning meaning;
} sn_field;

typedef struct sn_derive {
    const char *name;
    sn_formula formula;
    bool has_type;
    sn_meaning meaning;
} sn_derive;

typedef enum sn_on_error { SN_ERROR_REPORT, SN_ERROR_DROP, SN_ERROR_STOP } sn_on_error;
typedef enum sn_each {
    SN_EACH_PAGE,
    SN_EACH_CSS,
    SN_EACH_JSON,
    SN_EACH_TABLE,
    SN_EACH_JSONLD
} sn_each;

typedef struct sn_items {
    const char *kind;
    sn_each how;
    sn_str each; /* the selector or pointer */
    seine_select *select;
    sn_str type;     /* of things of JSON-LD; len 0: any */
    uint32_t header; /* of a table: the row with the names; 0: none */
    sn_formula where;
    const char **unique; /* ends with NULL; NULL: none */
    sn_on_error on_error;
    sn_field *fields;
    size_t n_fields;
    sn_derive *derive;
    size_t n_derive;
} sn_items;

typedef enum sn_next_how {
    SN_NEXT_NONE,
    SN_NEXT_CSS,
    SN_NEXT_JSON,
    SN_NEXT_HEADER,
    SN_NEXT_PAGE,
    SN_NEXT_OFFSET,
    SN_NEXT_CURSOR
} sn_next_how;

typedef enum sn_until {
    SN_UNTIL_NEVER,
    SN_UNTIL_EMPTY,
    SN_UNTIL_NO_NEW,
    SN_UNTIL_EXPR
} sn_until;

typedef struct sn_next {
    sn_next_how how;
    sn_str from; /* selector, pointer or parameter */
    seine_select *select;
    sn_str attr, param;
    int64_t first, step;
    uint32_t max;
    sn_until until;
    sn_formula condition;
} sn_next;

typedef struct sn_follow {
    sn_str from;
    seine_select *select; /* NULL: a pointer */
    sn_str attr;
    const char *to;     /* NULL: the kind whose `match` fits */
    const char **carry; /* ends with NULL; NULL: none */
    uint32_t limit;     /* 0: none */
} sn_follow;

typedef struct sn_kind_of_page {
    const char *id; /* "": the top level */
    sn_pattern *match;
    int8_t format; /* 0: by content type, 'h', 'j' */
    sn_next next;
    sn_follow *follow;
    size_t n_follow;
    sn_items *items;
    size_t n_items;
} sn_kind_of_page;

typedef struct sn_var {
    const char *name;
    sn_meaning meaning;
    seine_json *fallback; /* NULL: it must be given */
    bool secret;
} sn_var;

typedef enum sn_generator {
    SN_GEN_MONTHS,
    SN_GEN_DAYS,
    SN_GEN_RANGE,
    SN_GEN_LIST,
    SN_GEN_FILE
} sn_generator;

typedef struct sn_over {
    const char *name;
    sn_generator how;
    sn_template *from, *to, *step; /* of months and days: the first and the count */
    sn_str path;                   /* of a file */
    const seine_json *list;
    const sn_yaml *at;
} sn_over;

typedef struct sn_param {
    sn_str name;
    sn_template *value;
} sn_param;

typedef struct sn_start {
    sn_template *url;
    sn_param *query;
    size_t n_query;
    sn_over *over;
    size_t n_over;
    const char *to; /* "" for the top level */
    sn_str file;    /* ptr NULL: none */
    bool is_sitemap;
} sn_start;

typedef struct sn_request {
    sn_str method; /* empty: GET */
    sn_param *headers, *query;
    size_t n_headers, n_query;
    sn_template *body;
    seine_json *json; /* NULL: none */
    sn_template *json_template;
} sn_request;

typedef struct sn_owned {
    void (*drop)(void *thing);
    void *thing;
    struct sn_owned *next;
} sn_owned;

typedef struct sn_part_text {
    const char *key, *json;
} sn_part_text;

struct seine_recipe {
    sn_arena arena;
    sn_owned *owned;
    const char *name;
    sn_var *vars;
    size_t n_vars;
    sn_start *starts;
    size_t n_starts;
    sn_request request;
    sn_kind_of_page *pages; /* the first is the top level */
    size_t n_pages;
    sn_formula *expected; /* of expect.where */
    size_t n_expected;
    sn_part_text *parts;
    size_t n_parts;
    bool (*zone)(const char *name, seine_view *out_bytes, void *arg);
    void *zone_arg;
};

/* Remembers what a recipe must free; frees it at once when memory runs out, and returns
 * false. */
bool sn_recipe_own(seine_recipe *r, void (*drop)(void *thing), void *thing);
bool sn_recipe_own_json(seine_recipe *r, seine_json *json);

const sn_kind_of_page *sn_recipe_page(const seine_recipe *r, const char *kind);

/* "2024-11" or "2024-11-03". */
bool sn_recipe_day(const char *text, bool needs_day, seine_date *out);

/* Are these numbers that a range may have? It may have none in it. */
bool sn_recipe_is_range(int64_t from, int64_t to, int64_t step);

/* Seconds east of UTC at a local time in a zone: UTC, +01:00 or a name. */
bool sn_recipe_zone(const seine_recipe *r, sn_str name, int64_t local,
                    int64_t *out_offset);

#endif
