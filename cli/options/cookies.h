/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cookies.h - the jar of a run: --cookies, --cookie-jar FILE, -b.
 *
 * A jar is there when one of them asks for it. -b with a "=" in it is a value for the
 * hosts given, and request.h's business; without one it is a file to read, as in curl.
 */
#ifndef CLI_COOKIES_H
#define CLI_COOKIES_H

#include <seine/cookie_jar.h>

#include "options/fetch_settings.h"
#include "verbs/run_log.h"

/* Whether -b is a file. */
bool cookies_are_filed(const fetch_settings *set);

/* *out_jar is NULL when nobody asked for one. SAY_DONE, or it was said what is wrong. */
int cookies_open(const args *a, seine_cookie_jar **out_jar);

/* Saves it if there is a file for it; SAY_DONE, or SAY_MACHINE and it was said. */
int cookies_save(const fetch_settings *set, seine_cookie_jar *jar, run_log *v);

#endif
