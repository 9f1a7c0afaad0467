/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_url.h - the URL of --redis or --store, whose password need not be typed.
 *
 *     char url[REDIS_URL_ROOM];
 *     int code = redis_url_read("redis", typed, url);    redis://…, env:NAME or file:PATH
 *     seine_wipe(url, sizeof url);
 *
 * A login that was typed is overwritten on the command line.
 */
#ifndef CLI_REDIS_URL_H
#define CLI_REDIS_URL_H

#define REDIS_URL_ROOM 1100

/* SAY_DONE, or the exit code after an error message. */
int redis_url_read(const char *option, const char *typed, char out[REDIS_URL_ROOM]);

#endif
