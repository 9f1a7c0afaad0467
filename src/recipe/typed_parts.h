/* SPDX-License-Identifier: Apache-2.0 */
/* typed_parts.h - what the files of typed values share. */
#ifndef SN_TYPED_PARTS_H
#define SN_TYPED_PARTS_H

#include "recipe/typed.h"

/* Writes "'7ish' is not a time". */
void sn_typed_wrong(sn_typed_error *out, const char *why, sn_str text, const char *what);

/* NULL with *out_good: NOMEM. */
seine_json *sn_typed_number_value(const sn_meaning *m, sn_str s, bool *out_good);
seine_json *sn_typed_money_value(const sn_meaning *m, sn_str s, bool *out_good);

#endif
