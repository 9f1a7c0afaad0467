/* SPDX-License-Identifier: Apache-2.0 */
#include "net/head.h"

#include <string.h>

#include "base/alloc.h"

#define SMALLEST 2048
#define LARGEST  (272 << 10) /* 256 KiB of text and 1,000 fields */

void
sn_head_init(sn_head *head, seine_held *held)
{
    *head = (sn_head){.held = held};
}

void
sn_head_fini(sn_head *head)
{
    if (head->held && head->text)
        seine_budget_shrink(head->held, SEINE_RES_MEMORY, head->room);
    sn_free(head->text);
    *head = (sn_head){0};
}

void
sn_head_reset(sn_head *head)
{
    head->len = head->n_fields = head->reason = head->reason_len = 0;
    head->status = 0;
    head->minor = 0;
}

seine_err
sn_head_grow(sn_head *head, size_t need)
{
    size_t room = head->room > 0 ? head->room : SMALLEST;

    while (room < need)
        room *= 2;
    if (room > LARGEST && need <= LARGEST)
        room = LARGEST;
    if (room > UINT32_MAX / 2)
        return SEINE_E_NOMEM;
    if (head->held) {
        seine_err e = seine_budget_grow(head->held, SEINE_RES_MEMORY, room - head->room);

        if (e != SEINE_OK)
            return e;
    }
    char *text = sn_alloc(room);
    if (!text) {
        if (head->held)
            seine_budget_shrink(head->held, SEINE_RES_MEMORY, room - head->room);
        return SEINE_E_NOMEM;
    }
    if (head->text) {
        size_t table = head->n_fields * sizeof(sn_head_field);

        memcpy(text, head->text, head->len);
        memcpy(text + room - table, head->text + head->room - table, table);
    }
    sn_free(head->text);
    head->text = text;
    head->room = (uint32_t)room;
    return SEINE_OK;
}

sn_field
sn_head_field_of(const sn_head *head, uint32_t i)
{
    const sn_head_field *f = sn_head_at(head, i);

    return (sn_field){{head->text + f->name, f->name_len},
                      {head->text + f->value, f->value_len}};
}

sn_str
sn_head_reason(const sn_head *head)
{
    return (sn_str){head->text + head->reason, head->reason_len};
}

bool
sn_head_next(const sn_head *head, sn_str name, uint32_t *i, sn_str *out_value)
{
    while (*i < head->n_fields) {
        const sn_head_field *f = sn_head_at(head, (*i)++);

        if (f->name_len == name.len &&
            sn_str_eq_nocase((sn_str){head->text + f->name, f->name_len}, name)) {
            *out_value = (sn_str){head->text + f->value, f->value_len};
            return true;
        }
    }
    return false;
}

bool
sn_head_get(const sn_head *head, sn_str name, sn_str *out_value)
{
    uint32_t i = 0;

    return sn_head_next(head, name, &i, out_value);
}

void
sn_head_text(sn_str value, sn_buf *out_text)
{
    if (sn_utf8_valid(value)) {
        sn_buf_str(out_text, value);
        return;
    }
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];

        if (c < 0x80) {
            sn_buf_char(out_text, (char)c);
        } else {
            sn_buf_char(out_text, (char)(0xc0 | c >> 6));
            sn_buf_char(out_text, (char)(0x80 | (c & 0x3f)));
        }
    }
}
