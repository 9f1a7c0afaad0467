/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - the bytes of a member of a JSON case: as text, as base64 or from a file.
 *
 *     {"input":"é"}   {"input_b64":"w6k="}   {"input_file":"name"}
 *
 *     bytes b;
 *     bool good = bytes_read(in, "input", &b, &why);
 *     bytes_free(&b);
 */
#ifndef CLI_BYTES_H
#define CLI_BYTES_H

#include "verbs/jsonl.h"

#define BYTES_MOST ((size_t)64 << 20)

typedef struct bytes {
    const char *ptr; /* NULL: there is no such member */
    size_t len;
    char *own; /* what bytes_free frees */
} bytes;

/* Reads the member in one of the three forms; no member gives a NULL ptr. False: there
 * are two forms, or the bytes cannot be read. *out is written in any case. */
bool bytes_read(const seine_json *in, const char *name, bytes *out, reason *why);
void bytes_free(bytes *b);

/* Reads a whole file; "-" is standard input. SAY_DONE, or the exit code after an error
 * message. */
int bytes_file(const char *path, bytes *out);
/* The same, of a file that another file names, whose name the message has. */
int bytes_file_of(const char *path, const char *whose, bytes *out);

#endif
