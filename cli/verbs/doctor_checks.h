/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_checks.h - the checks of `seine doctor`, one after the other.
 */
#ifndef CLI_DOCTOR_CHECKS_H
#define CLI_DOCTOR_CHECKS_H

#include "options/options.h"

typedef struct doctor_settings {
    const char *state, *target;
    texts output;
    bool json;
} doctor_settings;

typedef enum check_status { CHECK_OK, CHECK_FAIL, CHECK_UNKNOWN } check_status;

typedef struct checked {
    const char *name;
    check_status status;
    char reason[160];
    seine_span took;
} checked;

/* Runs the i-th check that applies; false: there are no more. A check without a result
 * within 5 s is unknown. */
bool checks_run(const doctor_settings *set, size_t i, checked *out);

#endif
