/* SPDX-License-Identifier: Apache-2.0 */
/* record_read_parts.h - shared by the files of the reader. record_read.c reads a line,
 * record_read_member.c one member of an object, record_read_attempts.c outcome and
 * earlier attempts, record_read_response.c what the server sent. */
#ifndef SN_RECORD_READ_PARTS_H
#define SN_RECORD_READ_PARTS_H

#include "store/record_read.h"

/* record_read_member.c. A reader that finds a wrong value writes the diag and returns
 * INVAL. Strings belong to the tree; lists and decoded values to the arena. */

/* A member, and its name for messages. */
typedef struct sn_member {
    sn_record_reader *rr;
    const char *in; /* "error": the enclosing object; NULL: the record */
    const char *name;
    const seine_json *value;
} sn_member;

/* Finds the member of an object; false if absent or null. */
bool sn_member_find(sn_record_reader *rr, const seine_json *object, const char *in,
                    const char *name, sn_member *out);

/* INVAL: wrong type; right type but wrong value. */
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

/* Reads a word of a closed list: writes its index. */
seine_err sn_member_word(const sn_member *m, const char *(*name)(int), int count,
                         const char *list, int *out);

/* Reads the error kind of the object `error`. */
seine_err sn_member_error(sn_record_reader *rr, const seine_json *error, const char *in,
                          seine_err *out);

/* Reads an array and allocates zeroed memory for its elements. */
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
