/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract.h - the fields of a seine_extract, for the extract*.c files.
 *
 * Threads any thread, once all fields are added.
 */
#ifndef SN_EXTRACT_H
#define SN_EXTRACT_H

#include "base/str.h"
#include "seine/extract.h"
#include "seine/select.h"

typedef struct sn_extract_field {
    seine_extract_what what;
    char *name;
    char *text; /* the selector, pointer or name of a meta; NULL: all */
    char *attr; /* NULL: the text of the node */
    seine_select *select;
} sn_extract_field;

struct seine_extract {
    sn_extract_field *fields;
    size_t count, room;
    bool needs_tree, needs_links; /* of HTML */
    bool has_pointers;
};

/* The kinds that a page of this type may be: SEINE_EXTRACT_*. */
unsigned sn_extract_kinds(sn_str type);

/* True if the attribute holds a URL: "href". */
bool sn_extract_is_url(const char *attr);

#endif
