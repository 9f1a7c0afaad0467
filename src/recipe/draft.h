/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft.h - what a page repeats, as a recipe: shared by the draft*.c files.
 *
 * draft.c opens the page, calls the others and prints the recipe; draft_page.c gives each
 * element its path; draft_groups.c finds the paths that are rows; draft_rows.c and
 * draft_fields.c find what varies from row to row; draft_select.c writes selectors;
 * draft_names.c names; draft_json.c does the same for JSON and JSON-LD; draft_values.c
 * reads all rows with the recipe as it stands, types the fields and drops what says
 * nothing; draft_next.c finds the next page; draft_print.c writes YAML.
 *
 * A path is the list of tags and tokens from the root to an element, without numbers: the
 * cards of a page have one path, and so have their titles. A token is a class, or an
 * itemprop. Each element is looked at a fixed number of times, so the work is linear.
 *
 * Memory  all of it lies in the arena of the draft.
 * Threads one owner.
 */
#ifndef SN_DRAFT_H
#define SN_DRAFT_H

#include "recipe/apply.h"

enum {
    SN_DRAFT_LISTS = 3,
    SN_DRAFT_FIELDS = 30,
    SN_DRAFT_NAME = 40,
    SN_DRAFT_TEXT = 512,  /* of a selector */
    SN_DRAFT_LOOKS = 30,  /* at each element, to find the selector of a list */
    SN_DRAFT_SPOTS = 300, /* of a row */
    SN_DRAFT_BYTES = 256 << 20
};

/* How good a token is for a selector. */
typedef enum sn_token_worth {
    SN_TOKEN_STATE,  /* odd, active: it says nothing about what the element is */
    SN_TOKEN_MADE,   /* css-1a2b3c: a program made it and will make another */
    SN_TOKEN_LAYOUT, /* col-md-4: it tells how the element looks */
    SN_TOKEN_COMMON, /* item, card: it names anything */
    SN_TOKEN_GOOD
} sn_token_worth;

typedef struct sn_token {
    sn_str text;
    bool is_prop; /* an itemprop */
    bool is_word; /* of several in one itemprop */
    sn_token_worth worth;
    uint32_t count; /* of elements */
} sn_token;

typedef struct sn_path sn_path;
struct sn_path {
    struct {
        const sn_path *parent;
        const sn_token *token;
        uint32_t tag, column;
    } key;
    sn_path *up, *first, *last, *next; /* parent, children in order of the page */
    seine_node node;                   /* the first element */
    uint32_t count;                    /* of elements */
    uint32_t parents;                  /* elements that have such a child */
    uint32_t run, least, most;         /* such children of one parent */
    seine_node parent_node;            /* of the run */
    uint32_t with_text;                /* elements with text of their own */
    uint64_t letters;                  /* of that text; then of all below, too */
    uint32_t links;                    /* elements that are links */
    uint32_t leaves;                   /* what a row of this path would have */
    bool is_aside;                     /* menus and footers */
    bool is_taken;
};

typedef struct sn_element {
    sn_path *path;      /* NULL: not of interest */
    uint32_t at, count; /* in `owned`: its tokens */
} sn_element;

typedef struct sn_draft_field {
    char name[SN_DRAFT_NAME];
    bool is_vague;    /* a name that a type may better: text, value */
    sn_source source; /* CSS, COL or JSON */
    const char *from; /* "": the row */
    const char *attr; /* NULL: text */
    const char *regex;
    bool unescape; /* &amp; is & */
    bool all;
    bool keep;    /* also if it is the same in all rows */
    bool is_deep; /* in JSON: below another member */
    bool is_weak; /* a copy of another field goes, this one first */
    sn_type type;
    const char *format;
    char decimal; /* 0: none is said */
    bool required;
    bool dropped;
    sn_str *values; /* of each row; ptr NULL: none */
} sn_draft_field;

typedef struct sn_draft_list {
    char kind[SN_DRAFT_NAME];
    sn_each how;
    const char *each;
    const char *type; /* of JSON-LD; NULL: any */
    uint32_t header;
    sn_draft_field fields[SN_DRAFT_FIELDS];
    size_t n_fields;
    size_t rows;
    const sn_draft_field *unique;
} sn_draft_list;

typedef struct sn_draft {
    sn_apply *page;
    sn_arena arena;
    seine_err err;
    const seine_tree *tree;
    sn_element *elements; /* by node */
    sn_map tokens, paths;
    const sn_token **owned;
    size_t n_owned, cap_owned;
    sn_path *root;
    sn_path **all_paths;
    size_t n_paths, cap_paths;
    sn_draft_list *lists[SN_DRAFT_LISTS];
    size_t n_lists;
    const char *next;       /* YAML; NULL: none */
    uint64_t steps;         /* that are left for selectors */
    struct sn_spot **spots; /* of the rows at hand, by node */
} sn_draft;

/* Sets the error and returns NULL. */
void *sn_draft_no_memory(sn_draft *d);
char *sn_draft_text(sn_draft *d, sn_str s);
const char *sn_draft_take(sn_draft *d, sn_buf *b); /* ends the buffer; NULL: too long */
char *sn_draft_printf(sn_draft *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* draft_page.c */
void sn_draft_page(sn_draft *d);
sn_token_worth sn_draft_worth(sn_str s);
bool sn_draft_has(const sn_draft *d, seine_node n, const sn_token *token);
sn_str sn_draft_tag(const sn_draft *d, seine_node n);
bool sn_draft_is(const sn_draft *d, seine_node n, const char *names);

/* draft_groups.c: the paths of rows, the best first. */
size_t sn_draft_groups(sn_draft *d, sn_path **out, size_t max);

/* draft_rows.c: the rows of a path, or of its table, become a list. */
void sn_draft_rows(sn_draft *d, sn_path *path);
sn_draft_list *sn_draft_list_new(sn_draft *d);
sn_draft_field *sn_draft_field_new(sn_draft_list *list);

/* draft_spots.c: a spot is a path below the rows, with what all rows have there. Where
 * siblings of one path come in the same number in all rows, each has a spot. */
enum { SN_SPOT_TOKENS = 8 };
typedef struct sn_spot sn_spot;
struct sn_spot {
    struct {
        const sn_spot *up;
        const sn_token *token;
        uint32_t tag, column; /* those of its path: a row may have another path */
        uint32_t place;       /* among the siblings of its tag; 0: it has no say */
        uint32_t padding;
    } key;
    sn_spot *up, *first, *last, *next;
    seine_node node; /* the first */
    uint32_t count, rows, last_row;
    uint32_t nth;    /* its place among the siblings of its tag … */
    bool nth_varies; /* … is not that of all */
    const sn_token *tokens[SN_SPOT_TOKENS]; /* of the first … */
    uint32_t had[SN_SPOT_TOKENS];           /* … and how many have them */
    size_t n_tokens;
    uint32_t with_text; /* elements with text of their own … */
    uint64_t text_hash; /* … and that of the first */
    bool text_varies;
    sn_str label; /* "Price:" that all texts begin with; len 0: none */
    uint32_t hrefs, datetimes, contents, values, labels, titles;
    uint64_t href_hash;
    bool href_varies;
};

typedef struct sn_spots {
    sn_map map;
    sn_spot *root;
    sn_spot *all[SN_DRAFT_SPOTS];
    size_t count;
    size_t rows;
} sn_spots;

void sn_draft_spots(sn_draft *d, const seine_node *rows, size_t n, sn_spots *out);

/* The selector of a spot inside of its row; NULL: none. */
const char *sn_draft_select_spot(sn_draft *d, const sn_spots *all, const sn_spot *s);

/* draft_fields.c: what varies in these rows. `headings` has the names of the columns of
 * a table, NULL: none; with `is_table` the text of cells is taken by column. */
typedef struct sn_headings {
    sn_str *names;
    size_t count;
    bool is_table;
} sn_headings;
void sn_draft_fields(sn_draft *d, sn_draft_list *list, const seine_node *rows,
                     size_t n_rows, const sn_headings *headings);

/* draft_select.c */
typedef struct sn_simple_select {
    sn_str tag;            /* len 0: any */
    const sn_token *token; /* NULL: any */
    sn_str id;
    uint32_t column; /* of td, th; or the place among its kind; 0: any */
    bool of_type;
    bool is_classless; /* it has no class */
} sn_simple_select;

/* The shortest selector that finds exactly these elements; NULL: none. */
const char *sn_draft_select_rows(sn_draft *d, const seine_node *rows, size_t n);
void sn_draft_put_simple(sn_buf *b, const sn_simple_select *s);
void sn_draft_put_name(sn_buf *b, sn_str name);   /* any text as a CSS identifier */
void sn_draft_put_string(sn_buf *b, sn_str text); /* any text as a CSS string */

/* draft_names.c */
void sn_draft_name(sn_draft_list *list, sn_draft_field *f, sn_str text, sn_str row_token);
bool sn_draft_id(sn_str text, char *out, size_t cap); /* false: no letter in it */
bool sn_draft_is_vague(sn_str token); /* it says no more than that there is something */
void sn_draft_singular(char *name);

/* draft_json.c */
void sn_draft_json(sn_draft *d);
void sn_draft_jsonld(sn_draft *d);

/* draft_values.c: reads all rows, types and drops fields. False: nothing is left, or
 * d->err. */
bool sn_draft_values(sn_draft *d);

/* draft_next.c */
void sn_draft_next(sn_draft *d);

/* draft_print.c: with `test` the whole recipe, else what can be applied. */
typedef struct sn_draft_test {
    const char *name, *url, *page, *golden, *next;
    size_t items;
} sn_draft_test;
void sn_draft_print(const sn_draft *d, const sn_draft_test *test, sn_buf *out);
void sn_draft_put_yaml(sn_buf *b, const char *text); /* in quotes, where it needs them */

#endif
