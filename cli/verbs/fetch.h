/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - one run of `seine fetch` or `seine crawl`, from checked settings to the
 * exit code.
 *
 * The main thread hears of signals, draws the progress bar and watches the deadline;
 * watchdog.h ends the program if the main thread cannot;
 * feed.h gives the URLs on a second thread; threads of the library fetch and write.
 */
#ifndef CLI_FETCH_H
#define CLI_FETCH_H

#include "options/options.h"

int fetch_run(const args *a);

#endif
