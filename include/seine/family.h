/* SPDX-License-Identifier: Apache-2.0 */
/* family.h - IPv4, IPv6 or both: the address families to look up. */
#ifndef SEINE_FAMILY_H
#define SEINE_FAMILY_H

typedef enum seine_family {
    SEINE_FAMILY_ANY,
    SEINE_FAMILY_4,
    SEINE_FAMILY_6
} seine_family;

#endif
