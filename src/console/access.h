/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - who may come in: tokens, and how often an address may guess.
 *
 *     sn_user user;
 *     switch (sn_access_login(console, token, peer, &user)) {
 *     case SEINE_OK: …
 *     case SEINE_E_LIMITED: …                  too many wrong ones from this address
 *     default: …                               UNKNOWN: no such token
 *     }
 *
 * Time    the loop's for limits, the wall's for expiry.
 * Memory  at most 1,000 tokens.
 * Threads the console's alone.
 */
#ifndef SN_ACCESS_H
#define SN_ACCESS_H

#include "console/console.h"

/* `peer` is the address that guesses; "" is not limited. */
SEINE_MUST_CHECK seine_err sn_access_login(seine_console *c, sn_str token,
                                           const char *peer, sn_user *out_user);

/* Takes one call from the user's budget; false: it is spent, come back then. */
bool sn_access_spend(seine_console *c, const sn_user *user, uint32_t *out_retry_s);

/* Remembers who did what, of an answered call that changes something. */
void sn_access_audit(const sn_call *call);

/* The address and the link with the first token, for people. */
void sn_access_name(seine_console *c);

/* Is this user still who it was? */
bool sn_access_is_current(const seine_console *c, const sn_user *user);

#endif
