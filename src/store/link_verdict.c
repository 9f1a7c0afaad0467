/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/link_verdict.h"

const char *
seine_link_verdict_name(seine_link_verdict v)
{
    static const char *const names[] = {
#define X(id, name) name,
        SEINE_LINK_VERDICTS(X)
#undef X
    };

    return (size_t)v < sizeof names / sizeof *names ? names[v] : NULL;
}

static seine_link_verdict
of_skip(const seine_record *r)
{
    switch (r->reason) {
    case SEINE_SKIP_PATTERN:
    case SEINE_SKIP_SCHEME:
    case SEINE_SKIP_ROBOTS:
    case SEINE_SKIP_PRIVATE_ADDRESS:
    case SEINE_SKIP_PORT:
        return SEINE_LINK_EXCLUDED;
    case SEINE_SKIP_BAD_URL:
    case SEINE_SKIP_BAD_INPUT:
    case SEINE_SKIP_TOO_LONG:
        return SEINE_LINK_BROKEN;
    case SEINE_SKIP_MIME:
        return SEINE_LINK_OK; /* the server has answered well, with something else */
    default:
        return SEINE_LINK_UNKNOWN;
    }
}

/* The server turns the asker away, and the link may be fine. */
static bool
is_denied(uint16_t status)
{
    return status == 401 || status == 403 || status == 407 || status == 429 ||
           status == 451 || status == 999;
}

static seine_link_verdict
of_good(const seine_record *r)
{
    for (size_t i = 0; i < r->n_hops; i++)
        if (r->hops[i].status == 301 || r->hops[i].status == 308)
            return SEINE_LINK_REDIRECTED;
    return SEINE_LINK_OK;
}

/* The URL was given up early: what its attempts say, if there were several. */
static seine_link_verdict
of_attempts(const seine_record *r)
{
    size_t bad = 0;

    for (size_t i = 0; i < r->n_tries; i++) {
        const seine_record_try *t = &r->tries[i];

        bad += t->status >= 500 ||
               (t->err != SEINE_OK && seine_fate_of(t->err) == SEINE_FATE_NETWORK_ERROR);
    }
    return bad > 1 && bad == r->n_tries ? SEINE_LINK_BROKEN : SEINE_LINK_UNKNOWN;
}

static bool
is_good_status(uint16_t status)
{
    return status >= 200 && status < 300;
}

seine_link_verdict
seine_link_verdict_of(const seine_record *r)
{
    if (!r)
        return SEINE_LINK_UNKNOWN;
    if (r->type == SEINE_RECORD_SKIP)
        return of_skip(r);
    if (r->fate != SEINE_FATE_OK && is_denied(r->status))
        return SEINE_LINK_DENIED;
    seine_err code = r->fault ? r->fault->code : SEINE_OK;
    switch (r->fate) {
    case SEINE_FATE_OK:
        return of_good(r);
    case SEINE_FATE_HTTP_ERROR:
    case SEINE_FATE_NETWORK_ERROR:
        return SEINE_LINK_BROKEN;
    case SEINE_FATE_BAD_RESPONSE: /* a limit of ours says nothing about the link */
        return code == SEINE_E_BODY_TOO_LARGE && is_good_status(r->status)
                   ? of_good(r)
                   : SEINE_LINK_BROKEN;
    case SEINE_FATE_TIMEOUT:
        return SEINE_LINK_TIMEOUT;
    case SEINE_FATE_BLOCKED:
        return code == SEINE_E_ROBOTS_UNREACHABLE ? SEINE_LINK_UNKNOWN
                                                  : SEINE_LINK_EXCLUDED;
    case SEINE_FATE_GAVE_UP:
        return of_attempts(r);
    default:
        return SEINE_LINK_UNKNOWN;
    }
}
