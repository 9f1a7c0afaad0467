/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_names.h - how the members of the library's options are typed.
 *
 * The library names the member that is wrong ("max_redirects"); people know the option
 * ("--max-redirects"). The table of a command's options says which is which: an option
 * sets the member of its name, with "_" for "-", or those its row names.
 *
 *     seine_diag_name *names = option_names_new(c);
 *     e = seine_fetch_new(&opts, &f, &diag);
 *     return option_names_fail(names, SAY_USAGE, "seine fetch --help", &diag, e);
 */
#ifndef CLI_OPTION_NAMES_H
#define CLI_OPTION_NAMES_H

#include <seine/diag.h>
#include <seine/err.h>

#include "options/options.h"

/* Ended by a NULL member. What rows name comes before what only has the same name. */
seine_diag_name *option_names_new(const command *c);
void option_names_free(seine_diag_name *names); /* NULL is fine */

/* Says what is wrong, or what `e` means if the diag is empty; returns `code`. */
int option_names_fail(const seine_diag_name *names, int code, const char *hint,
                      const seine_diag *diag, seine_err e);

#endif
