/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chaos.h - a test server that misbehaves on request, and remembers what it saw.
 *
 * The URL says what the server does: `/delay:100ms/reset:1000/bytes:5000` waits, sends
 * 1,000 bytes of its response and resets the connection; `/ok?fail=2` gives 503 twice;
 * `/site:7:1000/p/0` is the first page of a generated site of 1,000 pages.
 * docs/user/chaos.md lists all words. A test starts a server, points a client at it and
 * reads the report:
 *
 *     seine_chaos *c;
 *     char *report;
 *     if (seine_chaos_new(NULL, &c) != SEINE_OK)
 *         return;
 *     fetch_some_urls_of(seine_chaos_url(c));
 *     if (seine_chaos_report(c, &report) == SEINE_OK)
 *         look_at(report);                      JSON; also at /_chaos/report
 *     seine_chaos_text_free(report);
 *     seine_chaos_free(c);
 *
 * Every choice follows from the seed, the key that is counted and the number of its
 * requests: the same requests in any order get the same responses.
 *
 * This header belongs to the archive libseine-chaos.a, which needs libseine.a.
 *
 * Time    the system's monotonic clock.
 * Memory  bounded, whatever a client asks for; a response of any size is generated
 *         while it is sent.
 * Threads one owner; the server runs on a thread of its own.
 */
#ifndef SEINE_CHAOS_H
#define SEINE_CHAOS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"

typedef struct seine_chaos seine_chaos;

typedef struct seine_chaos_opts {
    size_t size; /* of this struct: SEINE_CHAOS_OPTS sets it */
    uint64_t seed;
    const char *listen; /* "127.0.0.1:8080", "8080"; NULL: a port the kernel chooses */
    bool tls, dns;      /* serve HTTPS and DNS, too */
    const char *script; /* JSON lines: faults by host and path, a site; or NULL */
    uint32_t max_connections; /* 0: as many as there are descriptors, up to 65,536 */
    const char *files;        /* the directory of the word `file`; NULL: none */
} seine_chaos_opts;

#define SEINE_CHAOS_OPTS                                               \
    {                                                                  \
        sizeof(seine_chaos_opts), 1, NULL, false, false, NULL, 0, NULL \
    }

/* Defines a further word: it stands for other words, or for exact bytes. */
typedef struct seine_chaos_fault {
    const char *words; /* "delay:50ms/status:503"; NULL: none */
    const void *bytes; /* sent as they are, then FIN; NULL: none */
    size_t len;
} seine_chaos_fault;

SEINE_BEGIN

/* Listens and serves on return; NULL options are SEINE_CHAOS_OPTS. It listens on all of
 * 127/8 and nowhere else, unless `listen` names an address outside of it. INVAL: options
 * that contradict each other; CONFIG: a bad script (seine_chaos_check says where);
 * UNKNOWN: `files` is no directory that can be read; IO: the port is taken; NO_FILES;
 * NOMEM. */
SEINE_MUST_CHECK seine_err seine_chaos_new(const seine_chaos_opts *opts,
                                           seine_chaos **out_chaos);
void seine_chaos_free(seine_chaos *c); /* NULL is fine; ends its thread first */

/* "http://127.0.0.1:41234"; borrowed. */
const char *seine_chaos_url(const seine_chaos *c);

/* Other addresses: "http" is the same, "https" the one with TLS, "ca" the certificate to
 * trust there (PEM), "socks" a SOCKS5 proxy that leads to the other two, "dead" a port
 * that refuses, "hole" one that never responds, "dns" the name server as
 * "127.0.0.1:41235", "range" the addresses it listens on, usually "127.0.0.0/8". NULL:
 * unknown. */
const char *seine_chaos_where(const seine_chaos *c, const char *place);

/* The report on everything the server saw so far, as one JSON object. Free it with
 * seine_chaos_text_free. */
SEINE_MUST_CHECK seine_err seine_chaos_report(seine_chaos *c, char **out_json);
void seine_chaos_text_free(char *text); /* NULL is fine */

/* Forgets hits, figures, secrets and posted scripts; `opts.script` and added words stay.
 * Requests that are being served are not counted any more. */
void seine_chaos_reset(seine_chaos *c);

/* Adds a word. INVAL: the name is a word of the grammar or no name, or the words are
 * wrong; ALREADY; FULL: 64 are there; NOMEM. */
SEINE_MUST_CHECK seine_err seine_chaos_add(seine_chaos *c, const char *word,
                                           const seine_chaos_fault *f);

/* Reads a script without serving it. CONFIG, NOMEM: the diag says what is
 * wrong with which line. */
SEINE_MUST_CHECK seine_err seine_chaos_check(const char *script, seine_diag *diag);

/* Lists the true structure of a generated site, without a server: one JSON line per URL,
 * passed to `line` in pieces of whole lines until `line` returns false. `base` is the
 * address of the site, "http://127.0.0.1:8080"; the hosts of a site with several have
 * its port, the dead ones `dead_port`. INVAL: the diag says what is wrong with
 * `spec` or `base`; CANCELED: `line` returned false; NOMEM. */
SEINE_MUST_CHECK seine_err seine_chaos_site(
    const char *spec, const char *base, uint16_t dead_port,
    bool (*line)(const char *lines, size_t len, void *arg), void *arg, seine_diag *diag);

SEINE_END

#endif
