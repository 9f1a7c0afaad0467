/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crate_gate.h - what the user forbids: --fail-under and --deny.
 *
 * A licence is denied when the expression of the crate leaves no choice without it: with
 * --deny GPL-3.0, "MIT OR GPL-3.0" passes and "MIT AND GPL-3.0" does not. A licence
 * stands for its -only, -or-later and + forms, too.
 */
#ifndef CLI_CRATE_GATE_H
#define CLI_CRATE_GATE_H

#include <stdbool.h>
#include <stddef.h>

#include "options/options.h"

typedef struct crate_gate {
    unsigned fail_under; /* hundredths; 0: off */
    bool vulnerable, unsound, unmaintained;
    char **licenses;
    size_t n_licenses, licenses_cap;
} crate_gate;

/* SAY_DONE, or the exit code after a message. `has_licenses`: licences may be denied. */
int crate_gate_make(const char *fail_under, const texts *denied, bool has_licenses,
                    crate_gate *out);
void crate_gate_fini(crate_gate *g);

struct crate_report;

/* Says on standard error what does not pass; returns whether everything does. */
bool crate_gate_passes(const crate_gate *g, const struct crate_report *c);

/* Whether the licence expression needs the denied one. NULL needs none. */
bool crate_license_needs(const char *expression, const char *denied);

#endif
