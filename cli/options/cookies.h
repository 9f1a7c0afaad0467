/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookies.h - the cookie jar of a run: --cookies, --cookie-jar FILE, -b.
 *
 * A run has a jar when one of these options asks for it. As in curl, -b with a "=" is the
 * value of a Cookie header, which request.h adds; -b without one names a file of cookies.
 */
#ifndef CLI_COOKIES_H
#define CLI_COOKIES_H

#include <seine/cookie_jar.h>

#include "options/fetch_settings.h"
#include "verbs/run_log.h"

/* Whether -b names a file. */
bool cookies_are_filed(const fetch_settings *set);

/* Opens the jar and reads its files. *out_jar is NULL when no option asks for a jar.
 * SAY_DONE, or the exit code after an error message. */
int cookies_open(const args *a, seine_cookie_jar **out_jar);

/* Writes the jar to the file of --cookie-jar, if there is one. SAY_DONE, or SAY_MACHINE
 * after an error message. */
int cookies_save(const fetch_settings *set, seine_cookie_jar *jar, run_log *v);

#endif
