/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - rendering and copying records.
 *
 * The members of a result, in the order in which they are written, are one table: the
 * words of `fields`, and the bits of seine_members.
 *
 * Time    plays no part.
 * Memory  a copy is one block: the record first, then everything it points to.
 * Threads any thread.
 */
#ifndef SN_RECORD_H
#define SN_RECORD_H

#include "seine/record.h"
#include "store/text_writer.h"

/* The number of fates and reasons in this version; the public interface has room for
 * more. */
enum {
#define X(id, name) SN_FATE_AT_##id,
    SEINE_FATES(X)
#undef X
        SN_FATE_COUNT
};

enum {
#define X(id, name) SN_SKIP_AT_##id,
    SEINE_SKIPS(X)
#undef X
        SN_SKIP_COUNT
};

enum {
#define X(id, name) SN_WAIT_AT_##id,
    SEINE_WAITS(X)
#undef X
        SN_WAIT_COUNT
};

_Static_assert(SN_FATE_COUNT <= SEINE_FATE_ROOM && SN_SKIP_COUNT <= SEINE_SKIP_ROOM &&
                   SN_WAIT_COUNT <= SEINE_WAIT_ROOM,
               "the contract has room for all of them");

/* clang-format off */
#define SN_MEMBERS(X) \
    X(V,              "v") \
    X(TYPE,           "type") \
    X(JOB,            "job") \
    X(SEQ,            "seq") \
    X(TS,             "ts") \
    X(INPUT,          "input") \
    X(LINE,           "line") \
    X(ID,             "id") \
    X(TAGS,           "tags") \
    X(URL,            "url") \
    X(KEY,            "key") \
    X(FINAL_URL,      "final_url") \
    X(REDIRECTS,      "redirects") \
    X(METHOD,         "method") \
    X(HOST,           "host") \
    X(IP,             "ip") \
    X(HTTP,           "http") \
    X(DEPTH,          "depth") \
    X(PARENT,         "parent") \
    X(VIA,            "via") \
    X(REFERRERS,      "referrers") \
    X(OUTCOME,        "outcome") \
    X(OK,             "ok") \
    X(CHANGE,         "change") \
    X(STATUS,         "status") \
    X(ERROR,          "error") \
    X(ATTEMPTS,       "attempts") \
    X(TRIES,          "tries") \
    X(HEADERS,        "headers") \
    X(CONTENT_TYPE,   "content_type") \
    X(CHARSET,        "charset") \
    X(CHARSET_FROM,   "charset_from") \
    X(CHARSET_ERRORS, "charset_errors") \
    X(CONTENT_LENGTH, "content_length") \
    X(BYTES_IN,       "bytes_in") \
    X(BYTES_BODY,     "bytes_body") \
    X(PARTIAL,        "partial") \
    X(NOTES,          "notes") \
    X(TIME,           "time") \
    X(TLS,            "tls") \
    X(TITLE,          "title") \
    X(LANG,           "lang") \
    X(CANONICAL,      "canonical") \
    X(META_ROBOTS,    "meta_robots") \
    X(LINKS,          "links") \
    X(DATA,           "data") \
    X(EXTRACT,        "extract") \
    X(SHA256,         "sha256") \
    X(BODY,           "body") \
    X(BODY_B64,       "body_b64") \
    X(BODY_FILE,      "body_file") \
    X(WARC,           "warc")
/* clang-format on */

enum sn_member_index {
#define X(id, name) SN_MEMBER_INDEX_##id,
    SN_MEMBERS(X)
#undef X
        SN_MEMBER_COUNT
};

#define SN_MEMBER(id) (UINT64_C(1) << SN_MEMBER_INDEX_##id)

/* Set if members were chosen: choosing none is a choice too. */
#define SN_MEMBER_CHOSEN (UINT64_C(1) << 63)

/* Written for a crawled page, and for others on request. */
#define SN_MEMBERS_CRAWL \
    (SN_MEMBER(LANG) | SN_MEMBER(CANONICAL) | SN_MEMBER(META_ROBOTS) | SN_MEMBER(LINKS))

/* From this bit on: crawl members that were removed, or chosen. */
#define SN_MEMBERS_LESS 56

/* All members but those written on request only. */
#define SN_MEMBERS_STANDARD                   \
    (((UINT64_C(1) << SN_MEMBER_COUNT) - 1) & \
     ~(SN_MEMBERS_CRAWL | SN_MEMBER(HEADERS) | SN_MEMBER(SHA256) | SN_MEMBER(CHANGE)))

/* Returns the bits; NULL: the standard set. */
uint64_t sn_members_of(const seine_members *fields);

/* Returns the members that get a CSV column on request and that this record has. */
uint64_t sn_record_extras(const seine_record *r);
#define SN_MEMBERS_EXTRA (SN_MEMBERS_CRAWL | SN_MEMBER(SHA256) | SN_MEMBER(CHANGE))

/* How a record becomes a JSON line. */
typedef struct sn_record_form {
    uint64_t members; /* of seine_members */
    seine_body_form body;
    sn_str job; /* the name of the job, which needs no escapes; NULL: none */
} sn_record_form;

void sn_record_json(sn_text_writer *p, const seine_record *r, uint64_t seq,
                    const sn_record_form *form);

/* A NULL record means the line of column names. `how`: SEINE_CSV_*. */
void sn_record_csv(sn_text_writer *p, const seine_record *r, uint64_t seq,
                   uint64_t members, unsigned how);

/* Returns the size of a block for the record and everything it points to; copies it into
 * such a block, aligned for any type. */
size_t sn_record_room(const seine_record *r);
seine_record *sn_record_copy(const seine_record *r, void *block);

#endif
