/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jsonptr.h - find a value in JSON by a JSON Pointer.
 *
 * RFC 6901: "/a/0/b" is the member b of the first element of the member a; "" is the
 * whole; in a name ~1 stands for / and ~0 for ~. In seine_jsonptr_each the token "-",
 * which the RFC reserves for an element that does not exist yet, means every element.
 *
 *     if (seine_jsonptr_get(json, "/data/0/id", 10, &value) == SEINE_OK)
 *         use(value);
 *     e = seine_jsonptr_each(json, "/data/-/id", 10, fn, me);
 *
 * Time    plays no part. Work is linear in the pointer and the values found.
 * Memory  none.
 * Threads any thread, on a tree that does not change.
 */
#ifndef SEINE_JSONPTR_H
#define SEINE_JSONPTR_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/abi.h"
#include "seine/err.h"

#define SEINE_JSONPTR_BYTES 1024

struct seine_json; /* of <seine/plumbing.h> */

SEINE_BEGIN

/* INVAL: not a pointer, or longer than 1 KiB. UNKNOWN: there is no such value. */
SEINE_MUST_CHECK seine_err seine_jsonptr_get(const struct seine_json *json,
                                             const char *pointer, size_t len,
                                             const struct seine_json **out_value);

/* Calls `fn` for each value, in order, until it returns false; skips values that do not
 * exist. INVAL as above. */
SEINE_MUST_CHECK seine_err
seine_jsonptr_each(const struct seine_json *json, const char *pointer, size_t len,
                   bool (*fn)(const struct seine_json *value, void *arg), void *arg);

/* True if the text is a JSON Pointer. */
bool seine_jsonptr_valid(const char *pointer, size_t len);

SEINE_END

#endif
