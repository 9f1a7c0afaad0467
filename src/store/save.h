/* SPDX-License-Identifier: Apache-2.0 */
/* save.h - the file extension for a content type: "html"; "bin" if unknown. Pure; any
 * thread. */
#ifndef SN_SAVE_H
#define SN_SAVE_H

#include "base/str.h"

const char *sn_save_ending(sn_str type);

#endif
