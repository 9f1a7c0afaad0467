/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_values.h - is this a value of an option whose text is a small language?
 *
 * The table of options calls breakers, status lists, ranges and the like texts; what they
 * mean is read later. Whoever wants to know early asks here.
 *
 *     char why[VALUES_WHY];
 *     const char *bad = text_values_check("breaker", "fail=5,open=60s", why);
 */
#ifndef CLI_TEXT_VALUES_H
#define CLI_TEXT_VALUES_H

#include "options/values.h"

/* NULL: it is, or nothing is known against it. Else the reason, for which `why` is room;
 * it may end with "; try …". */
const char *text_values_check(const char *name, const char *text, char why[VALUES_WHY]);

#endif
