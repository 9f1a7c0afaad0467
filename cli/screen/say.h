/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - what the program says to people, and the number it ends with.
 *
 * Messages go to standard error in one form: what happened, then what to try.
 *
 *     return say_fail(SAY_USAGE, "--rate", "unknown option '%s'", show(word).text);
 *
 *     seine: unknown option '--ratte'
 *     try: --rate
 */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <stddef.h>

/* Exit codes; the list is closed. */
enum {
    SAY_DONE = 0,
    SAY_FAILED = 1,  /* finished, and the answer is no */
    SAY_USAGE = 2,   /* usage, configuration or input; nothing was written */
    SAY_MACHINE = 3, /* this machine: disk, memory, a stream that cannot be written */
    SAY_PIPE = 141   /* the reader of standard output has gone */
};

/* Prints the message, and the hint unless it is NULL; returns `code`. */
int say_fail(int code, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* What no message shows from here on; NULL: nothing. It is the program's one variable,
 * because messages come from everywhere. */
struct seine_secrets;
void say_hide(const struct seine_secrets *secrets);
const struct seine_secrets *say_hidden(void);

/* The text as it may be shown, terminated; the caller frees it. */
char *say_clean(const char *bytes, size_t n, size_t *out_len);

/* A line of the same form without a verdict. */
void say_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Foreign bytes made fit for a line of text: control characters and bytes that
 * are not UTF-8 become \x1b, long ones end in an ellipsis. */
typedef struct shown {
    char text[128];
} shown;

/* Bytes of the character at `bytes`, if it can be shown as it is; else 0. The columns it
 * takes are written unless `out_columns` is NULL. */
size_t show_char(const char *bytes, size_t n, size_t *out_columns);

shown show(const char *text);
shown show_bytes(const char *bytes, size_t n);

/* "e.example:8080" of "http://e.example:8080": an authority without what is usual. */
shown show_host(const char *bytes, size_t n);

/* "no space left on device": the system's words in the form of ours. */
shown show_errno(int number);

#endif
