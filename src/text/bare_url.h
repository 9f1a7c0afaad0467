/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare_url.h - where does a URL end that stands in running text?
 *
 *     sn_str text = SN_STR("see https://e.example/a_(b)), or"), url;
 *     bool found = sn_bare_url(text, 4, &url);       https://e.example/a_(b)
 *
 * The rules are those of GitHub's Markdown: http://, https:// and www. begin a URL where
 * no letter or digit stands before them, and the URL goes on to the next blank, angle
 * bracket or quote. Punctuation at its end belongs to the sentence, and so does a closing
 * bracket that the URL does not open.
 *
 * Time    plays no part; linear in the URL.
 * Memory  none; the result is a part of the text.
 * Threads any thread.
 */
#ifndef SN_BARE_URL_H
#define SN_BARE_URL_H

#include "base/str.h"

/* True if a URL begins at `at`. */
bool sn_bare_url(sn_str text, size_t at, sn_str *out_url);

/* True if the URL has no scheme and means http://. */
bool sn_bare_url_is_short(sn_str url);

#endif
