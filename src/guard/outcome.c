/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/outcome.h"

typedef struct row {
    seine_outcome breaker, throttle;
} row;

static const row good = {SEINE_SUCCESS, SEINE_SUCCESS};
static const row bad = {SEINE_FAILURE, SEINE_FAILURE};
static const row ours = {SEINE_IGNORED, SEINE_IGNORED};

/* A complete response with a status. */
static row
judge_response(const seine_fault *f)
{
    if (f->status == 429)
        return (row){SEINE_SUCCESS, SEINE_FAILURE};
    if (f->status == 503)
        return bad;
    if (f->code == SEINE_E_HTTP_BUSY && f->status >= 500)
        return (row){SEINE_FAILURE, SEINE_SUCCESS};
    return good;
}

static row
row_of(const seine_fault *f)
{
    switch (f->code) {
    case SEINE_E_CONN_STALE: /* the idle connection's fault, not the host's */
    case SEINE_E_PROXY_ERROR:
    case SEINE_E_PROXY_REFUSED:
    case SEINE_E_PROXY_AUTH:
    case SEINE_E_ROBOTS_UNREACHABLE:
    case SEINE_E_ROBOTS:
        return ours;
    default:
        break;
    }
    switch (seine_err_group(f->code)) {
    case SEINE_OK:
    case SEINE_E_HTTP:
    case SEINE_E_HTTP_BUSY:
        return judge_response(f);
    case SEINE_E_PARSE: /* a complete response that cannot be used */
    case SEINE_E_TOO_BIG:
        return good;
    case SEINE_E_TIMEOUT:
    case SEINE_E_CONNECT:
    case SEINE_E_RESET:
    case SEINE_E_SHORT:
        /* The resolver and the proxy have breakers of their own. */
        return f->phase == SEINE_PHASE_DNS || f->phase == SEINE_PHASE_PROXY ? ours : bad;
    default: /* names, certificates, and every LOCAL error */
        return ours;
    }
}

seine_outcome
seine_outcome_breaker(const seine_fault *f)
{
    if (!f)
        return SEINE_IGNORED;
    return row_of(f).breaker;
}

seine_outcome
seine_outcome_throttle(const seine_fault *f)
{
    if (!f)
        return SEINE_IGNORED;
    return row_of(f).throttle;
}

seine_span
seine_outcome_pause(const seine_fault *f)
{
    if (!f)
        return -1;
    bool asks = f->status == 429 || f->status == 503 || f->status == 413 ||
                (f->status >= 300 && f->status < 400);

    return asks && f->retry_after >= 0 ? f->retry_after : -1;
}

bool
seine_outcome_undo(const seine_fault *f)
{
    if (!f)
        return false;
    seine_err group = seine_err_group(f->code);

    return !f->sent && f->code != SEINE_OK && group != SEINE_E_BUDGET &&
           group != SEINE_E_BUSY &&
           (seine_err_class(f->code) == SEINE_LOCAL || f->code == SEINE_E_ROBOTS ||
            f->code == SEINE_E_ROBOTS_UNREACHABLE);
}
