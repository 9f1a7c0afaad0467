/* SPDX-License-Identifier: Apache-2.0 */
/* browser.h - opens a link in the browser of whoever sits before the machine. */
#ifndef CLI_BROWSER_H
#define CLI_BROWSER_H

/* Starts xdg-open, without a shell, and looks for two seconds whether it fails. NULL: it
 * does not; else why there is no browser, for people. */
const char *browser_open(const char *link);

#endif
