/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonl.h - the --jsonl mode of verbs: each line of input is a case and gets a line.
 *
 * The answers have the order of the cases. A case that is an error is answered, too:
 * {"id":7,"ok":false,"error":"no member 'url'"}. The member `id` is copied.
 */
#ifndef CLI_JSONL_H
#define CLI_JSONL_H

#include <stdbool.h>
#include <stdint.h>

#include <seine/plumbing.h>
#include <seine/time.h>
#include <seine/units.h>

struct args;

/* Why a case is an error; a function that returns false fills it in. */
typedef struct reason {
    char text[240];
} reason;

bool reason_set(reason *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Answers one case: adds members to `out`, or returns false. */
typedef bool (*jsonl_fn)(const seine_json *in, seine_json *out, reason *why);

/* Answers all cases. Returns 0 whatever the cases are, 2 if the file cannot be opened, 3
 * if reading fails. */
int jsonl_run(const char *path, jsonl_fn fn);

/* Whether no other option is given: with --jsonl every line has its own settings. False:
 * after an error message. */
bool jsonl_only(const struct args *a);

/* False: the object has a member that is not among the names, which blanks separate. */
bool jsonl_known(const seine_json *object, const char *names, reason *why);

/* These read members; an absent member and null leave *out as it is. */
bool jsonl_int(const seine_json *object, const char *name, int64_t min, int64_t max,
               int64_t *out, reason *why);
bool jsonl_text(const seine_json *object, const char *name, const char **out,
                reason *why);
bool jsonl_pace(const seine_json *object, const char *name, seine_frequency *out,
                reason *why);

/* Reads a number of `unit`s, whole or not; negative where `min` is. */
bool jsonl_span(const seine_json *object, const char *name, seine_span unit,
                seine_span *out, reason *why);
bool jsonl_has(const seine_json *object, const char *name);

/* The member, an array; NULL with `why`: the object has none. */
const seine_json *jsonl_array(const seine_json *object, const char *name, reason *why);

/* These build JSON, and end the program when memory runs out. */
void jsonl_set(seine_json *object, const char *name, seine_json *give);
void jsonl_add(seine_json *array, seine_json *give);
seine_json *jsonl_string(const char *text); /* bytes that are not UTF-8: escaped */

/* Adds a member to the end of the answer that is being made: JSON text, for what would
 * take many times its length as values. */
void jsonl_set_text(const char *name, char *give, size_t len);

/* Nanoseconds in `unit`s: an integer when it is one, else to the nanosecond. */
seine_json *jsonl_in(seine_span span, seine_span unit);

#endif
