/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.h - turns a pattern of the shell into a regular expression for URLs.
 *
 * A pattern without a slash, like *.pdf, is matched with the last part of the path; one
 * that begins with a slash with the whole path; one with a scheme with the whole URL. A
 * query may follow. `*` stands for characters of one part of the path, two of them for
 * any, `?` for one character, [a-z] for one of a set.
 *
 *     char *re = glob_to_re("*.pdf");
 *     free(re);
 */
#ifndef CLI_GLOB_H
#define CLI_GLOB_H

#include <stdbool.h>

/* The expression; the caller frees it. */
char *glob_to_re(const char *glob);

/* Whether a text that is no regular expression looks like a pattern of the shell. */
bool glob_is_meant(const char *text);

#endif
