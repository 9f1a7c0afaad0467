/* SPDX-License-Identifier: Apache-2.0 */
/*
 * voice.h - what a run says on standard error while it works: lines for people, or one
 * JSON object per line with --log json.
 */
#ifndef CLI_VOICE_H
#define CLI_VOICE_H

#include <stdbool.h>

#include <seine/log.h>

#include "fetch_settings.h"
#include "terminal.h"

typedef struct voice {
    terminal *terminal;
    seine_log *log; /* for the library; NULL: off */
    seine_log *own; /* of the program, when it speaks JSON; NULL */
    int fd;         /* of --log-file; -1 */
    bool quiet, text;
} voice;

/* SAY_DONE, or it was said what is wrong. */
int voice_open(voice *v, const args *a, terminal *b);
void voice_close(voice *v);

/* A line without a verdict: nothing with --quiet. */
void voice_note(voice *v, const char *event, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* What went wrong, and what to try (NULL: nothing); `e` is its kind. */
void voice_fail(voice *v, seine_err e, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
