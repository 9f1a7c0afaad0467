/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag.h - what is wrong with an option, an input or a file, and where exactly?
 *
 * An error code says which kind of thing failed. Where a person has to change something,
 * the function takes one parameter more, the last: a diag that the caller owns. On
 * failure the function says in it which member of the options is wrong, or which line of
 * which file, and why:
 *
 *     seine_diag diag = SEINE_DIAG;
 *     char line[SEINE_DIAG_ROOM];
 *     e = seine_fetch_new(&opts, &f, &diag);
 *     seine_diag_print(&diag, NULL, line, sizeof line);
 *
 *     member           line  text                         is printed as
 *     "max_redirects"  0     "at most 1000"               max_redirects: at most 1000
 *     "allow_net"      0     "'10.0.0/8': not a network"  allow_net '10.0.0/8': not …
 *     "" of c.txt      3     "too few fields"             c.txt:3: too few fields
 *
 * The library knows nothing of the way in which options are given to a program. Whoever
 * has another name for a member (a flag, a key of a file) passes a table of them, and
 * reads "--max-redirects: at most 1000".
 *
 * Time    plays no part.
 * Memory  the caller's; nothing is allocated, what is too long is cut.
 * Threads a diag has one owner; printing one: any thread.
 */
#ifndef SEINE_DIAG_H
#define SEINE_DIAG_H

#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"

#define SEINE_DIAG_MEMBER 32  /* bytes, the terminator included */
#define SEINE_DIAG_FILE   80  /* likewise */
#define SEINE_DIAG_TEXT   160 /* likewise */
#define SEINE_DIAG_ROOM   320 /* what a printed one needs, if names are short */
#define SEINE_DIAG_MAX    20  /* mistakes of a file that are told at once */

/* A function that takes a diag accepts NULL, empties the diag first and fills it when it
 * fails. An empty text says no more than the error code does (NOMEM). */
typedef struct seine_diag {
    char member[SEINE_DIAG_MEMBER]; /* of the options, or the key in a file; "": none */
    char file[SEINE_DIAG_FILE];     /* its name, the end of a long one; "": none */
    uint64_t line, column;          /* of the file, from 1; 0: none */
    char text[SEINE_DIAG_TEXT];     /* begins with the value in quotes, if it has one */
} seine_diag;

/* clang-format off */
#define SEINE_DIAG {"", "", 0, 0, ""}
/* clang-format on */

/* How the users of a program know a member: {"max_redirects", "--max-redirects"}. A
 * table of them ends with a NULL member; of two for one member the first counts. */
typedef struct seine_diag_name {
    const char *member, *shown;
} seine_diag_name;

SEINE_BEGIN

/* "FILE:LINE:COLUMN: text" or, without a file, "member: text". Members are shown as
 * `names` says (NULL: as they are). Writes at most `cap` bytes with the terminator;
 * returns the length of the whole line, 0 for an empty diag. */
size_t seine_diag_print(const seine_diag *diag, const seine_diag_name *names, char *buf,
                        size_t cap);

SEINE_END

#endif
