/* SPDX-License-Identifier: Apache-2.0 */
/*
 * psl.h - what is the registrable domain of a host name?
 *
 * Anybody may register a name below "com" and "co.uk"; only its owner may make one below
 * "example.co.uk". No algorithm tells the two apart, so there is a list, the public
 * suffix list (publicsuffix.org). The public suffix of www.example.co.uk is co.uk; its
 * site, the registrable domain, is example.co.uk. A top-level domain that is not in the
 * list is a public suffix too.
 *
 *     seine_psl *psl;
 *     e = seine_psl_new(NULL, &psl);                       the list libpsl brings
 *     n = seine_psl_site(psl, "www.example.co.uk", 17);    13: the last 13 bytes
 *     n = seine_psl_suffix(psl, "www.example.co.uk", 17);  5: "co.uk"
 *     seine_psl_free(psl);
 *
 * Names are as seine_url_name gives them: lower case, no dot at the end. International
 * names may be A-labels (xn--…) or UTF-8. Addresses are not names: ask seine_url_host_is
 * first.
 *
 * Time    plays no part.
 * Memory  the list of libpsl is part of that library; one from a file is about 1 MiB,
 *         from libpsl's own allocator.
 * Threads any thread: a list does not change.
 */
#ifndef SEINE_PSL_H
#define SEINE_PSL_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/abi.h"
#include "seine/err.h"

#define SEINE_PSL_NAME 1024 /* bytes of a name; longer ones have no site */

typedef struct seine_psl seine_psl;

SEINE_BEGIN

/* Reads a list from a file in the format of publicsuffix.org; NULL: the built-in list.
 * IO: the file holds no list, or libpsl was built without one. NOMEM. */
SEINE_MUST_CHECK seine_err seine_psl_new(const char *path, seine_psl **out_psl);
void seine_psl_free(seine_psl *psl); /* NULL is fine */

/* Return how many bytes at the end of the name are its site and its public suffix; 0 if
 * there is none. A suffix has no site; a name with an empty label has neither. */
size_t seine_psl_site(const seine_psl *psl, const char *name, size_t len);
size_t seine_psl_suffix(const seine_psl *psl, const char *name, size_t len);

/* Returns the number of rules, which helps to tell lists apart. */
size_t seine_psl_count(const seine_psl *psl);

SEINE_END

#endif
