/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_scan.h - reads the members of a JSON object in one pass, without a tree.
 *
 * A report reads millions of lines and a few members of each, and a tree per line takes
 * most of the time. Values are views of the line; nested objects are read by a scan of
 * their own. The scan believes its text: a line that is no JSON ends early, and the
 * caller asks json_scan_is_whole.
 *
 *     json_scan s = json_scan_object(line);
 *     seine_view name;
 *     json_value v;
 *     while (json_scan_next(&s, &name, &v))
 *         …
 */
#ifndef CLI_JSON_SCAN_H
#define CLI_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include <seine/time.h>
#include <seine/view.h>

typedef enum json_kind {
    JSON_NONE,
    JSON_STRING, /* the text is what stands between the quotes */
    JSON_NUMBER,
    JSON_WORD,   /* true, false, null */
    JSON_OBJECT, /* the text is the whole value, brackets included */
    JSON_ARRAY
} json_kind;

typedef struct json_value {
    json_kind kind;
    bool has_escapes;
    seine_view text;
} json_value;

typedef struct json_scan {
    const char *at, *end;
    bool is_done, is_bad;
} json_scan;

/* A scan of the object or the array that is all of `text`. */
json_scan json_scan_object(seine_view text);
json_scan json_scan_array(seine_view text);

/* The next member, or element; false at the end and at the first mistake. */
bool json_scan_next(json_scan *s, seine_view *out_name, json_value *out_value);
bool json_scan_item(json_scan *s, json_value *out_value);

/* Whether the scan has seen the end of its value. */
bool json_scan_is_whole(const json_scan *s);

/* The string without its escapes, in `room`, which has at least as many bytes as the
 * string; returns the view to use. Surrogates without their other half become U+FFFD. */
seine_view json_text(const json_value *v, char **room);

/* A number that is not below zero, rounded down; other values are 0. */
uint64_t json_count(const json_value *v);

/* Milliseconds as a span; other values are 0. */
seine_span json_ms(const json_value *v);

bool json_is(seine_view text, const char *word);

#endif
