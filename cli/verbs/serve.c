/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/say.h"
#include "serve_run/serve_run.h"
#include "verbs/verbs.h"

static int run_serve(const args *a);
static int run_token(const args *a);

#define AT(member) .at = offsetof(serve_settings, member)

/* clang-format off */
static const option options[] = {
    {"listen", NULL, KIND_TEXT, "ADDR:PORT", "127.0.0.1:8787", AT(listen),
     .help = "where it listens, or unix:PATH; port 0: the kernel chooses one",
     .more = "An address that other machines can reach is refused unless --behind-proxy or --insecure-listen is given."},
    {"port", NULL, KIND_COUNT, "N", AT(port), .max = 65535,
     .help = "the same, for 127.0.0.1 and this port"},
    {"state", NULL, KIND_TEXT, "DIR", AT(state), .member = "state_dir",
     .help = "where documents, tokens and runs are kept",
     .more = "Without it $STATE_DIRECTORY, $XDG_STATE_HOME/seine or ~/.local/state/seine."},
    {"open", NULL, KIND_FLAG, AT(open),
     .help = "open the pages in a browser, by xdg-open",
     .more = "Its link signs in once, within a minute. Where there is no browser a line says so, and the server goes on."},
    {"origin", NULL, KIND_TEXT, "URL", AT(origin), .group = "Who may come in",
     .help = "how browsers reach it: https://seine.example"},
    {"behind-proxy", NULL, KIND_FLAG, AT(behind_proxy),
     .help = "a proxy in front ends TLS; needs --origin"},
    {"trust-proxy", NULL, KIND_LIST, "CIDR", AT(trusted), .member = "trusted_proxies",
     .help = "a proxy whose X-Forwarded-For names the client; else loopback"},
    {"insecure-listen", NULL, KIND_FLAG, AT(insecure_listen),
     .help = "listen on any address although nothing encrypts"},
    {"no-auth", NULL, KIND_FLAG, AT(no_auth),
     .help = "ask nobody for a token: this machine alone",
     .more = "All other checks stay. It works on loopback addresses and Unix sockets only."},
    {"log", NULL, KIND_CHOICE, "json|text|off", "json", AT(log), .group = "Life",
     .help = "form of the log on standard output"},
    {"grace", NULL, KIND_SPAN, "D", "10s", AT(grace), .rare = true,
     .help = "how long a stop may take"},
    {"ws-echo", NULL, KIND_FLAG, AT(ws_echo), .rare = true,
     .help = "/ws/echo answers what it hears: for tests of WebSockets"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine serve", "The console; the line on standard error is the link to open:"},
    {"seine serve --open", "The same, in a browser at once:"},
    {"seine serve --behind-proxy --origin https://seine.example", "Behind a proxy that ends TLS:"},
    {NULL, NULL},
};

const command cmd_serve = {
    .name = "serve",
    .arguments = "",
    .about = "the console: watch runs, edit recipes together",
    .text = "A web server with pages, an API and WebSockets. The line on standard error is the link to open: it holds the first token, which "
            "`seine serve token` prints again. It listens on this machine alone and asks everybody for a token.\n\n"
            "It serves until INT or TERM; running jobs are stopped in order then, and can be resumed.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(serve_settings),
    .run = run_serve,
};

typedef struct token_settings {
    const char *state;
} token_settings;

static const option token_options[] = {
    {"state", NULL, KIND_TEXT, "DIR", .at = offsetof(token_settings, state),
     .help = "the state directory of the console"},
    {.name = NULL},
};

const command cmd_serve_token = {
    .name = "serve token",
    .arguments = "",
    .about = "print the first token of the console",
    .text = "The token of role admin that `seine serve` made at its first start. It stands in the file `token` of the state directory.",
    .options = token_options,
    .settings_size = sizeof(token_settings),
    .run = run_token,
};
/* clang-format on */

static int
run_serve(const args *a)
{
    const serve_settings *set = a->settings;

    if (options_given(a, "port") && options_given(a, "listen"))
        return say_fail(SAY_USAGE, "one of them", "--port and --listen");
    if (set->grace < 0)
        return say_fail(SAY_USAGE, "--grace 10s", "--grace: not below 0");
    return serve_run(a);
}

static int
run_token(const args *a)
{
    const token_settings *set = a->settings;

    return serve_token(set->state);
}
