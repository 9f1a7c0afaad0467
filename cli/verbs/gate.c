/* SPDX-License-Identifier: Apache-2.0 */
#include "gate_run/gate_run.h"
#include "screen/say.h"
#include "verbs/verbs.h"

static int run_gate(const args *a);

#define AT(member) .at = offsetof(gate_settings, member)

/* clang-format off */
static const option options[] = {
    {"listen", NULL, KIND_TEXT, "ADDR:PORT", "127.0.0.1:8989", AT(listen),
     .help = "where proxies ask; port 0: the kernel chooses one"},
    {"rate", "r", KIND_PACE, "R", AT(rate),
     .help = "so many requests per client: 10/s, 30/m",
     .more = "The last policy, named `default`: it decides what no policy of the configuration fits."},
    {"burst", NULL, KIND_COUNT, "N", AT(burst), .min = 1, .max = UINT32_MAX,
     .help = "so many at once; else as many as in a second"},
    {"trust-proxy", NULL, KIND_LIST, "CIDR", AT(trust), .env = true, .member = "trust",
     .help = "a proxy whose X-Forwarded-For names the client",
     .more = "The client is the rightmost address in the field that is not itself trusted. Path and method of the request that the proxy asks "
             "about count from trusted peers alone, too. Without this option every peer is a client."},
    {"state", NULL, KIND_FILE, "FILE", AT(state),
     .help = "keep what clients owe over restarts",
     .more = "Read at the start, written every 10 seconds, at the end and on HUP. A file that is damaged is refused with exit code 2."},
    {"admin", NULL, KIND_TEXT, "ADDR:PORT", AT(admin), .env = true,
     .help = "where /metrics, /livez and /readyz answer",
     .more = "Without it they answer at --listen, to clients of this machine alone."},
    {"redis", NULL, KIND_TEXT, "URL", AT(redis),
     .help = "gates with the same Redis have one budget together",
     .more = "redis://[[USER]:PASSWORD@]HOST[:PORT][/DB] or unix://PATH; `env:NAME` and `file:PATH` read the URL from there. While Redis is away each gate has its share: the budget divided by the gates that "
             "were there last. It is never unlimited, and the log says so."},
    {"demo", NULL, KIND_FLAG, AT(demo),
     .help = "limit every other path, too: try it with curl"},
    {"log", NULL, KIND_CHOICE, "text|json|off", "text", AT(log),
     .help = "form of the log on standard error"},
    {"v4-prefix", NULL, KIND_COUNT, "BITS", "32", AT(v4_prefix), .min = 1, .max = 32, .env = true, .group = "Clients",
     .help = "bits of an IPv4 address that make a client"},
    {"v6-prefix", NULL, KIND_COUNT, "BITS", "64", AT(v6_prefix), .min = 1, .max = 128, .env = true,
     .help = "bits of an IPv6 address that make a client"},
    {"max-keys", NULL, KIND_COUNT, "N", "65536", AT(max_keys), .min = 1, .max = 1u << 26, .env = true,
     .help = "clients per policy that may owe tokens at a time",
     .more = "About 72 bytes each. A client that owes nothing needs no place."},
    {"overflow", NULL, KIND_CHOICE, "shared|deny|allow", "shared", AT(overflow), .env = true,
     .help = "what becomes of clients beyond that",
     .more = "They share one bucket, are refused, or pass. Nobody's debt is forgotten to make room."},
    {"redis-timeout", NULL, KIND_SPAN, "D", "100ms", AT(redis_timeout), .env = true, .rare = true,
     .help = "a decision of Redis that takes longer counts as its loss"},
    {"state-every", NULL, KIND_SPAN, "D", "10s", AT(state_every), .rare = true,
     .help = "how often the state is written"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine gate --rate 10/s --burst 20 --trust-proxy 127.0.0.1 --state gate.state",
     "Behind nginx on the same machine (docs/user/gate.md has its part):"},
    {"seine gate --rate 2/s --burst 5 --demo",
     "Try it: for i in $(seq 9); do curl -i http://127.0.0.1:8989/; done"},
    {NULL, NULL},
};

const command cmd_gate = {
    .name = "gate",
    .arguments = "",
    .about = "limit the requests of each client, for a web server",
    .text = "A small server that answers one question: may this client have one more request now? nginx asks it with auth_request at /nginx "
            "(204, or 403), Envoy, Caddy, Traefik and your own code at /check (200, or 429 with problem+json). The fields RateLimit-Policy, RateLimit "
            "and Retry-After are on the answers.\n\n"
            "Policies by path and method, keys from headers, and lists of clients that are allowed or denied stand in the section `gate` of the "
            "configuration; the first policy that fits decides. HUP reloads them with the proxies that are trusted, and every client keeps what it owes. USR1 shows figures.\n\n"
            "The first line on standard output says where it is: {`http`:`http://127.0.0.1:8989`}. It serves until INT or TERM.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(gate_settings),
    .run = run_gate,
};
/* clang-format on */

static int
run_gate(const args *a)
{
    const gate_settings *set = a->settings;

    if (options_given(a, "rate") && set->rate.count == 0)
        return say_fail(SAY_USAGE, "--rate 10/s",
                        "--rate off: a gate without a limit lets everybody in");
    if (set->burst && set->rate.count == 0)
        return say_fail(SAY_USAGE, "--rate 10/s --burst N", "--burst without --rate");
    if (set->redis && set->redis_timeout <= 0)
        return say_fail(SAY_USAGE, "--redis-timeout 100ms", "--redis-timeout 0: above 0");
    if (set->state_every <= 0)
        return say_fail(SAY_USAGE, "--state-every 10s", "--state-every 0: above 0");
    return gate_run(a);
}
