/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "gate/gate.h"

/* Whole seconds, rounded up: who comes a moment too early is refused again. */
static uint64_t
seconds(seine_span span)
{
    return (uint64_t)(span / SEINE_SECS(1)) + (span % SEINE_SECS(1) > 0);
}

static char *
put(char *at, const char *text)
{
    size_t n = strlen(text);

    memcpy(at, text, n);
    return at + n;
}

static char *
put_number(char *at, uint64_t n)
{
    char digits[20];
    size_t len = 0;

    do
        digits[len++] = (char)('0' + n % 10);
    while (n /= 10);
    while (len > 0)
        *at++ = digits[--len];
    return at;
}

/* "NAME";x=N;y=M */
static void
put_pair(char *at, const char *name, const char *first, uint64_t a, const char *second,
         uint64_t b)
{
    *at++ = '"';
    at = put(put(at, name), "\"");
    at = put_number(put(at, first), a);
    at = put_number(put(at, second), b);
    *at = 0;
}

static uint64_t
at_least_one(uint64_t n)
{
    return n > 0 ? n : 1;
}

void
seine_gate_write(const seine_gate_answer *answer, seine_gate_fields *out_fields)
{
    seine_gate_fields *f = out_fields;
    char quoted[SEINE_GATE_NAME + 2] = "";

    if (!answer || !f)
        return;
    f->policy[0] = f->limit[0] = f->retry_after[0] = f->problem[0] = 0;
    uint64_t wait = seconds(answer->reset_after);
    if (!answer->allowed)
        wait = at_least_one(wait);
    if (answer->policy[0]) {
        put_pair(f->policy, answer->policy, ";q=", answer->limit,
                 ";w=", at_least_one(seconds(answer->window)));
        put_pair(f->limit, answer->policy, ";r=", answer->left, ";t=", wait);
        snprintf(quoted, sizeof quoted, "\"%s\"", answer->policy);
    }
    if (answer->allowed)
        return;
    *put_number(f->retry_after, at_least_one(seconds(answer->retry_after))) = 0;
    snprintf(
        f->problem, sizeof f->problem,
        "{\"type\":\"https://iana.org/assignments/http-problem-types#quota-exceeded\","
        "\"title\":\"Too Many Requests\",\"status\":429,\"violated-policies\":[%s]}",
        quoted);
}

void
seine_gate_client(const seine_gate_answer *answer, char out_text[46])
{
    if (!out_text)
        return;
    out_text[0] = 0;
    if (answer && answer->client_len)
        inet_ntop(answer->client_len == 4 ? AF_INET : AF_INET6, answer->client, out_text,
                  46);
}
