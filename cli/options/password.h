/* SPDX-License-Identifier: Apache-2.0 */
/* password.h - asks for a password on the on_terminal, and shows nothing of it. */
#ifndef CLI_PASSWORD_H
#define CLI_PASSWORD_H

#include <stddef.h>

/* SAY_DONE: *out_text is the caller's, to wipe and to free. Otherwise it was said that
 * there is no on_terminal, or who was asked pressed ^C. */
int password_ask(const char *name, char **out_text, size_t *out_len);

#endif
