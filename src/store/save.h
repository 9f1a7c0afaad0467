/* SPDX-License-Identifier: Apache-2.0 */
/* save.h - the ending of a file by the type of what is in it: "html"; "bin" for what is
 * not known. Pure; any thread. */
#ifndef SN_SAVE_H
#define SN_SAVE_H

#include "base/str.h"

const char *sn_save_ending(sn_str type);

#endif
