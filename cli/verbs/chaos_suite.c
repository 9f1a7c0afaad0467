/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
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
#include "verbs/chaos_catalogue.h"
#include "verbs/child_process.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

#define MIB ((uint64_t)1 << 20)

typedef struct settings {
    const char *cmd, *only;
    seine_span limit;
    uint64_t memory, seed;
    bool json;
} settings;

static int run_chaos_suite(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"cmd", NULL, KIND_TEXT, "'CMD {url}'", AT(cmd),
     .help = "the client to try, a line for a shell",
     .more = "`{url}` becomes a URL. `{ca}` is a file with the certificate to trust; with it, the rows over TLS run, too. Those whose "
             "certificate or handshake is wrong need names: `{host}` and `{port}` for a client that is told where they are "
             "(127.0.0.1), or `{dns}`, a name server ADDR:PORT."},
    {"only", NULL, KIND_TEXT, "TEXT", AT(only),
     .help = "rows of that group, or with that text in their URL"},
    {"limit", NULL, KIND_SPAN, "D", "10s", AT(limit),
     .help = "a client that is not done by then hangs"},
    {"memory", NULL, KIND_COUNT, "MIB", "64", AT(memory), .min = 1, .max = 1048576,
     .help = "memory it may need more than for the first row",
     .more = "The figure is the largest resident set of the command or of what it started; it is never smaller than this program's own."},
    {"seed", NULL, KIND_COUNT, "N", "1", AT(seed),
     .help = "the same seed gives the same answers"},
    {"json", "j", KIND_FLAG, AT(json),
     .help = "a JSON object per row, and one with the sums"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine chaos suite --cmd 'curl -sSf --compressed --max-time 5 {url}'",
     "What curl makes of it:"},
    {"seine chaos suite --only tls --cmd 'curl -sS --max-time 5 --cacert {ca} --resolve {host}:{port}:127.0.0.1 {url}'",
     "And of bad certificates:"},
    {NULL, NULL},
};

const command cmd_chaos_suite = {
    .name = "chaos suite",
    .arguments = "",
    .about = "run a client through the catalogue of faults and judge it",
    .text = "Every row is a URL of the evil server. Where a whole response was served the command has to end with 0, where none was with "
            "something else; where both are right it only has to end. A command that hangs, crashes or needs too much memory is wrong in any case.\n\n"
            "Ends with 1 when a row was wrong. A client that does not ask for codings, or does not decode them, is wrong about damaged ones.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .run = run_chaos_suite,
};
/* clang-format on */

/* The server, and what the command is told about it. */
typedef struct suite {
    const settings *set;
    seine_chaos *chaos;
    char ca[64];   /* a file; empty: none */
    uint64_t idle; /* memory that the command took in the first row */
    uint64_t right, wrong, skipped;
} suite;

static bool
command_uses(const suite *s, const char *word)
{
    return strstr(s->set->cmd, word);
}

static const char *
port_of(const char *url)
{
    return strrchr(url, ':') + 1;
}

static void
url_of(const suite *s, const catalogue_row *row, char *out, size_t room)
{
    const char *base = seine_chaos_where(s->chaos, row->place);

    if (row->host)
        snprintf(out, room, "https://%s:%s/%s", row->host, port_of(base), row->path);
    else
        snprintf(out, room, "%s/%s", base, row->path);
}

/* Whether the command can be judged by this row. */
static bool
case_applies(const suite *s, const catalogue_row *row)
{
    if (strcmp(row->place, "https") == 0 && !s->ca[0])
        return false;
    return !row->host || command_uses(s, "{host}") || command_uses(s, "{dns}");
}

static bool
is_wanted(const suite *s, const catalogue_row *row)
{
    const char *only = s->set->only;

    return !only || strcmp(only, row->group) == 0 || strstr(row->path, only) ||
           (row->host && strstr(row->host, only));
}

/* Fills in the placeholders of the command line; the caller frees it. */
static char *
fill_in(const suite *s, const catalogue_row *row, const char *url)
{
    const char *dns = seine_chaos_where(s->chaos, "dns");
    const char *const values[][2] = {
        {"{url}", url},
        {"{ca}", s->ca},
        {"{host}", row->host ? row->host : "127.0.0.1"},
        {"{port}", port_of(seine_chaos_where(s->chaos, row->place))},
        {"{dns}", dns ? dns : ""},
    };
    size_t room = strlen(s->set->cmd) * 40 + 1, n = 0;
    char *out = xalloc_zeroed(room, 1);

    for (const char *at = s->set->cmd; *at;) {
        size_t i = 0;

        while (i < 5 && strncmp(at, values[i][0], strlen(values[i][0])) != 0)
            i++;
        if (i == 5) {
            out[n++] = *at++;
            continue;
        }
        n += (size_t)snprintf(out + n, room - n, "%s", values[i][1]);
        at += strlen(values[i][0]);
    }
    return out;
}

/* Judges how the command ended. Returns NULL, or what is wrong. */
static const char *
judge_case(const suite *s, const catalogue_row *row, const child_end *end)
{
    if (end->late)
        return "hangs";
    if (end->code < 0)
        return "crashes";
    if (s->idle > 0 && end->rss > s->idle + s->set->memory * MIB)
        return "takes too much memory";
    if (row->want == WANT_OK && end->code != 0)
        return "refuses a whole response";
    if (row->want == WANT_FAIL && end->code == 0)
        return "takes it for a whole response";
    return NULL;
}

static void
print_row(const suite *s, const args *a, const catalogue_row *row, const char *url,
          const child_end *end, const char *why)
{
    static const char *const wants[] = {"exit 0", "failure", "an end"};
    char status[24], memory[24], fault[128];

    if (s->set->json) {
        seine_json *line = xalloc_json(seine_json_new_object());

        jsonl_set(line, "group", jsonl_string(row->group));
        jsonl_set(line, "url", jsonl_string(url));
        jsonl_set(line, "wants", jsonl_string(wants[row->want]));
        jsonl_set(line, "exit",
                  end->code < 0 ? seine_json_new_null() : seine_json_new_int(end->code));
        jsonl_set(line, "signal",
                  end->signal ? seine_json_new_int(end->signal) : seine_json_new_null());
        jsonl_set(line, "bytes", seine_json_new_int((int64_t)end->bytes));
        jsonl_set(line, "ms", seine_json_new_int(end->took / SEINE_MS(1)));
        jsonl_set(line, "rss_kb", seine_json_new_int((int64_t)end->rss / 1024));
        jsonl_set(line, "right", seine_json_new_bool(!why));
        jsonl_set(line, "verdict", jsonl_string(why ? why : "right"));
        out_json(line);
    } else {
        snprintf(status, sizeof status, end->code < 0 ? "sig %d" : "%d",
                 end->code < 0 ? end->signal : end->code);
        snprintf(memory, sizeof memory, "%.1f MiB", (double)end->rss / (double)MIB);
        snprintf(fault, sizeof fault, "%s%s%s", row->host ? row->host : "",
                 row->host ? " " : "", row->path);
        out_print("%-5s %-42s %6s %13s %9s %11s  ", row->place, fault, status,
                  figure_count(end->bytes).text, figure_span(end->took).text, memory);
        screen_put(&a->screen, why ? INK_BAD : INK_GOOD, "%s", why ? why : "right");
        out_text("\n");
    }
    out_flush();
}

static int
try_row(suite *s, const args *a, const catalogue_row *row)
{
    char url[256];
    child_end end;

    url_of(s, row, url, sizeof url);
    char *line = fill_in(s, row, url);
    bool ran = child_run(&(child_spec){.shell = line, .limit = s->set->limit}, &end);
    free(line);
    if (!ran)
        return say_fail(SAY_MACHINE, NULL, "cannot run the command: %s",
                        show_errno(errno).text);
    const char *why = judge_case(s, row, &end);
    if (s->idle == 0)
        s->idle = end.rss;
    if (why)
        s->wrong++;
    else
        s->right++;
    print_row(s, a, row, url, &end, why);
    return SAY_DONE;
}

static void
print_sums(const suite *s)
{
    if (!s->set->json) {
        out_print("%s right, %s wrong, %s skipped\n", figure_count(s->right).text,
                  figure_count(s->wrong).text, figure_count(s->skipped).text);
        return;
    }
    seine_json *line = xalloc_json(seine_json_new_object());
    jsonl_set(line, "right", seine_json_new_int((int64_t)s->right));
    jsonl_set(line, "wrong", seine_json_new_int((int64_t)s->wrong));
    jsonl_set(line, "skipped", seine_json_new_int((int64_t)s->skipped));
    out_json(line);
}

static int
try_all(suite *s, const args *a)
{
    if (!s->set->json)
        out_print("%-48s %6s %13s %9s %11s  %s\n", "fault", "exit", "bytes", "time",
                  "RSS", "verdict");
    for (const catalogue_row *row = catalogue; row->group; row++) {
        if (!is_wanted(s, row))
            continue;
        if (!case_applies(s, row))
            s->skipped++;
        else if (try_row(s, a, row) != SAY_DONE)
            return SAY_MACHINE;
    }
    if (s->right + s->wrong == 0)
        return say_fail(SAY_USAGE, "without --only; --help says what {ca} and {host} do",
                        "no row of the catalogue was run");
    print_sums(s);
    if (s->skipped > 0 && !a->quiet)
        say_note("%s rows need {ca} and {host} in the command: --help",
                 figure_count(s->skipped).text);
    return s->wrong > 0 ? SAY_FAILED : SAY_DONE;
}

/* Writes the certificate to a file, for a command with {ca}. */
static bool
write_ca(suite *s)
{
    const char *pem = seine_chaos_where(s->chaos, "ca");
    const char *where = getenv("TMPDIR");
    int n = snprintf(s->ca, sizeof s->ca, "%s/seine-ca-XXXXXX",
                     where && strlen(where) < 32 ? where : "/tmp");
    int fd = n < (int)sizeof s->ca ? mkstemp(s->ca) : -1;
    size_t len = strlen(pem);
    bool fine = fd >= 0 && write(fd, pem, len) == (ssize_t)len;

    if (fd >= 0 && close(fd) != 0)
        fine = false;
    if (fd < 0)
        s->ca[0] = '\0';
    return fine;
}

static int
run_chaos_suite(const args *a)
{
    suite s = {.set = a->settings};
    bool tls;

    if (!s.set->cmd || !command_uses(&s, "{url}"))
        return say_fail(SAY_USAGE, "seine chaos suite --cmd 'curl -sSf {url}'",
                        "chaos suite needs --cmd with {url} in it");
    tls = command_uses(&s, "{ca}");
    seine_chaos_opts opts = {.size = sizeof(seine_chaos_opts),
                             .seed = s.set->seed,
                             .tls = tls,
                             .dns = command_uses(&s, "{dns}")};
    seine_err e = seine_chaos_new(&opts, &s.chaos);
    if (e != SEINE_OK)
        return say_fail(SAY_MACHINE, NULL, "cannot serve: %s", seine_err_text(e));
    int code = tls && !write_ca(&s)
                   ? say_fail(SAY_MACHINE, "another TMPDIR", "cannot write a file: %s",
                              show_errno(errno).text)
                   : try_all(&s, a);
    if (s.ca[0])
        unlink(s.ca);
    seine_chaos_free(s.chaos);
    return code;
}
