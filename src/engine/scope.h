/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - does this link belong to the crawl, and which rule says no?
 *
 * Every given URL opens a scope around itself: its host, its registrable domain or its
 * directory, as `crawl->scope` says; further hosts may be named. A link outside all of
 * them is `offsite`. Then the text of the URL is sifted by `exclude` and `include`
 * (engine/url_filter).
 *
 *     e = sn_scope_new(&opts, &s, &diag);
 *     e = sn_scope_seed(s, &seed);                  https://e.example/docs/index.html
 *     sn_scope_judge(s, &link, false, &verdict);    https://other.example/
 *     if (!verdict.in)
 *         refuse(verdict.reason, verdict.rule);     OFFSITE, "scope host"
 *
 *     host    the same name and port; http and https, each on its own port, are one
 *     domain  the same registrable domain (text/psl), any port; an address, a single
 *             label and a public suffix are domains of their own
 *     prefix  a host, and a path below the directory of the given URL: all that stands
 *             in front of its last slash
 *     any     everything
 *
 * A named host, "e.example", is the host and all below it, on any port, and so are
 * ".e.example" and "*.e.example"; with other wildcards the pattern is the whole name.
 * ":8080" at its end asks for that port.
 *
 * Time    plays no part. A URL is judged in about 50 ns where there are no patterns.
 * Memory  about 100 bytes a given host or directory, and the patterns.
 * Threads any thread. Judging takes no lock.
 */
#ifndef SN_SCOPE_H
#define SN_SCOPE_H

#include "seine/fetch.h"
#include "seine/url.h"

enum { SN_SCOPE_RULE = 160 };

typedef struct sn_scope sn_scope;

/* Of the options `include`, `exclude`, `crawl` and `names` count; without `crawl` nothing
 * is offsite. They are not needed after the call. CONFIG with a diag: a pattern, a named
 * host or a scope that is none. NOMEM; IO: no list of public suffixes. */
SEINE_MUST_CHECK seine_err sn_scope_new(const seine_fetch_opts *o, sn_scope **out,
                                        seine_diag *diag);
void sn_scope_free(sn_scope *s); /* NULL is fine */

/* A given URL: its host, domain or directory is in from here on. One without a usable
 * host adds nothing. NOMEM. */
SEINE_MUST_CHECK seine_err sn_scope_seed(sn_scope *s, const seine_url *seed);

/* A given URL redirects. Within its registrable domain the scope goes with it: the host
 * of the target is in; of scope prefix its directory, unless that lies above the one
 * that was given: then it is the given directory, on that host. NOMEM. */
SEINE_MUST_CHECK seine_err sn_scope_widen(sn_scope *s, const seine_url *from,
                                          const seine_url *to);

/* Whether a given URL has led to this one, and the scope went with it: if this one
 * redirects, too, the scope goes on. */
bool sn_scope_was_target(const sn_scope *s, const seine_url *url);

typedef struct sn_scope_verdict {
    bool in;
    seine_skip reason; /* OFFSITE, PATTERN; of one that is in: nothing */
    char rule[SN_SCOPE_RULE];
    uint16_t len; /* of the rule, which is terminated; 0: in */
} sn_scope_verdict;

/* An http or https URL, found or given. Of a given one in a crawl only `exclude` is
 * asked. Fragment and user information are not looked at. */
void sn_scope_judge(const sn_scope *s, const seine_url *url, bool is_given,
                    sn_scope_verdict *out);

#endif
