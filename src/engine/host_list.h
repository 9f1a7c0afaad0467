/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_list.h - does the list of `domains` name this host?
 *
 *     e.example       the host and all below it, as with wget -D
 *     .e.example      the same
 *     *.e.example     the same
 *     img*.e.example  * is any bytes, dots too, ? is one; the pattern is the whole name
 *     e.example:8080  only on that port
 *     10.0.0.5        an address; [::1] likewise
 *
 * Names without wildcards are looked up label by label from the right, so that a long
 * list costs no more than a short one. Patterns are tried one after the other.
 *
 * Time    plays no part.
 * Memory  the names.
 * Threads any thread: the list does not change.
 */
#ifndef SN_HOST_LIST_H
#define SN_HOST_LIST_H

#include "base/str.h"
#include "seine/diag.h"
#include "seine/err.h"

enum { SN_HOST_LIST_GLOBS = 1000 };

typedef struct sn_host_list sn_host_list;

/* The list ends with NULL. CONFIG: the diag says which is no
 * host. NOMEM. */
SEINE_MUST_CHECK seine_err sn_host_list_new(const char *const *texts,
                                            sn_host_list **out_list, seine_diag *diag);
void sn_host_list_free(sn_host_list *n); /* NULL is fine */

/* The name as seine_url_name gives it. */
bool sn_host_list_has(const sn_host_list *n, sn_str name, int port);

#endif
