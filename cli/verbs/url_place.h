/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_place.h - a URL with its memory, for the verbs of `seine url`.
 */
#ifndef CLI_URL_PLACE_H
#define CLI_URL_PLACE_H

#include <seine/url.h>

#include "verbs/jsonl.h"

typedef struct url_place {
    char mem[SEINE_URL_ROOM];
    seine_url url;
} url_place;

/* Reads a reference against `base`, or a whole URL if `base` is empty. */
seine_err url_place_read(url_place *p, const seine_url *base, const char *text,
                         size_t len, seine_url_flaw *out_flaw);

/* Reads a whole URL that others are resolved against. False: `why` says what is wrong. */
bool url_place_read_base(url_place *p, const char *text, size_t len, reason *why);

/* Says in `why` what the failed reading of a URL found. Always false. */
bool url_place_refuse(const char *what, seine_err e, const seine_url_flaw *flaw,
                      reason *why);

#endif
