/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_check.h - is this text JSON, and where is it not?
 *
 * One pass over RFC 8259's grammar, before any tree is built. The scan does not recurse,
 * keeps a bit for each level, and names the byte of an error and what was expected there.
 *
 *     sn_json_flaw flaw, note;
 *     e = sn_json_scan(text, NULL, &flaw, &note);
 *     if (e != SEINE_OK)                       BAD_JSON, JSON_TOO_DEEP
 *         complain(flaw.offset, flaw.text);
 *     else if (note.text)                      a name twice, a number too large
 *         warn(note.offset, note.text);
 *
 * A text without a flaw and without a note is read by all readers of ours.
 *
 * Time    linear in the text.
 * Memory  none; with `names` 40 to 64 bytes for each name of the objects that are open.
 * Threads any thread; `names` has one owner.
 */
#ifndef SN_JSON_CHECK_H
#define SN_JSON_CHECK_H

#include "base/buf.h"

enum {
    SN_JSON_VALUES = 1000000, /* values in one text */
    SN_JSON_DIGITS = 64       /* characters of a number */
};

typedef struct sn_json_flaw {
    size_t offset;
    const char *text; /* a constant; NULL: no flaw */
    bool wants;       /* `text` says what was expected, not what is wrong */
} sn_json_flaw;

/* The names in the open objects, to find a name that is given twice. */
typedef struct sn_json_names {
    struct sn_json_name *all;
    uint32_t *slots; /* index in `all` + 1; 0: empty */
    size_t count, room, n_slots;
    uint64_t secret[2];
    sn_buf one, two;
} sn_json_names;

void sn_json_names_init(sn_json_names *n);
void sn_json_names_fini(sn_json_names *n);

/* `raw` is the text between the quotes and is well-formed. ALREADY, NOMEM. */
SEINE_MUST_CHECK seine_err sn_json_names_add(sn_json_names *n, uint32_t object,
                                             sn_str raw);

/* Forgets the names of the object that was opened last. */
void sn_json_names_close(sn_json_names *n, uint32_t object);

/* The text between the quotes, well-formed, with its escapes decoded: itself, or the
 * content of `b`, which keeps an error. */
sn_str sn_json_unescape(sn_str raw, sn_buf *b);

/* The value of a number of at most SN_JSON_DIGITS characters, whatever the locale is. */
double sn_json_double(sn_str number);

/* Without `names` duplicates are not found. *out_note is the first note. NOMEM. */
SEINE_MUST_CHECK seine_err sn_json_scan(sn_str text, sn_json_names *names,
                                        sn_json_flaw *out_flaw, sn_json_flaw *out_note);

#endif
