/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plumbing.h - JSON values for the verbs that are made for tests and scripts, and files
 * that the program writes.
 *
 * This header is public so that the program needs no private one, and unstable:
 * it may change in any release and promises nothing to other programs.
 *
 * A line of input becomes a tree, is read by name and type, and an answer is
 * built and printed on one line:
 *
 *     seine_json *in, *out = seine_json_new_object();
 *     seine_json_fault fault;
 *     if (seine_json_parse(line, len, &in, &fault) != SEINE_OK)
 *         return complain(fault.offset, fault.text);
 *     int64_t n;
 *     if (seine_json_int(seine_json_get(in, "n"), &n))
 *         e = seine_json_set(out, "twice", seine_json_new_int(2 * n));
 *
 * Readers accept NULL, the value of a member that is not there, and answer
 * false. Constructors return NULL when memory runs out; set and append take that
 * NULL and answer NOMEM, so a tree is built without a check at every leaf.
 *
 * Time    plays no part.
 * Memory  a tree belongs to whoever made it: seine_json_free. What the readers
 *         hand out is borrowed from the tree. It comes from the parser library
 *         and its own allocator; printed text is the library's, seine_text_free.
 * Threads one owner per tree.
 */
#ifndef SEINE_PLUMBING_H
#define SEINE_PLUMBING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/alloc.h"
#include "seine/diag.h"
#include "seine/err.h"

#define SEINE_JSON_DEPTH 128                /* arrays and objects inside each other */
#define SEINE_JSON_BYTES ((size_t)64 << 20) /* of one text */

typedef struct seine_json seine_json;

typedef enum seine_json_type {
    SEINE_JSON_NULL,
    SEINE_JSON_BOOL,
    SEINE_JSON_INT,
    SEINE_JSON_REAL,
    SEINE_JSON_STRING,
    SEINE_JSON_ARRAY,
    SEINE_JSON_OBJECT
} seine_json_type;

typedef struct seine_json_fault {
    size_t offset; /* byte at which the parser gave up */
    char text[160];
} seine_json_fault;

SEINE_BEGIN

/* Is it JSON, by the grammar of RFC 8259? BAD_JSON: no, or more than 1,000,000 values;
 * JSON_TOO_DEEP and RANGE: over the caps above; NOMEM: *out_fault. OK: *out_note is what
 * parse would refuse all the same (a name twice in one object, a number of more than 64
 * characters, beyond 64 bits or a double), with an empty text if there is nothing.
 * Either may be NULL. One pass, no tree. */
SEINE_MUST_CHECK seine_err seine_json_check(const char *bytes, size_t len,
                                            seine_json_fault *out_fault,
                                            seine_json_fault *out_note);

/* One value and nothing after it but blanks. BAD_JSON: not JSON, what check notes, or a
 * name with a zero in it; JSON_TOO_DEEP and RANGE: over the caps above; NOMEM (inside a
 * string that can read as BAD_JSON too). Writes *out_fault on every failure; it may be
 * NULL. */
SEINE_MUST_CHECK seine_err seine_json_parse(const char *bytes, size_t len,
                                            seine_json **out_json,
                                            seine_json_fault *out_fault);
void seine_json_free(seine_json *json); /* NULL is fine */

/* NULL reads as SEINE_JSON_NULL. */
seine_json_type seine_json_type_of(const seine_json *json);
const char *seine_json_type_name(seine_json_type type); /* "an object", for messages */

/* False, and nothing written, when the value is of another type. A number is an
 * integer or a real one. A string is terminated and may hold zero bytes. */
bool seine_json_bool(const seine_json *json, bool *out_value);
bool seine_json_int(const seine_json *json, int64_t *out_value);
bool seine_json_number(const seine_json *json, double *out_value);
bool seine_json_string(const seine_json *json, const char **out_bytes, size_t *out_len);

/* Elements of an array, members of an object, else 0. */
size_t seine_json_size(const seine_json *json);
const seine_json *seine_json_at(const seine_json *array, size_t i);
const seine_json *seine_json_get(const seine_json *object, const char *name);

/* Calls `fn` for each member in the order of the text until it returns false;
 * returns whether it saw them all. */
bool seine_json_each(const seine_json *object,
                     bool (*fn)(const char *name, const seine_json *value, void *arg),
                     void *arg);

/* NULL: no memory, a real that is NaN or infinite, bytes that are not UTF-8. */
seine_json *seine_json_new_null(void);
seine_json *seine_json_new_bool(bool value);
seine_json *seine_json_new_int(int64_t value);
seine_json *seine_json_new_real(double value);
seine_json *seine_json_new_string(const char *bytes, size_t len);
seine_json *seine_json_new_array(void);
seine_json *seine_json_new_object(void);
seine_json *seine_json_new_copy(const seine_json *json); /* shares nothing */

/* `give` is theirs from here on, also when they fail; NULL is NOMEM. A member
 * that is there already is replaced. INVAL: not an object, not an array. */
SEINE_MUST_CHECK seine_err seine_json_set(seine_json *object, const char *name,
                                          seine_json *give);
SEINE_MUST_CHECK seine_err seine_json_append(seine_json *array, seine_json *give);

/* The value on one line without blanks, members in order; reals are the shortest
 * decimals that read back the same. NOMEM; JSON_TOO_DEEP. */
SEINE_MUST_CHECK seine_err seine_json_print(const seine_json *json, seine_text *out_text);

/* Writes the text as a JSON string, quotes included, as far as `cap` allows, and a
 * terminating zero; bad bytes become U+FFFD. Returns the length of the whole. */
size_t seine_json_quote(const char *bytes, size_t n, char *out, size_t cap);

/* Text of strangers that a terminal shows and does not obey: control characters, marks
 * that turn the direction of writing and bytes that are no UTF-8 become \x1b or \u202e.
 * Tabs stay. Writes at most `cap` bytes, not terminated; returns the length of the
 * whole. */
typedef enum seine_inert_how {
    SEINE_INERT_SCREEN, /* several lines for a terminal; CR LF becomes LF */
    SEINE_INERT_LINE,   /* one line for a pipe: marks that nobody sees stay */
    SEINE_INERT_ROW     /* one line for a terminal */
} seine_inert_how;
size_t seine_inert(const char *bytes, size_t n, seine_inert_how how, char *out,
                   size_t cap);

/* Length of the character at the beginning that a terminal may show, and the character;
 * 0: none such. */
size_t seine_inert_char(const char *bytes, size_t n, uint32_t *out_char);

/* Writes a file without following a link that somebody has put at the end of its path: a
 * new file with a name nobody can guess is renamed, so that a reader sees the old one or
 * the new one. A pipe, a device and /dev/fd/N are written to as they are. False: errno.
 */
bool seine_file_replace(const char *path, const char *bytes, size_t n);

/* The text as one gzip member, or as one zstd frame. NOMEM, INVAL. */
SEINE_MUST_CHECK seine_err seine_text_pack(const char *bytes, size_t n, bool zstd,
                                           seine_text *out_packed);

/* Opens a file to append to and makes it if there is none. Returns a descriptor for the
 * caller to close, or -1 with errno; ELOOP: a link, which is not followed. */
int seine_file_append(const char *path);

/* Whether texts pass regular expressions, as URLs pass `include` and `exclude` of a
 * fetch. Lists end with NULL, or are NULL. CONFIG: the diag says which one is wrong;
 * NOMEM. */
typedef struct sn_url_filter seine_filter;
SEINE_MUST_CHECK seine_err seine_filter_new(const char *const *include,
                                            const char *const *exclude,
                                            seine_filter **out_filter, seine_diag *diag);
void seine_filter_free(seine_filter *f); /* NULL is fine */

/* What cannot be decided does not pass. */
bool seine_filter_passes(const seine_filter *f, const char *text, size_t n);

SEINE_END

#endif
