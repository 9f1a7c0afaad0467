/* SPDX-License-Identifier: Apache-2.0 */
/* control_answer.h - what a running job answers to one line of its socket. */
#ifndef CLI_CONTROL_ANSWER_H
#define CLI_CONTROL_ANSWER_H

#include "jobs/control.h"

/* {"ok":…} or {"error":…}, whatever the bytes are. */
seine_json *control_answer(const control_hooks *h, const char *bytes, size_t n);
seine_json *control_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* control_set.c: changes limits by the members of the line. True; or false, and `why`. */
bool control_set(const control_hooks *h, const seine_json *line, char why[320]);

/* The same without a run: would they do? */
bool control_set_check(const seine_json *line, char why[320]);

#endif
