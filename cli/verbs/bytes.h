/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bytes.h - bytes of a case, as text, base64 or in a file, or a whole file's.
 *
 *     {"input":"é"}   {"input_b64":"w6k="}   {"input_file":"name"}
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

/* One of the three forms; none is fine, more than one and what cannot be read are
 * not. *out is written in any case. */
bool bytes_read(const seine_json *in, const char *name, bytes *out, reason *why);
void bytes_free(bytes *b);

/* A whole file, "-": standard input. Says what is wrong and answers an exit code. */
int bytes_file(const char *path, bytes *out);

#endif
