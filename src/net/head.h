/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.h - the head of a response: status, and fields as offsets into one buffer.
 *
 * One block of memory holds all of it: the text from the front, a table of fields
 * from the back. It begins with 2 KiB, doubles when the two meet, and is used again
 * for the next response, so that a request allocates nothing once it has grown.
 *
 *     sn_head head;
 *     sn_head_init(&head, &held);
 *     …                                          a parser fills it
 *     sn_str type;
 *     if (sn_head_get(&head, SN_STR("content-type"), &type))
 *         …
 *     sn_head_fini(&head);
 *
 * Names are compared without regard to case. Values are bytes as they came, without
 * blanks at the ends; sn_head_text makes text of them.
 *
 * Time    plays no part.
 * Memory  reserved from the budget before it grows.
 * Threads one owner.
 */
#ifndef SN_HEAD_H
#define SN_HEAD_H

#include "base/buf.h"
#include "base/str.h"
#include "seine/budget.h"

/* The library's own name for a field of the contract: one that is sent, or one that was
 * taken out of a head. */
typedef seine_field sn_field;

typedef struct sn_head_field {
    uint32_t name, name_len, value, value_len;
} sn_head_field;

typedef struct sn_head {
    char *text;    /* NULL until the first byte */
    uint32_t len;  /* of the text */
    uint32_t room; /* of the block; the table ends there */
    uint32_t n_fields;
    uint32_t reason, reason_len;
    uint16_t status;
    uint8_t minor;    /* HTTP/1.minor */
    seine_held *held; /* NULL: unlimited */
} sn_head;

/* `held` is borrowed and may be NULL. */
void sn_head_init(sn_head *head, seine_held *held);
void sn_head_fini(sn_head *head);

/* Empty, for the next response; keeps the memory. */
void sn_head_reset(sn_head *head);

/* A larger block, of at least `need` bytes; text and table move. BUDGET, NOMEM. */
SEINE_MUST_CHECK seine_err sn_head_grow(sn_head *head, size_t need);

/* Makes room for so many more bytes of text and one more field. */
SEINE_MUST_CHECK static inline seine_err
sn_head_room(sn_head *head, size_t more)
{
    size_t need = head->len + more + (head->n_fields + 1) * sizeof(sn_head_field);

    return need <= head->room ? SEINE_OK : sn_head_grow(head, need);
}

/* Field i of the table. */
static inline sn_head_field *
sn_head_at(const sn_head *head, uint32_t i)
{
    return (sn_head_field *)(void *)(head->text + head->room) - 1 - i;
}

/* Puts a field behind the others; there is room. */
static inline void
sn_head_add(sn_head *head, sn_head_field field)
{
    *sn_head_at(head, head->n_fields++) = field;
}

/* Views into the text, valid until the head changes. */
sn_field sn_head_field_of(const sn_head *head, uint32_t i);
sn_str sn_head_reason(const sn_head *head);

/* The first field of that name, in any case. */
bool sn_head_get(const sn_head *head, sn_str name, sn_str *out_value);

/* The next one from *i on, which then stands behind it: for fields that repeat. */
bool sn_head_next(const sn_head *head, sn_str name, uint32_t *i, sn_str *out_value);

/* A value as UTF-8: what is not valid is read as Latin-1. */
void sn_head_text(sn_str value, sn_buf *out_text);

#endif
