/* SPDX-License-Identifier: Apache-2.0 */
/*
 * why.h - one clear line about what went wrong with which file, SEINE_WHY bytes.
 *
 *     char name[SN_WHY_NAME];
 *     sn_why_name(path, name);
 *     sn_why(out_why, "%s is a directory", name);
 *
 * Time    plays no part.
 * Memory  the caller's.
 * Threads any thread.
 */
#ifndef SN_WHY_H
#define SN_WHY_H

#include "seine/view.h"

#define SN_WHY_NAME 80
#define SN_WHY_TEXT 80

/* A NULL `why` is fine. What is longer is cut. */
void sn_why(char *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A path as people see it: the end of a long one, nothing that moves a cursor. */
void sn_why_name(const char *path, char out[SN_WHY_NAME]);

/* The system's words for errno: "no space left on device". */
void sn_why_text(int error, char out[SN_WHY_TEXT]);

#endif
