/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - error messages, notes and exit codes.
 *
 * A message goes to standard error and has one form: what happened, then what to try.
 *
 *     return say_fail(SAY_USAGE, "--rate", "unknown option '%s'", show(word).text);
 *
 *     seine: unknown option '--ratte'
 *     try: --rate
 */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <stddef.h>

/* The exit codes; there are no others but 128 and the number of a signal. */
enum {
    SAY_DONE = 0,
    SAY_FAILED = 1,   /* finished, and the answer is no */
    SAY_USAGE = 2,    /* usage, configuration or input; nothing was written */
    SAY_MACHINE = 3,  /* this machine: disk, memory, a stream that cannot be written */
    SAY_EARLY = 4,    /* stopped by a limit with work left */
    SAY_PARKED = 5,   /* hosts were given up */
    SAY_EXPECTED = 6, /* what a recipe expects is not so */
    SAY_SIGNAL = 128, /* and the number of the signal */
    SAY_PIPE = 141    /* the reader of standard output has gone */
};

/* Prints the message, and the hint unless it is NULL; returns `code`. */
int say_fail(int code, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Secrets that no message shows from here on; NULL: none. They are the one variable of
 * the program, because every part of it prints messages. */
struct seine_secrets;
void say_hide(const struct seine_secrets *secrets);
const struct seine_secrets *say_hidden(void);

/* The same for messages of this thread alone, whatever others hide. */
void say_hide_here(const struct seine_secrets *secrets);

/* Messages of this thread go to `fn` from here on; `before` is "seine: " or "try: ".
 * NULL: to standard error. */
typedef void (*say_fn)(const char *before, const char *line, void *arg);
void say_divert(say_fn fn, void *arg);

/* A copy of the text without secrets, terminated; the caller frees it. */
char *say_clean(const char *bytes, size_t n, size_t *out_len);

/* Prints a line of the same form that is no error. */
void say_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Foreign bytes as text for one line: control characters and bytes that are not UTF-8
 * become \x1b, and a long text ends in an ellipsis. */
typedef struct shown {
    char text[128];
} shown;

/* The length in bytes of the character at `bytes`, or 0 if it cannot be shown as it is.
 * *out_columns: the columns it takes; may be NULL. */
size_t show_char(const char *bytes, size_t n, size_t *out_columns);

shown show(const char *text);
shown show_bytes(const char *bytes, size_t n);

/* "e.example:8080" of "http://e.example:8080": without scheme and default port. */
shown show_host(const char *bytes, size_t n);

/* The text of an errno, in lower case like our own: "no space left on device". */
shown show_errno(int number);

/* What to do about a file or stream that could not be written; `why` is the message,
 * which ends with the text of an errno. */
const char *say_write_advice(const char *why);

#endif
