/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - what can be typed, in one table.
 *
 * Each command has a file; at its top stands its entry: name, one line about it,
 * its options and examples. options.c lists the entries and the options all
 * commands share. Parser, --help, man page, completion and the names in the
 * environment are made from these entries and from nothing else.
 *
 * An option's value goes to its place in the command's settings, by its kind:
 *
 *     static const option options[] = {
 *         {"rate", "r", KIND_PACE, "R", .at = offsetof(settings, rate), …},
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/units.h"
#include "screen/screen.h"

typedef enum kind {
    KIND_FLAG,   /* bool; --x and --no-x */
    KIND_SPAN,   /* seine_span; OFF: SEINE_NEVER */
    KIND_PACE,   /* pace */
    KIND_COUNT,  /* uint64_t; OFF: 0 */
    KIND_SIZE,   /* uint64_t, bytes */
    KIND_SHARE,  /* uint32_t, percent; OFF: 0 */
    KIND_CHOICE, /* int, the place in `value`, which reads "auto|always|never" */
    KIND_TEXT,   /* const char * */
    KIND_FILE,   /* const char *, completed as a file name */
    KIND_LIST,   /* texts: may be repeated; of the environment, between commas */
    KIND_FILES,  /* texts, completed as file names */
    KIND_TIMES,  /* uint32_t, how often it stands there: -vv */
    KIND_ACTION  /* ends the parsing: help, version */
} kind;

/* What a repeated option was given. */
typedef struct texts {
    const char **items; /* NULL ends them; NULL: there are none */
    size_t count, cap;
    char *own; /* the copy of an environment's list */
} texts;

enum { OPTIONS_MOST = 128 }; /* of one command */

typedef struct option {
    const char *name;    /* "max-wait" */
    const char *letters; /* "r"; several are the same option; NULL none */
    kind kind;
    const char *value;   /* what stands for it in the help: "D", "auto|never" */
    const char *initial; /* the default, read like a typed one; NULL none */
    size_t at;           /* offset in the settings */
    uint64_t min, max;   /* counts; max 0: no bound */
    bool off;            /* "off" is allowed; for rates always */
    bool alone;          /* --x and --x=V, never --x V: without one the text is "" */
    bool no;             /* --no-x exists though it takes a value: the text is "" */
    bool env;            /* SEINE_MAX_WAIT sets it too */
    bool rare;           /* not on the one screen of -h */
    const char *help;    /* one line, lower case, no full stop */
    const char *more;    /* sentences for --help and the man page, or NULL */
} option;

typedef struct example {
    const char *line, *says;
} example;

typedef struct args args;

struct args {
    const struct command *command;
    void *settings; /* the command's struct */
    screen screen;
    color_when color; /* for other streams than standard output */
    bool quiet;
    size_t count; /* of words that are no options */
    char **words;
    uint64_t given[OPTIONS_MOST / 64]; /* by place in the command's options */
};

typedef struct command {
    const char *name;      /* "limit simulate" */
    const char *also;      /* another spelling of it, or NULL */
    const char *arguments; /* "[TRACE|-]", or "" */
    const char *choices;   /* what the argument can be: "bash|zsh|fish", NULL */
    const char *about;     /* one line, lower case, no full stop */
    const char *text;      /* paragraphs for --help and the man page, or NULL */
    const option *options; /* ended by a NULL name; NULL none */
    const example *examples;
    size_t settings_size;
    size_t min_args, max_args;
    int (*run)(const args *a);
} command;

/* What the shared options set. */
typedef struct shared {
    int color;
    bool quiet;
} shared;

/* Ended by NULL. */
extern const command *const commands[];
extern const option shared_options[];

/* Finds and runs the command of these words; answers the exit code. */
int options_run(int argc, char **argv);

/* Whether the command line itself names the option. */
bool options_given(const args *a, const char *name);

/* The command whose name these words are, or begin with; *out_used words make
 * the name. NULL: none. */
const command *options_find(char **words, size_t count, size_t *out_used);

/* An option of the command or of all; *out_no: it was its --no- form. NULL: none. */
const option *options_by_name(const command *c, const char *name, size_t n, bool *out_no);
const option *options_by_letter(const command *c, char letter);

#endif
