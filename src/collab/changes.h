/* SPDX-License-Identifier: Apache-2.0 */
/* changes.h - the inside of a change set, for the files that read and write it. */
#ifndef SN_CHANGES_H
#define SN_CHANGES_H

#include "base/buf.h"
#include "seine/changes.h"
#include "seine/plumbing.h"

typedef struct sn_section {
    uint32_t units;      /* of the old text */
    uint32_t at, len;    /* bytes of the new text among those of the set */
    uint32_t text_units; /* its length */
    bool is_kept;
} sn_section;

struct seine_changes {
    sn_buf sections; /* of sn_section */
    sn_buf text;
    uint64_t from, to;
};

static inline size_t
sn_changes_count(const seine_changes *c)
{
    return c->sections.len / sizeof(sn_section);
}

static inline const sn_section *
sn_changes_section(const seine_changes *c, size_t i)
{
    return (const sn_section *)(const void *)c->sections.ptr + i;
}

static inline sn_str
sn_changes_text(const seine_changes *c, const sn_section *s)
{
    return sn_str_slice(sn_buf_view(&c->text), s->at, s->at + s->len);
}

/* Adds a section as it is, or to the one before it when both are of one kind. `text` is
 * good, and has so many units. FULL, NOMEM. */
SEINE_MUST_CHECK seine_err sn_changes_add(seine_changes *c, bool joins, uint64_t units,
                                          bool is_kept, sn_str text, uint64_t text_units);

/* Makes `to` the same set as `from`. FULL, NOMEM. */
SEINE_MUST_CHECK seine_err sn_changes_copy(const seine_changes *from, seine_changes *to);

/* As seine_changes_parse, of JSON that is read already. */
SEINE_MUST_CHECK seine_err sn_changes_read(seine_changes *c, const seine_json *json);

#endif
