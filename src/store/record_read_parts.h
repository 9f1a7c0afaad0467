/* SPDX-License-Identifier: Apache-2.0 */
/* record_read_parts.h - what the files of the reader know of each other: record_read.c
 * reads a line, record_read_member.c one member of an object, record_read_attempts.c how
 * a URL ended and what was tried before, record_read_response.c what the server sent. */
#ifndef SN_RECORD_READ_PARTS_H
#define SN_RECORD_READ_PARTS_H

#include "store/record_read.h"

/* record_read_member.c. A reader that finds something else than it wants says so, and
 * INVAL. Strings are those of the tree; lists and what is decoded lie in the arena. */

/* A member: where it stands and how it is called there. */
typedef struct sn_member {
    sn_record_reader *rr;
    const char *in; /* "error": the object around it; NULL: the record */
    const char *name;
    const seine_json *value;
} sn_member;

/* The member of an object; false when it is not there, or null. */
bool sn_member_find(sn_record_reader *rr, const seine_json *object, const char *in,
                    const char *name, sn_member *out);

/* INVAL: of the wrong type; of the right type, and yet nothing that can stand there. */
seine_err sn_member_wrong(const sn_member *m, const char *want);
seine_err sn_member_unfit(const sn_member *m, const char *want);

seine_err sn_member_view(const sn_member *m, seine_view *out);
seine_err sn_member_int(const sn_member *m, int64_t least, int64_t most, int64_t *out);
seine_err sn_member_u64(const sn_member *m, uint64_t *out);
seine_err sn_member_u32(const sn_member *m, uint32_t *out);
seine_err sn_member_u16(const sn_member *m, uint16_t *out);
seine_err sn_member_bool(const sn_member *m, bool *out);
seine_err sn_member_stamp(const sn_member *m, int64_t *out);
seine_err sn_member_ms(const sn_member *m, seine_span *out);
seine_err sn_member_object(const sn_member *m);

/* A word of a closed list: its place there. */
seine_err sn_member_word(const sn_member *m, const char *(*name)(int), int count,
                         const char *list, int *out);

/* The kind of an error, which stands in the object `error`. */
seine_err sn_member_error(sn_record_reader *rr, const seine_json *error, const char *in,
                          seine_err *out);

/* An array, and zeroed memory for its elements. */
seine_err sn_member_list(const sn_member *m, size_t size, size_t align, size_t *out_n,
                         void *out_mem);
#define SN_MEMBER_LIST(m, type, out_n, out_list) \
    sn_member_list(m, sizeof(type), _Alignof(type), out_n, out_list)

/* record_read_attempts.c */
seine_err sn_record_read_outcome(sn_record_reader *rr);
seine_err sn_record_read_attempts(sn_record_reader *rr); /* tries, redirects */

/* record_read_response.c */
seine_err sn_record_read_answer(sn_record_reader *rr); /* sizes and version */
seine_err sn_record_read_response(sn_record_reader *rr);

#endif
