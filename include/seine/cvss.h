/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cvss.h - how severe is a vulnerability, by its CVSS 3.0 or 3.1 vector?
 *
 * Vulnerability databases give a vector of metrics and often no number. The base score
 * follows from it, by the equations of FIRST's specification, section 7.1:
 *
 *     unsigned tenths;
 *     const char *vector = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H";
 *     e = seine_cvss3_base(vector, 44, &tenths);                  tenths is 98
 *     const char *word = seine_severity_name(seine_severity_of(tenths));  "critical"
 *
 * The eight base metrics stand in any order, each of them once. Temporal and
 * environmental metrics may follow; the base score does not depend on them.
 *
 * Time    plays no part.
 * Memory  nothing is allocated.
 * Threads any thread.
 */
#ifndef SEINE_CVSS_H
#define SEINE_CVSS_H

#include <stddef.h>

#include "seine/abi.h"
#include "seine/err.h"

typedef enum seine_severity {
    SEINE_SEVERITY_UNKNOWN,
    SEINE_SEVERITY_LOW,      /* above 0 */
    SEINE_SEVERITY_MEDIUM,   /* from 4.0 */
    SEINE_SEVERITY_HIGH,     /* from 7.0 */
    SEINE_SEVERITY_CRITICAL, /* from 9.0 */
} seine_severity;

SEINE_BEGIN

/* The base score in tenths, 0 to 100. PARSE: no vector of CVSS 3.0 or 3.1, or a base
 * metric is missing; INVAL: no text. */
SEINE_MUST_CHECK seine_err seine_cvss3_base(const char *vector, size_t len,
                                            unsigned *out_tenths);

/* UNKNOWN for 0: the vector says that there is no impact. */
seine_severity seine_severity_of(unsigned tenths);
const char *seine_severity_name(seine_severity s); /* "unknown", "low" … "critical" */

SEINE_END

#endif
