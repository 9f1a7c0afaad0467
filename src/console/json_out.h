/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_out.h - members of a JSON object, written behind each other into a buffer.
 *
 *     sn_buf_char(&b, '{');
 *     sn_json_out_text(&b, "id", id);               {"id":"01J…"
 *     sn_json_out_int(&b, "n", 3);                  {"id":"01J…","n":3
 *     sn_buf_char(&b, '}');
 *
 * A comma comes first unless the buffer ends in `{` or `[`. Values are quoted whatever
 * they hold.
 *
 * Time    plays no part.
 * Memory  the buffer's.
 * Threads any thread.
 */
#ifndef SN_JSON_OUT_H
#define SN_JSON_OUT_H

#include "base/buf.h"

void sn_json_out_name(sn_buf *b, const char *name);                    /* ,"name": */
void sn_json_out_quoted(sn_buf *b, sn_str value);                      /* "value" */
void sn_json_out_text(sn_buf *b, const char *name, const char *value); /* NULL: null */
void sn_json_out_str(sn_buf *b, const char *name, sn_str value);
void sn_json_out_int(sn_buf *b, const char *name, int64_t value);
void sn_json_out_real(sn_buf *b, const char *name, double value); /* NaN: null */
void sn_json_out_bool(sn_buf *b, const char *name, bool value);
/* An RFC 3339 time with milliseconds, from those since 1970; 0: null. */
void sn_json_out_time(sn_buf *b, const char *name, int64_t ms);
/* Begins the next element of an array. */
void sn_json_out_next(sn_buf *b);

#endif
