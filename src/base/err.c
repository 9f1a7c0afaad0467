/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <inttypes.h>
#include <stdio.h>

/* clang-format off */
static const struct entry {
    const char *name, *text;
    seine_class class_;
    seine_err group;
} table[SN_ERR_COUNT] = {
    {"ok", "ok", SEINE_LOCAL, SEINE_OK},
#define X(number, id, name, class_, group, text) [number] = {name, text, SEINE_##class_, SEINE_E_##group},
    SEINE_ERRORS(X)
#undef X
};
/* clang-format on */

/* Codes come from files and other processes too, so unknown ones are possible. */
static const struct entry *
entry_of(seine_err e)
{
    static const struct entry stranger = {"unknown", "unknown error", SEINE_LOCAL,
                                          SEINE_E_UNKNOWN};

    return (unsigned)e < SN_ERR_COUNT ? &table[e] : &stranger;
}

const char *
seine_err_name(seine_err e)
{
    return entry_of(e)->name;
}

const char *
seine_err_text(seine_err e)
{
    return entry_of(e)->text;
}

seine_class
seine_err_class(seine_err e)
{
    return entry_of(e)->class_;
}

seine_err
seine_err_group(seine_err e)
{
    return entry_of(e)->group;
}

const char *
seine_phase_name(seine_phase p)
{
    static const char *const names[] = {"none", "dns",  "connect", "proxy",
                                        "tls",  "send", "head",    "body"};

    return (unsigned)p < sizeof names / sizeof *names ? names[p] : "none";
}

size_t
seine_fault_text(const seine_fault *f, char *buf, size_t cap)
{
    if (!f)
        return 0;
    const char *detail = f->text[0] ? f->text : seine_err_text(f->code);
    seine_err group = seine_err_group(f->code);
    int n;

    if (f->code == SEINE_E_PROXY_REFUSED || f->code == SEINE_E_PROXY_AUTH)
        group = SEINE_E_CONNECT; /* not a status of the site */
    switch (group) {
    case SEINE_E_TIMEOUT:
        n = snprintf(buf, cap, "Request timed out after %" PRId64 "ms", f->timeout_ms);
        break;
    case SEINE_E_HTTP:
    case SEINE_E_HTTP_BUSY:
        n = snprintf(buf, cap, "HTTP %u error for %s", f->status, f->url);
        break;
    case SEINE_E_PARSE:
        n = snprintf(buf, cap, "Failed to parse response: %s", detail);
        break;
    case SEINE_E_BREAKER:
        n = snprintf(buf, cap, "Circuit breaker is open");
        break;
    case SEINE_E_BUDGET:
    case SEINE_E_TOO_BIG:
        n = snprintf(buf, cap, "Resource limit exceeded: %s", detail);
        break;
    case SEINE_E_CONNECT:
    case SEINE_E_RESET:
    case SEINE_E_SHORT:
    case SEINE_E_DNS_AGAIN:
    case SEINE_E_DNS:
    case SEINE_E_TLS:
        n = snprintf(buf, cap, "Network error: %s", detail);
        break;
    default:
        n = snprintf(buf, cap, "%s", detail);
    }
    return n > 0 ? (size_t)n : 0;
}
