/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.h - makes the body that the final word of a URL names.
 *
 *     seine_err e = snc_body_make(&wire, &plan, &stage);
 *
 * Short bodies are texts; `bytes`, pages with very many links and the lists of a site are
 * pieces that are generated while they are sent.
 *
 * Time    plays no part.
 * Memory  the stage's text; a list of a site keeps a copy of what it needs.
 * Threads one owner.
 */
#ifndef SNC_BODY_H
#define SNC_BODY_H

#include "chaos/response.h"

SEINE_MUST_CHECK seine_err snc_body_make(snc_wire *w, const snc_plan *p,
                                         const snc_stage *st);

/* How this response writes the URLs of a site. */
snc_site_base snc_body_base(const snc_plan *p, const snc_stage *st);

/* Content-Type of the final word; empty: none. */
const char *snc_body_type(const snc_plan *p);

#endif
