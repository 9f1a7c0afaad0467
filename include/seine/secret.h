/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - may this text be shown? Yes, once nothing in it is a secret.
 *
 * A set holds the values that must not be seen: passwords, tokens, fields of requests.
 * Code that writes for people or machines (the log, messages, progress, errors) passes
 * every text through seine_redact, which puts REDACTED in the place of
 *
 *     user information of URLs             https://joe:pw@e.org/   //REDACTED@e.org/
 *     parameters whose names mark secrets  ?page=2&token=abc       ?page=2&token=REDACTED
 *     each value of the set                plain, with any of its characters as %41, and
 *                                          inside of base64, wherever it begins there
 *
 * Values of less than SEINE_SECRET_LEAST bytes are not searched for: too many words
 * contain them by chance.
 *
 *     e = seine_secrets_new(&s);
 *     e = seine_secrets_add_field(s, "Authorization", 13, value, strlen(value));
 *     n = seine_redact(s, line, len, out, sizeof out);
 *
 * Time    linear in the text, whatever is in the set.
 * Memory  about 150 bytes for each byte of a value; wiped when it is freed. A text of
 *         more than 1 KiB needs 9 bytes of memory per byte; without them the whole text
 *         becomes REDACTED.
 * Threads seine_redact, seine_secrets_learn: any thread. One owner adds, before others
 *         look.
 */
#ifndef SEINE_SECRET_H
#define SEINE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/abi.h"
#include "seine/err.h"

#define SEINE_SECRET_LEAST 6    /* bytes */
#define SEINE_SECRET_MOST  8192 /* bytes */
#define SEINE_SECRETS      64   /* values of a set */

typedef struct seine_secrets seine_secrets;

SEINE_BEGIN

/* NOMEM. */
SEINE_MUST_CHECK seine_err seine_secrets_new(seine_secrets **out_secrets);
void seine_secrets_free(seine_secrets *s); /* and wipes the values */

/* Adds a value; OK also for one that is in the set, or too short to be searched for.
 * RANGE: longer than SEINE_SECRET_MOST. FULL. NOMEM. */
SEINE_MUST_CHECK seine_err seine_secrets_add(seine_secrets *s, const char *bytes,
                                             size_t n);

/* Adds a value that came while the program runs, such as a cookie that a server set; OK
 * as above. The newest are kept, with all their spellings 4 MiB. RANGE, NOMEM. */
SEINE_MUST_CHECK seine_err seine_secrets_learn(seine_secrets *s, const char *bytes,
                                               size_t n);

/* Adds the value of a field and the secrets inside it: the token behind "Bearer", the
 * password inside of "Basic", each cookie. Adds nothing for a field that is no secret
 * (seine_secret_is_field). Errors as above. */
SEINE_MUST_CHECK seine_err seine_secrets_add_field(seine_secrets *s, const char *name,
                                                   size_t name_len, const char *value,
                                                   size_t value_len);

/* Is a field that a user adds to requests a secret? All are, except those that say who
 * asks (User-Agent, From), what can be read (Accept, Accept-Language, Accept-Encoding),
 * and those that describe the request itself: Host, Connection, Content-…, conditions,
 * Range, Referer and the directives of caches. */
bool seine_secret_is_field(const char *name, size_t n);

/* Writes at most `cap` bytes of the redacted text, without a terminator; returns the
 * length of the whole. The text may be any bytes; `s` may be NULL. */
size_t seine_redact(const seine_secrets *s, const char *text, size_t n, char *out_bytes,
                    size_t cap);

/* Writes zeros in a way that no compiler leaves out. */
void seine_wipe(void *bytes, size_t n);

SEINE_END

#endif
