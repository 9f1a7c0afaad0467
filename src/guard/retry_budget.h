/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry_budget.h - a withdrawal that can be given back.
 *
 * A retry is paid to two budgets, the host's and the process's. When the second
 * refuses, the first gets its unit back:
 *
 *     sn_retry_unit unit;
 *     if (!sn_retry_budget_take(host, now, &unit))
 *         return false;
 *     if (!seine_retry_budget_withdraw(global, now))
 *         sn_retry_budget_give(host, unit);
 */
#ifndef SN_RETRY_BUDGET_H
#define SN_RETRY_BUDGET_H

#include "seine/retry_budget.h"

/* Where a unit came from: the savings, or the reserve. `mark` is the reserve's moment
 * after the grant. */
typedef struct sn_retry_unit {
    bool reserve;
    seine_time mark;
} sn_retry_unit;

/* As seine_retry_budget_withdraw; a budget of NULL grants. */
bool sn_retry_budget_take(seine_retry_budget *b, seine_time now, sn_retry_unit *out_unit);

/* A token of the reserve returns there while it is the newest. Later, time may have
 * replaced it already, so it returns to the savings and still counts once. */
void sn_retry_budget_give(seine_retry_budget *b, sn_retry_unit unit);

#endif
