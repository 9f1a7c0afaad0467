/* SPDX-License-Identifier: Apache-2.0 */
#include "console/response_fields.h"

#include <stdio.h>
#include <string.h>

static const char policy_head[] =
    "default-src 'none'; script-src 'self'; style-src 'self'";
static const char policy_tail[] =
    "; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'";

/* Fields that every response has. */
static const char *const always[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Permissions-Policy",
     "accelerometer=(), camera=(), geolocation=(), gyroscope=(), magnetometer=(), "
     "microphone=(), payment=(), usb=(), display-capture=(), midi=(), "
     "screen-wake-lock=(), xr-spatial-tracking=()"},
};

/* A name of a download: letters, digits and a few signs; others become `_`. */
static void
disposition(const char *file, char out[240])
{
    size_t n = (size_t)snprintf(out, 240, "attachment; filename=\"");

    for (const char *c = file; *c && n < 200; c++)
        out[n++] = sn_is_alpha(*c) || sn_is_digit(*c) || strchr("._-", *c) ? *c : '_';
    out[n++] = '"';
    out[n] = '\0';
}

void
sn_response_fields(const sn_call *call,
                   void (*add)(void *arg, const char *name, const char *value), void *arg)
{
    const sn_reply *r = &call->reply;
    char text[640];

    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        add(arg, always[i][0], always[i][1]);
    if (r->nonce[0])
        snprintf(text, sizeof text, "%s 'nonce-%s'%s", policy_head, r->nonce,
                 policy_tail);
    else
        snprintf(text, sizeof text, "%s%s", policy_head, policy_tail);
    add(arg, "Content-Security-Policy", text);
    add(arg, "Cache-Control", r->cache ? r->cache : "no-store");
    if (r->type)
        add(arg, "Content-Type", r->type);
    if (r->encoding)
        add(arg, "Content-Encoding", r->encoding);
    if (r->varies)
        add(arg, "Vary", "Accept-Encoding");
    if (r->etag[0])
        add(arg, "ETag", r->etag);
    if (r->allow[0])
        add(arg, "Allow", r->allow);
    if (r->status == 401)
        add(arg, "WWW-Authenticate", "Bearer");
    if (r->file[0]) {
        disposition(r->file, text);
        add(arg, "Content-Disposition", text);
    }
    if (r->retry_after) {
        snprintf(text, sizeof text, "%u", (unsigned)r->retry_after);
        add(arg, "Retry-After", text);
    }
    if (r->close)
        add(arg, "Connection", "close");
    add(arg, "X-Request-Id", call->id);
}
