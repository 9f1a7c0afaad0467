/* SPDX-License-Identifier: Apache-2.0 */
/*
 * structured_field.h - reads a structured field of HTTP (RFC 9651, before it RFC 8941).
 *
 *     sn_cursor t = sn_trimmed(value, len);
 *     while (!sn_ended(&t)) {
 *         if (!sn_field_member(&t, &member))
 *             return false;
 *         while ((more = sn_field_parameter(&t, &key, &item)) == SN_FIELD_MORE)
 *             take(&member, &key, &item);
 *         if (more == SN_FIELD_BAD || !sn_field_comma(&t))
 *             return false;
 *     }
 *
 * A list has members with parameters: items, or inner lists of items. An item is an
 * integer of at most 15 digits, a decimal of at most 12 and 3, a string, a token, bytes
 * in base64, a boolean, a date or a display string. Each is read to the letter, and an
 * error anywhere makes the whole field void (RFC 9651, 4.2): the caller drops what it
 * took. Texts are borrowed from the value, as they stand between their quotes.
 *
 * Time    linear, with no way back.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_STRUCTURED_FIELD_H
#define SN_STRUCTURED_FIELD_H

#include "text/cursor.h"

typedef enum sn_field_kind {
    SN_FIELD_INTEGER,
    SN_FIELD_DECIMAL,
    SN_FIELD_STRING,
    SN_FIELD_TOKEN,
    SN_FIELD_BYTES,
    SN_FIELD_BOOLEAN,
    SN_FIELD_DATE,
    SN_FIELD_DISPLAY,
    SN_FIELD_INNER /* an inner list, which was read to its end */
} sn_field_kind;

typedef struct sn_field_item {
    sn_field_kind kind;
    int64_t n;      /* integer; Unix seconds of a date; 1000 times a decimal; 0 or 1 */
    sn_cursor text; /* string with its escapes, token, base64, display string encoded */
} sn_field_item;

typedef enum sn_field_more { SN_FIELD_NONE, SN_FIELD_MORE, SN_FIELD_BAD } sn_field_more;

/* Reads a bare item, without its parameters. */
bool sn_field_item_read(sn_cursor *t, sn_field_item *out);

/* Reads a member of a list: a bare item, or an inner list. */
bool sn_field_member(sn_cursor *t, sn_field_item *out);

/* Reads the next parameter; one without a value is the boolean true. Of two with the same
 * key the last counts. */
sn_field_more sn_field_parameter(sn_cursor *t, sn_cursor *out_key,
                                 sn_field_item *out_value);

/* Skips the comma between two members, or finds the end. */
bool sn_field_comma(sn_cursor *t);

#endif
