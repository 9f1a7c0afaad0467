/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - records inside the library: written by a pen, copied into one block.
 *
 * The members of a result, in the order in which they are written, are one table: the
 * words of --fields, and the bits of seine_fields.
 *
 * Time    plays no part.
 * Memory  a copy is one block: the record first, what it looks at behind it.
 * Threads any thread.
 */
#ifndef SN_RECORD_H
#define SN_RECORD_H

#include "seine/record.h"
#include "store/pen.h"

/* clang-format off */
#define SN_MEMBERS(X) \
    X(V,              "v",              true) \
    X(TYPE,           "type",           true) \
    X(SEQ,            "seq",            true) \
    X(TS,             "ts",             true) \
    X(INPUT,          "input",          true) \
    X(LINE,           "line",           true) \
    X(ID,             "id",             true) \
    X(TAGS,           "tags",           true) \
    X(URL,            "url",            true) \
    X(KEY,            "key",            true) \
    X(FINAL_URL,      "final_url",      true) \
    X(REDIRECTS,      "redirects",      true) \
    X(METHOD,         "method",         true) \
    X(HOST,           "host",           true) \
    X(IP,             "ip",             true) \
    X(HTTP,           "http",           true) \
    X(OUTCOME,        "outcome",        true) \
    X(OK,             "ok",             true) \
    X(STATUS,         "status",         true) \
    X(ERROR,          "error",          true) \
    X(ATTEMPTS,       "attempts",       true) \
    X(TRIES,          "tries",          true) \
    X(HEADERS,        "headers",        false) \
    X(CONTENT_TYPE,   "content_type",   true) \
    X(CHARSET,        "charset",        true) \
    X(CONTENT_LENGTH, "content_length", true) \
    X(BYTES_IN,       "bytes_in",       true) \
    X(BYTES_BODY,     "bytes_body",     true) \
    X(PARTIAL,        "partial",        true) \
    X(NOTES,          "notes",          true) \
    X(TIME,           "time",           true) \
    X(TITLE,          "title",          true) \
    X(SHA256,         "sha256",         false) \
    X(BODY,           "body",           true) \
    X(BODY_B64,       "body_b64",       true)
/* clang-format on */

enum sn_member_index {
#define X(id, name, standard) SN_MEMBER_INDEX_##id,
    SN_MEMBERS(X)
#undef X
        SN_MEMBER_COUNT
};

#define SN_MEMBER(id) (UINT64_C(1) << SN_MEMBER_INDEX_##id)

/* Set when the others were chosen: no member at all is a choice, too. */
#define SN_MEMBER_CHOSEN (UINT64_C(1) << 63)

extern const uint64_t sn_members_standard;

/* The bits to go by; NULL: the standard set. */
uint64_t sn_members_of(const seine_fields *fields);

static inline sn_str
sn_str_view(seine_view v)
{
    return (sn_str){v.ptr, v.len};
}

void sn_record_json(sn_pen *p, const seine_record *r, uint64_t seq, uint64_t members,
                    seine_body_form body);

/* A NULL record: the line of column names. `how`: SEINE_CSV_* */
void sn_record_csv(sn_pen *p, const seine_record *r, uint64_t seq, uint64_t members,
                   unsigned how);

/* Bytes of a block that holds the record and everything it looks at; the block made of
 * them, aligned for any type. */
size_t sn_record_room(const seine_record *r);
seine_record *sn_record_copy(const seine_record *r, void *block);

#endif
