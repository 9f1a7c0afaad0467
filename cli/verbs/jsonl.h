/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonl.h - the other face of a plumbing verb: one object in, one object out.
 *
 * Every line of input gets one line of output in the same order, a case that is
 * an error too: {"id":…,"ok":false,"error":"…"}; the member `id` is copied.
 */
#ifndef CLI_JSONL_H
#define CLI_JSONL_H

#include <stdbool.h>
#include <stdint.h>

#include <seine/plumbing.h>
#include <seine/time.h>

#include "options/units.h"

struct args;

/* Why a case is an error; filled by whoever answers false. */
typedef struct reason {
    char text[240];
} reason;

bool reason_set(reason *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Answers one case: adds members to `out`, or false. */
typedef bool (*jsonl_fn)(const seine_json *in, seine_json *out, reason *why);

/* The exit code: 0 whatever the cases were, 2 for a file that cannot be opened,
 * 3 when the input cannot be read on. */
int jsonl_run(const char *path, jsonl_fn fn);

/* Whether --jsonl stands alone: every line brings its own settings. Says so if not. */
bool jsonl_only(const struct args *a);

/* False when the object has a member that is not among the blank-separated names. */
bool jsonl_known(const seine_json *object, const char *names, reason *why);

/* Readers of members: one that is absent or null leaves *out as it is. */
bool jsonl_int(const seine_json *object, const char *name, int64_t min, int64_t max,
               int64_t *out, reason *why);
bool jsonl_text(const seine_json *object, const char *name, const char **out,
                reason *why);
bool jsonl_pace(const seine_json *object, const char *name, pace *out, reason *why);

/* A number of `unit`s, whole or not, may be negative when `min` is. */
bool jsonl_span(const seine_json *object, const char *name, seine_span unit,
                seine_span *out, reason *why);
bool jsonl_has(const seine_json *object, const char *name);

/* The steps: an array of objects, or false. */
const seine_json *jsonl_array(const seine_json *object, const char *name, reason *why);

/* Building; without memory the program ends. */
void jsonl_set(seine_json *object, const char *name, seine_json *give);
void jsonl_add(seine_json *array, seine_json *give);
seine_json *jsonl_string(const char *text); /* bytes that are not UTF-8: escaped */

/* Nanoseconds in `unit`s: an integer when it is one, else to the nanosecond. */
seine_json *jsonl_in(seine_span span, seine_span unit);

#endif
