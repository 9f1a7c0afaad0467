/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag.h - how the library fills a seine_diag, and how its texts name options.
 *
 *     if (per_host == 0)
 *         return sn_diag_option(diag, "per_host", "at least 1");
 *     if (!is_net(net))
 *         return sn_diag_value(diag, "allow_net", net, "not understood");
 *
 * Each call replaces what the diag said before; a NULL diag is fine. No text names an
 * option by the flag of some program: the member stands in `member`, and texts of records
 * are templates in which "@per_host" marks it.
 *
 * Time    plays no part.
 * Memory  the caller's; what is too long is cut, between characters where it can be.
 * Threads any thread.
 */
#ifndef SN_DIAG_H
#define SN_DIAG_H

#include "base/str.h"
#include "seine/diag.h"
#include "seine/err.h"

#define SN_DIAG_ERRNO 80
#define SN_DIAG_COUNT 32

void sn_diag_clear(seine_diag *d);

/* A text alone. */
void sn_diag_text(seine_diag *d, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A member and what is wrong with it. Returns CONFIG. */
seine_err sn_diag_option(seine_diag *d, const char *member, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for one value: "'10.0.0/8': not understood". Control characters of the value
 * become "?"; as much of it is shown as leaves room for `what`, at most 80 bytes.
 * Returns CONFIG. */
seine_err sn_diag_value(seine_diag *d, const char *member, sn_str value,
                        const char *what);

/* Adds where that is: a path, which may be NULL, and a line from 1 (0: none). */
void sn_diag_place(seine_diag *d, const char *path, uint64_t line, uint64_t column);

/* A path as people see it: the end of a long one, nothing that moves a cursor. */
void sn_diag_path(const char *path, char out[SEINE_DIAG_FILE]);

/* The system's words for errno: "no space left on device". */
void sn_diag_errno(int error, char out[SN_DIAG_ERRNO]);

/* A number as people read it: "8,112". */
void sn_diag_count(uint64_t n, char out[SN_DIAG_COUNT]);

/* How a member is shown: by `names`, or as it is. */
const char *sn_diag_shown(const seine_diag_name *names, const char *member);

/* Writes the template with each "@member" shown so (an "@" before anything else stays),
 * terminated and cut to `cap` bytes; returns the length of what was written. */
size_t sn_diag_expand(const seine_diag_name *names, const char *template_text, char *buf,
                      size_t cap);

#endif
