/* SPDX-License-Identifier: Apache-2.0 */
/*
 * head.h - the head of a response: status, and fields as offsets into one buffer.
 *
 * One block of memory holds the text from its front and the table of fields from its
 * back. The block starts with 2 KiB, doubles when the two meet, and is reused for the
 * next response, so that later requests allocate nothing.
 *
 *     sn_head head;
 *     sn_head_init(&head, &held);
 *     …                                          a parser fills it
 *     sn_str type;
 *     if (sn_head_get(&head, SN_STR("content-type"), &type))
 *         …
 *     sn_head_fini(&head);
 *
 * Names are compared without case. Values are the received bytes without blanks at the
 * ends; sn_head_text converts them to UTF-8.
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

/* The internal name of a public type: a field to send, or one taken from a head. */
typedef seine_field sn_field;

typedef struct sn_head_field {
    uint32_t name, name_len, value, value_len;
} sn_head_field;

typedef struct sn_head {
    char *text;    /* NULL until the first byte */
    uint32_t len;  /* of the text */
    uint32_t room; /* size of the block; the table ends there */
    uint32_t n_fields;
    uint32_t reason, reason_len;
    uint16_t status;
    uint8_t minor;    /* HTTP/1.minor */
    seine_held *held; /* NULL: unlimited */
} sn_head;

/* `held` is borrowed and may be NULL. */
void sn_head_init(sn_head *head, seine_held *held);
void sn_head_fini(sn_head *head);

/* Empties the head for the next response; keeps the memory. */
void sn_head_reset(sn_head *head);

/* Allocates a larger block, of at least `need` bytes; text and table move. BUDGET,
 * NOMEM. */
SEINE_MUST_CHECK seine_err sn_head_grow(sn_head *head, size_t need);

/* Makes room for so many bytes of text and one field. */
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

/* Appends a field; the caller made room. */
static inline void
sn_head_add(sn_head *head, sn_head_field field)
{
    *sn_head_at(head, head->n_fields++) = field;
}

/* Views into the text, valid until the head changes. */
sn_field sn_head_field_of(const sn_head *head, uint32_t i);
sn_str sn_head_reason(const sn_head *head);

/* Finds the first field of that name, without case. */
bool sn_head_get(const sn_head *head, sn_str name, sn_str *out_value);

/* Finds the next field of that name from index *i on and moves *i behind it. */
bool sn_head_next(const sn_head *head, sn_str name, uint32_t *i, sn_str *out_value);

/* Appends a value as UTF-8; an invalid value is read as Latin-1. */
void sn_head_text(sn_str value, sn_buf *out_text);

#endif
