/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_ask.h - the robots.txt of a host, or of a file: what became of it?
 *
 * Asked for as a crawl asks: at the root of the URL's host, with at most 5 redirects, the
 * first 512 KiB. What the answer means is decided by the function the crawl uses.
 *
 *     code = robots_ask(&opts, words, count, &book);        all hosts at once
 *     const robots_answer *a = robots_of(&book, words[0]);
 *     robots_book_free(&book);
 */
#ifndef CLI_ROBOTS_ASK_H
#define CLI_ROBOTS_ASK_H

#include <seine/explain.h>

typedef struct robots_answer {
    seine_robots_state state;
    seine_robots *robots; /* PARSED; else NULL */
    char *source;         /* URL that answered at last, or the file's name */
    uint16_t status;      /* 0: none */
    seine_err err;        /* why there is no answer; OK */
    int64_t wall;         /* when it was asked, Unix time in ns; 0: a file */
    char authority[320];  /* "https://e.example:443"; "": of all hosts */
} robots_answer;

typedef struct robots_book {
    robots_answer *all;
    size_t count, cap;
} robots_book;

/* Fills the book for the hosts of these URLs. SAY_DONE whatever the hosts answer; or it
 * was said what is wrong: a word that is no http or https URL, an option. */
int robots_ask(const seine_fetch_opts *opts, char *const *urls, size_t count,
               robots_book *out_book);

/* The same from a file, for all hosts; "-": standard input. */
int robots_load(const char *path, robots_book *out_book);

/* The answer of the URL's host; NULL: it was not asked. */
const robots_answer *robots_of(const robots_book *b, const char *url);
void robots_book_free(robots_book *b);

/* "503", "connection refused": why it is not parsed, for people; "" where it is. */
typedef struct robots_why {
    char text[80];
} robots_why;
robots_why robots_why_of(const robots_answer *a);

#endif
