/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body.h - what the final word serves.
 *
 *     seine_err e = snc_body_make(&wire, &plan, &stage);
 *
 * Short ones are texts; `bytes`, pages with very many links and the lists of a
 * site are pieces that are made while they go out.
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

/* How the URLs of a site are written in this answer. */
snc_site_base snc_body_base(const snc_plan *p, const snc_stage *st);

/* Content-Type of the final word; empty: none. */
const char *snc_body_type(const snc_plan *p);

#endif
