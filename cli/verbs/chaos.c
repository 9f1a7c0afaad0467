/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/chaos.h>
#include <seine/plumbing.h>

#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *listen, *script, *site, *files, *report, *ca_out;
    uint64_t seed;
    bool listen_any, dns, tls;
} settings;

static int run_chaos(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"listen", NULL, KIND_TEXT, "ADDR:PORT", "127.0.0.1:0", AT(listen), .env = true,
     .help = "port to listen on; 0: the kernel chooses one",
     .more = "Any address of 127/8 means all of them. Others need --listen-any."},
    {"listen-any", NULL, KIND_FLAG, AT(listen_any),
     .help = "allow --listen to leave the loopback device",
     .more = "Whoever can reach the port can then make this machine send anything to them."},
    {"dns", NULL, KIND_FLAG, AT(dns),
     .help = "serve names, too: *.test, over UDP and TCP"},
    {"tls", NULL, KIND_FLAG, AT(tls),
     .help = "serve HTTPS, too, with certificates made here",
     .more = "A label of the name says what is wrong with its certificate or the handshake: expired, future, wronghost, selfsigned, untrusted, "
             "fresh, client, tls10, tls12, noresume, stall, garbage, alert, fin, reset. Anything else is right."},
    {"ca-out", NULL, KIND_FILE, "FILE", AT(ca_out),
     .help = "write the certificate of its authority to FILE (PEM)",
     .more = "Made anew at every start. Its key never leaves the program."},
    {"seed", NULL, KIND_COUNT, "N", "1", AT(seed),
     .help = "the same seed gives the same answers"},
    {"site", NULL, KIND_TEXT, "SPEC", AT(site),
     .help = "a generated site at the root: demo, or SEED:PAGES[:…]",
     .more = "`1:1000:fan=8:robots=5:sitemap=on` has 1,000 pages, of which 5 % are disallowed by its robots.txt. Settings: fan, dup, broken, "
             "redir, fail, flaky, robots, hosts, dead, sitemap, trap."},
    {"files", NULL, KIND_FILE, "DIR", AT(files),
     .help = "serve files below DIR with the word `file`",
     .more = "/delay:1s/file:shop/list-1.html is DIR/shop/list-1.html, a second late. Symbolic links and names that leave DIR are 404. A script "
             "gives files other URLs: {`match`:`/list?page=1`, `fault`:`file:shop/list-1.html`}."},
    {"script", NULL, KIND_FILE, "FILE", AT(script),
     .help = "faults by host and path, one JSON object a line",
     .more = "{`host`:`a.test`, `match`:`/api*`, `nth`:`3-5`, `fault`:`reset:500`}; the first line that matches wins. `-` is standard input."},
    {"report", NULL, KIND_FILE, "FILE", AT(report),
     .help = "at the end, write what it saw as JSON; -: stdout",
     .more = "The same as /_chaos/report, at the moment of the first INT or TERM."},
    {.name = NULL},
};

static const example examples[] = {
    {"seine chaos",
     "Then ask for trouble: curl http://127.0.0.1:41234/delay:1s/reset:40/ok"},
    {"seine chaos --site demo --report seen.json",
     "A site of 1,000 pages where half of the first requests fail:"},
    {"seine chaos --dns --script faults.jsonl",
     "Names under .test, and faults that need no special URLs:"},
    {"seine chaos --files recipes",
     "Saved pages, with faults: curl http://127.0.0.1:41234/reset:400/file:shop/pages/list-1.html"},
    {NULL, NULL},
};

const command cmd_chaos = {
    .name = "chaos",
    .arguments = "",
    .about = "serve faults on request: the evil test server",
    .text = "A path is a list of faults, applied from left to right, and what to serve: /delay:100ms/status:503, /drip:1x500ms/bytes:4k, "
            "/redir:3/ok?fail=2. An unknown word is answered with the list of all words. /_chaos/report tells what the server saw: "
            "requests per host, the closest two of them, the most in any second, who came too early, what leaked.\n\n"
            "The first line on standard output says where it is: {`http`:`http://127.0.0.1:41234`, …}. `dead` is a port that refuses, "
            "`hole` one that never answers; with --tls `https` is there and `ca`, what --ca-out wrote. It serves until INT or TERM.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .run = run_chaos,
};
/* clang-format on */

/* Reads a whole file and terminates it. NULL: after an error message. */
static char *
read_script(const char *path)
{
    enum { MOST = 1 << 20 };
    bool stream = strcmp(path, "-") == 0;
    int fd = stream ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    char *text = xalloc_zeroed(MOST + 2, 1);
    size_t len = 0;
    ssize_t n = fd < 0 ? -1 : 1;

    while (n > 0 && len <= MOST) {
        n = read(fd, text + len, MOST + 1 - len);
        len += n > 0 ? (size_t)n : 0;
    }
    int why = errno;
    if (fd > STDIN_FILENO)
        close(fd);
    if (n < 0)
        say_fail(SAY_USAGE, "another name, or - for standard input",
                 "cannot read '%s': %s", show(path).text, show_errno(why).text);
    else if (len > MOST)
        say_fail(SAY_USAGE, "a shorter one", "--script '%s': longer than 1 MiB",
                 show(path).text);
    else
        return text;
    free(text);
    return NULL;
}

/* Adds the site to the script as one more line. NULL: after an error message. */
static char *
make_script(const settings *set)
{
    char *file = set->script ? read_script(set->script) : xalloc_copy("", 0);
    seine_diag diag = SEINE_DIAG;
    bool is_bad = true;
    seine_text site = {NULL, 0};

    if (!file)
        return NULL;
    if (set->site) {
        seine_json *rule = xalloc_json(seine_json_new_object());

        jsonl_set(rule, "site", jsonl_string(set->site));
        if (seine_json_print(rule, &site) != SEINE_OK)
            xalloc_json(NULL);
        seine_json_free(rule);
    }
    if (seine_chaos_check(file, &diag) != SEINE_OK)
        say_fail(SAY_USAGE, "seine chaos --help", "%s:%" PRIu64 ": %s",
                 show(set->script).text, diag.line, diag.text);
    else if (site.bytes && seine_chaos_check(site.bytes, &diag) != SEINE_OK)
        say_fail(SAY_USAGE, "--site demo, or --site 1:1000", "--site '%s': %s",
                 show(set->site).text, diag.text);
    else
        is_bad = false;
    if (is_bad) {
        seine_text_free(&site);
        free(file);
        return NULL;
    }
    size_t len = strlen(file);
    char *all = xalloc_zeroed(site.len + len + 2, 1);
    snprintf(all, site.len + len + 2, "%s\n%s", site.bytes ? site.bytes : "", file);
    seine_text_free(&site);
    free(file);
    return all;
}

static int
no_server(const settings *set, seine_err e)
{
    if (e == SEINE_E_INVAL)
        return say_fail(SAY_USAGE, "--listen 127.0.0.1:0",
                        "--listen '%s': not an IPv4 address and a port",
                        show(set->listen).text);
    if (e == SEINE_E_UNKNOWN)
        return say_fail(SAY_USAGE, "a directory that you may read",
                        "cannot read '%s': not a directory, or not for you",
                        show(set->files).text);
    if (e == SEINE_E_IO)
        return say_fail(SAY_MACHINE, "another port; 0 lets the kernel choose",
                        "cannot listen on '%s'", show(set->listen).text);
    return say_fail(SAY_MACHINE, NULL, "cannot serve: %s", seine_err_text(e));
}

static void
print_places(const seine_chaos *c, const char *ca)
{
    static const char *const places[] = {"http", "https", "socks", "dns", "dead", "hole"};
    seine_json *line = xalloc_json(seine_json_new_object());

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (seine_chaos_where(c, places[i]))
            jsonl_set(line, places[i], jsonl_string(seine_chaos_where(c, places[i])));
    if (ca)
        jsonl_set(line, "ca", jsonl_string(ca));
    out_json(line);
    out_flush();
}

static int
write_text(const char *text, const char *path)
{
    if (strcmp(path, "-") == 0)
        path = "/dev/stdout";
    return seine_file_replace(path, text, strlen(text))
               ? SAY_DONE
               : say_fail(SAY_MACHINE, "somewhere else", "cannot write '%s': %s",
                          show(path).text, show_errno(errno).text);
}

static int
write_report(seine_chaos *c, const char *path)
{
    char *text = NULL;

    if (!path)
        return SAY_DONE;
    if (seine_chaos_report(c, &text) != SEINE_OK)
        return say_fail(SAY_MACHINE, NULL, "no memory for the report");
    int code = write_text(text, path);
    seine_chaos_text_free(text);
    return code;
}

/* Serves until a signal comes. INT and TERM are blocked before the server starts its
 * thread, so that the main thread gets them. */
static int
serve_chaos(const args *a, seine_chaos *c)
{
    const settings *set = a->settings;
    const char *range = seine_chaos_where(c, "range");
    sigset_t ends;
    int signal_ = 0;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    if (set->ca_out && write_text(seine_chaos_where(c, "ca"), set->ca_out) != SAY_DONE)
        return SAY_MACHINE;
    print_places(c, set->ca_out);
    if (!a->quiet && strcmp(range, "127.0.0.1/32") == 0)
        say_note(
            "listening on 127.0.0.1 alone: this kernel does not bind to the device lo");
    while (sigwait(&ends, &signal_) != 0)
        continue;
    int code = write_report(c, set->report);
    return code != SAY_DONE ? code : 128 + signal_;
}

static bool
is_loopback(const char *listen)
{
    return strncmp(listen, "127.", 4) == 0 || strncmp(listen, "localhost:", 10) == 0 ||
           !strchr(listen, ':') || listen[0] == ':';
}

static int
run_chaos(const args *a)
{
    const settings *set = a->settings;
    seine_chaos *c = NULL;
    sigset_t ends;

    if (!set->listen_any && !is_loopback(set->listen))
        return say_fail(SAY_USAGE, "--listen 127.0.0.1:0, or --listen-any if you mean it",
                        "--listen '%s': not an address of this machine alone",
                        show(set->listen).text);
    if (set->ca_out && !set->tls)
        return say_fail(SAY_USAGE, "seine chaos --tls --ca-out FILE",
                        "--ca-out without --tls: there is no certificate");
    char *script = make_script(set);
    if (!script)
        return SAY_USAGE;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    seine_chaos_opts opts = {.size = sizeof(seine_chaos_opts),
                             .seed = set->seed,
                             .listen = set->listen,
                             .tls = set->tls,
                             .dns = set->dns,
                             .script = script,
                             .files = set->files};
    seine_err e = seine_chaos_new(&opts, &c);
    free(script);
    int code = e == SEINE_OK ? serve_chaos(a, c) : no_server(set, e);
    seine_chaos_free(c);
    return code;
}
