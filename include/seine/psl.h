/* SPDX-License-Identifier: Apache-2.0 */
/*
 * psl.h - where does a host name stop being everybody's and start being somebody's?
 *
 * Below "com" and "co.uk" anybody may register a name; below "example.co.uk" only its
 * owner may. No rule tells one from the other, so there is a list (publicsuffix.org).
 * The public suffix of www.example.co.uk is co.uk; its site, the registrable domain, is
 * example.co.uk. A top-level domain the list does not know is a suffix by itself.
 *
 *     seine_psl *psl;
 *     e = seine_psl_new(NULL, &psl);                       the list libpsl brings
 *     n = seine_psl_site(psl, "www.example.co.uk", 17);    13: the last 13 bytes
 *     n = seine_psl_suffix(psl, "www.example.co.uk", 17);  5: "co.uk"
 *     seine_psl_free(psl);
 *
 * Names are as seine_url_name gives them: lower case, no dot at the end. International
 * ones are understood as A-labels (xn--…) and as UTF-8. Addresses are no names: ask
 * seine_url_host_is first.
 *
 * Time    plays no part.
 * Memory  the list of libpsl is part of that library; one from a file is about 1 MiB,
 *         from libpsl's own allocator.
 * Threads any thread: it does not change.
 */
#ifndef SEINE_PSL_H
#define SEINE_PSL_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/abi.h"
#include "seine/err.h"

#define SEINE_PSL_NAME 1024 /* bytes of a name; longer ones have neither */

typedef struct seine_psl seine_psl;

SEINE_BEGIN

/* The list in a file, in the format of publicsuffix.org, or for NULL the built-in one.
 * IO: no list in it, or libpsl was built without one; NOMEM. */
SEINE_MUST_CHECK seine_err seine_psl_new(const char *path, seine_psl **out_psl);
void seine_psl_free(seine_psl *psl); /* NULL is fine */

/* How many bytes at the end of the name are its site, its public suffix; 0: it has none.
 * A suffix has no site; a name with an empty label has neither. */
size_t seine_psl_site(const seine_psl *psl, const char *name, size_t len);
size_t seine_psl_suffix(const seine_psl *psl, const char *name, size_t len);

/* Rules of the list, for people who wonder which one it is. */
size_t seine_psl_count(const seine_psl *psl);

SEINE_END

#endif
