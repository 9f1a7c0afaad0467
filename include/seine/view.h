/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - a view of bytes that somebody else owns. */
#ifndef SEINE_VIEW_H
#define SEINE_VIEW_H

#include <stddef.h>

/* Not terminated. ptr NULL: absent. */
typedef struct seine_view {
    const char *ptr;
    size_t len;
} seine_view;

/* A header field: "accept", "text/html". */
typedef struct seine_field {
    seine_view name, value;
} seine_field;

#endif
