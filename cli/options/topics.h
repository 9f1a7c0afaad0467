/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics.h - pages to read: `seine help tutorial`, `seine help curl`, `seine help tls`.
 *
 * The pages are those of docs/user that tools/make-topics compiles into the program, so
 * that an installed program needs no files. Sections and rows are found in the text of
 * the pages: a page names no section twice.
 *
 *     screen s = screen_look(COLOR_AUTO);
 *     char *words[] = {"curl"};
 *     if (topics_show(&s, words, 1) < 0)
 *         puts(topics_near(words[0]));
 */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

#include <stddef.h>

#include "screen/screen.h"

typedef struct topic {
    const char *name;  /* "tutorial" */
    const char *about; /* one line; "": a section of the page before, "curl" */
    const char *text;  /* Markdown, not terminated */
    size_t len;
} topic;

/* Ended by a NULL name. */
extern const topic topics[];

/* The page or section of that name; NULL: there is none. */
const topic *topics_find(const char *name);

/* Prints the page, the section of a page or the rows of troubleshooting that the words
 * name: "faq", "cookbook 13", "curl", "dns_nxdomain". Returns -1 if there is none. */
int topics_show(const screen *s, char **words, size_t count);

/* Prints the rows of troubleshooting about an error kind, a status or a skip; is_apart: a
 * blank line comes first. Returns -1 if there is none. */
int topics_show_rows(const screen *s, const char *word, bool is_apart);

/* Prints what there is to read. */
int topics_list(const screen *s);

/* The topic or error kind nearest to the word; NULL: none is near enough. */
const char *topics_near(const char *word);

#endif
