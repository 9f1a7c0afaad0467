/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response_fields.h - the header fields of a response, which keep a browser from doing
 * anything with it that its page does not ask for.
 *
 * Time    plays no part.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_RESPONSE_FIELDS_H
#define SN_RESPONSE_FIELDS_H

#include "console/api_call.h"

/* Calls `add` for each field of the call's reply. */
void sn_response_fields(const sn_call *call,
                        void (*add)(void *arg, const char *name, const char *value),
                        void *arg);

#endif
