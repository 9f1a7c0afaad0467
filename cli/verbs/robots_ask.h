/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_ask.h - the robots.txt of the hosts on the command line, or of a file.
 *
 *     seine_robots_book *book = NULL;
 *     int code = robots_ask(&opts, words, count, &book);
 *     seine_robots_book_free(book);
 */
#ifndef CLI_ROBOTS_ASK_H
#define CLI_ROBOTS_ASK_H

#include <seine/robots_fetch.h>

/* Asks the hosts of these URLs. SAY_DONE whatever the hosts answer; or the exit code
 * after an error message about a word that is no http or https URL, or about an option.
 */
int robots_ask(const seine_fetch_opts *opts, char *const *urls, size_t count,
               seine_robots_book **out_book);

/* Reads a file, which holds for all hosts; "-" is standard input. SAY_DONE, or the exit
 * code after an error message. */
int robots_load(const char *path, seine_robots_book **out_book);

/* Why robots.txt is not parsed, for people: "status 503", "connection refused"; "" if it
 * is. */
typedef struct robots_why {
    char text[80];
} robots_why;
robots_why robots_why_of(const seine_robots_answer *a);

#endif
