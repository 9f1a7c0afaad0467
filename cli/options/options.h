/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - the table of commands and options, and the run of a command.
 *
 * Each command has a file in cli/verbs. At its top stands its entry: the name, one line
 * of description, the options and the examples. options.c lists the entries, and the
 * options that all commands share. The parser, --help, the man page, the completion and
 * the names of environment variables are made from these entries.
 *
 * The parser writes the value of an option to its place in the settings of the command;
 * the kind says which type stands there:
 *
 *     typedef struct settings { pace rate; } settings;
 *     static const option options[] = {
 *         {"rate", "r", KIND_PACE, "R", .at = offsetof(settings, rate)},
 *         {.name = NULL},
 *     };
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seine/units.h>

#include "screen/screen.h"

typedef enum kind {
    KIND_FLAG,   /* bool; --x and --no-x */
    KIND_SPAN,   /* seine_span; "off" is SEINE_NEVER */
    KIND_PACE,   /* seine_frequency */
    KIND_COUNT,  /* uint64_t; "off" is 0 */
    KIND_SIZE,   /* uint64_t, bytes */
    KIND_SHARE,  /* uint32_t, percent; "off" is 0 */
    KIND_CHOICE, /* int, the place in `value`, which reads "auto|always|never" */
    KIND_TEXT,   /* const char * */
    KIND_FILE,   /* const char *, completed as a file name */
    KIND_LIST,   /* texts: may be repeated; commas separate them in the environment */
    KIND_FILES,  /* texts, completed as file names */
    KIND_TIMES,  /* uint32_t, how often it was given: -vv */
    KIND_ACTION  /* ends the parsing: help, version */
} kind;

/* The values of an option that may be repeated. */
typedef struct texts {
    const char **items; /* ended by NULL; NULL itself: no values */
    size_t count, cap;
    char *own; /* the copy of a list in the environment */
} texts;

enum { OPTIONS_MOST = 256 }; /* of one command; a test counts them */

typedef struct option {
    const char *name;    /* "max-wait" */
    const char *letters; /* "r"; each letter means the option; NULL: none */
    kind kind;
    const char *value;   /* the value in the help: "D", "auto|never" */
    const char *initial; /* the default, read like a typed value; NULL: none */
    size_t at;           /* offset in the settings */
    uint64_t min, max;   /* of counts and sizes; max of lists: texts; max 0: no bound */
    bool off;            /* "off" is a value; for rates it always is */
    bool alone;          /* --x and --x=V but not --x V; --x alone is "" */
    bool no;             /* --no-x exists though x takes a value, and is "" */
    bool env;            /* a variable like SEINE_MAX_WAIT sets the option, too */
    bool rare;           /* left out by -h */
    bool hidden;         /* accepted, and shown nowhere: it does nothing */
    const char *group;   /* the heading that begins with this option; NULL: none */
    const char *member;  /* the members of the library's options it sets: "a|b"; NULL:
                            the one of its name */
    const char *help;    /* one line, lower case, no full stop */
    const char *more;    /* sentences for --help and the man page, or NULL */
} option;

typedef struct example {
    const char *line, *says;
} example;

typedef struct args args;
struct run_host;
struct config;
struct config_file;

/* Where the value of an option comes from, the weakest first. */
typedef enum option_level {
    LEVEL_DEFAULT,
    LEVEL_FILE,   /* a configuration file */
    LEVEL_RECIPE, /* the last args.n_weak words */
    LEVEL_ENV,
    LEVEL_FLAG
} option_level;

typedef struct option_origin {
    option_level level;
    const char *text;               /* as it was typed, or of the variable */
    const struct config_file *file; /* of LEVEL_FILE, and … */
    uint32_t line;                  /* … its line */
} option_origin;

struct args {
    const struct command *command;
    void *settings; /* the command's struct */
    screen screen;
    color_when color; /* for standard error */
    bool quiet;
    size_t count; /* of `words`, the arguments that are no options */
    char **words;
    uint64_t given[OPTIONS_MOST / 64]; /* by place in the command's options */
    option_origin *origins;            /* likewise; the parser makes them */
    size_t n_weak;           /* the last words, of a recipe, yield to the environment */
    struct config *config;   /* the files that were read; NULL: the command reads none */
    const char *config_path; /* --config: NULL: not given; "": --no-config */
    const struct run_host
        *host; /* the console that the run shows itself on; NULL: none */
};

typedef struct command {
    const char *name;      /* "limit simulate" */
    const char *also;      /* another spelling of it, or NULL */
    const char *arguments; /* "[TRACE|-]", or "" */
    const char *choices;   /* the values of the argument, "bash|zsh|fish"; NULL: any */
    const char *about;     /* one line, lower case, no full stop */
    bool is_aside;         /* about seine itself: `seine -h` names it in its last line */
    bool is_small;         /* reads one thing: `seine -h` names it in a paragraph */
    const char *text;      /* paragraphs for --help and the man page, or NULL */
    const option *options; /* ended by a NULL name; NULL: none */
    const example *examples;
    size_t settings_size;
    size_t min_args, max_args;
    int (*run)(const args *a);
} command;

/* The settings of the shared options. */
typedef struct shared {
    int color;
    bool quiet;
    const char *config;
} shared;

/* Both are ended by NULL, the options by a NULL name. */
extern const command *const commands[];
extern const option shared_options[];

/* Finds the command that the words name and runs it. Returns the exit code. */
int options_run(int argc, char **argv);

/* Runs that command inside of this process: `words` are its options and arguments. */
int options_run_inner(const command *c, char **words, size_t count,
                      const struct run_host *host);

/* Whether the command line gives the option; the environment does not count. */
bool options_given(const args *a, const char *name);

/* Where its value comes from. */
option_origin options_origin(const args *a, const char *name);

/* The command whose name stands in the first *out_used words. NULL: none. */
const command *options_find(char **words, size_t count, size_t *out_used);

/* An option of the command, or a shared one. *out_no: `name` is its --no- form. NULL:
 * none. */
const option *options_by_name(const command *c, const char *name, size_t n, bool *out_no);
const option *options_by_letter(const command *c, char letter);

#endif
