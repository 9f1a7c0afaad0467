/* SPDX-License-Identifier: Apache-2.0 */
/* password.h - asks for a password on the terminal and shows nothing of what is typed. */
#ifndef CLI_PASSWORD_H
#define CLI_PASSWORD_H

#include <stddef.h>

/* SAY_DONE: the caller wipes and frees *out_text. Otherwise the exit code, after a
 * message that there is no terminal, or after ^C. */
int password_ask(const char *name, char **out_text, size_t *out_len);

#endif
