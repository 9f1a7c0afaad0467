/* SPDX-License-Identifier: Apache-2.0 */
/* Asks about each crate: the crate first, then its version, the dependencies of that and
 * its advisories at the same time. Dependencies become crates to ask about in turn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/url.h>

#include "crate/crate.h"
#include "crate/crate_client.h"
#include "crate/crate_spec.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

enum { ASK_CRATE, ASK_VERSION, ASK_DEPENDENCIES, ASK_OSV, ASKS };
enum { OSV_PAGES = 100 };

/* A crate on its way. */
typedef struct node {
    crate_report *report; /* NULL: it was given to the run, or has failed */
    char *name;           /* as asked for */
    char *version;        /* as typed; NULL: to be picked */
    char *req;            /* of the crate that depends on it; NULL: none */
    uint64_t level;       /* 0: typed */
    unsigned out;         /* requests without a reply */
    unsigned pages;       /* of OSV */
    advisory_list osv;    /* what OSV has said so far */
    bool has_failed;
} node;

typedef struct analysis {
    crate_run *run;
    crate_client *client;
    node *nodes; /* a ticket is the index of a node, times ASKS, and what was asked */
    size_t count, cap;
} analysis;

static char *
copy_or_null(const char *text)
{
    return text ? xalloc_copy(text, strlen(text)) : NULL;
}

static void
ask(analysis *an, size_t i, unsigned what, const char *url, const char *body)
{
    an->nodes[i].out++;
    crate_client_ask(an->client, i * ASKS + what, url, body);
}

/* {api}/regex, {api}/regex/1.0.0, {api}/regex/1.0.0/dependencies */
static void
ask_registry(analysis *an, size_t i, unsigned what)
{
    const node *n = &an->nodes[i];
    textbuf url = {0};

    textbuf_put(&url, "%s/%s", an->run->set->api, n->name);
    if (what != ASK_CRATE)
        textbuf_put(&url, "/%s", n->report->facts.num);
    if (what == ASK_DEPENDENCIES)
        textbuf_put(&url, "/dependencies");
    ask(an, i, what, url.text, NULL);
    textbuf_free(&url);
}

static void
put_quoted(textbuf *b, const char *text)
{
    size_t n = seine_json_quote(text, strlen(text), NULL, 0);
    char *quoted = xalloc_zeroed(n + 1, 1);

    seine_json_quote(text, strlen(text), quoted, n + 1);
    textbuf_add(b, quoted, n);
    free(quoted);
}

static void
ask_osv(analysis *an, size_t i, const char *token)
{
    const crate_facts *f = &an->nodes[i].report->facts;
    textbuf url = {0}, body = {0};

    textbuf_put(&url, "%s/v1/query", an->run->set->osv_api);
    textbuf_put(&body, "{\"package\":{\"name\":");
    put_quoted(&body, f->name);
    textbuf_put(&body, ",\"ecosystem\":\"crates.io\"},\"version\":");
    put_quoted(&body, f->num);
    if (token) {
        textbuf_put(&body, ",\"page_token\":");
        put_quoted(&body, token);
    }
    textbuf_put(&body, "}");
    an->nodes[i].pages++;
    ask(an, i, ASK_OSV, url.text, body.text);
    textbuf_free(&url);
    textbuf_free(&body);
}

/* Each crate is asked about once, whoever depends on it. */
static void
add_crate(analysis *an, const char *name, const char *version, const char *req,
          uint64_t level)
{
    for (size_t i = 0; i < an->count; i++)
        if (crate_name_is_same(an->nodes[i].name, name) &&
            (level > 0 || (version == NULL) == (an->nodes[i].version == NULL)) &&
            (level > 0 || !version || strcmp(version, an->nodes[i].version) == 0))
            return;
    an->nodes = xalloc_room(an->nodes, an->count, &an->cap, sizeof *an->nodes);
    an->nodes[an->count] = (node){.report = xalloc_zeroed(1, sizeof(crate_report)),
                                  .name = copy_or_null(name),
                                  .version = copy_or_null(version),
                                  .req = copy_or_null(req),
                                  .level = level};
    ask_registry(an, an->count++, ASK_CRATE);
}

/* The crate ends here, with a message; what is still out changes nothing. */
static void
fail(analysis *an, node *n, int code, const char *hint, const char *why)
{
    if (!n->has_failed)
        say_fail(code, hint, "%s: %s", show(n->name).text, why);
    n->has_failed = true;
    crate_fail(an->run, code);
}

/* A host that was given up may answer later. */
static int
code_of(const crate_reply *reply)
{
    return reply->fate == SEINE_FATE_GAVE_UP ? SAY_PARKED : SAY_FAILED;
}

static bool
is_missing(const crate_reply *reply)
{
    return reply->fate == SEINE_FATE_HTTP_ERROR &&
           (reply->status == 404 || reply->status == 410);
}

/* True: there is an answer to read. */
static bool
has_answer(analysis *an, node *n, const crate_reply *reply, const char *missing)
{
    if (reply->json)
        return true;
    if (is_missing(reply))
        fail(an, n, SAY_FAILED, "another name", missing);
    else if (reply->fate == SEINE_FATE_CANCELED)
        n->has_failed = true; /* whoever stopped the run knows why */
    else
        fail(an, n, code_of(reply), NULL, reply->why.text);
    return false;
}

static void
fail_shape(analysis *an, node *n, const char *what, const reason *why)
{
    char line[320];

    snprintf(line, sizeof line, "the answer is not %s: %s", what, why->text);
    fail(an, n, SAY_FAILED, NULL, line);
}

static seine_json *
take_json(crate_reply *reply)
{
    seine_json *json = reply->json;

    reply->json = NULL;
    return json;
}

static void
on_crate(analysis *an, size_t i, crate_reply *reply)
{
    node *n = &an->nodes[i];
    crate_facts *f = &n->report->facts;
    reason why = {""};

    if (!has_answer(an, n, reply, "no such crate"))
        return;
    if (!crate_answer_crate(f, take_json(reply), n->name, &why)) {
        fail_shape(an, n, "about this crate", &why);
        return;
    }
    const char *version = n->version
                              ? n->version
                              : crate_pick_version(f, n->req, an->run->set->stable, &why);
    if (!version) {
        fail(an, n, SAY_FAILED, NULL, why.text);
        return;
    }
    f->num = copy_or_null(version);
    ask_registry(an, i, ASK_VERSION);
    ask_registry(an, i, ASK_DEPENDENCIES);
    if (an->run->set->osv_api)
        ask_osv(an, i, NULL);
    if (an->run->db)
        advisory_db_find(an->run->db, f->name, f->num, &n->report->advisories);
}

static reason
missing_version(const node *n)
{
    reason why;

    reason_set(&why, "no version %.100s", n->report->facts.num);
    return why;
}

static void
on_version(analysis *an, node *n, crate_reply *reply)
{
    reason why = {""};

    if (has_answer(an, n, reply, missing_version(n).text) &&
        !crate_answer_version(&n->report->facts, take_json(reply), &why))
        fail_shape(an, n, "about this version", &why);
}

static void
on_dependencies(analysis *an, node *n, crate_reply *reply)
{
    reason why = {""};

    if (has_answer(an, n, reply, missing_version(n).text) &&
        !crate_answer_dependencies(&n->report->facts, take_json(reply), &why))
        fail_shape(an, n, "about dependencies", &why);
}

/* Without OSV the crate is analysed all the same, and not audited. */
static void
lose_osv(analysis *an, const node *n, int code, const char *why)
{
    say_fail(code, "--osv-api off and --advisory-db DIR",
             "%s: no advisories from OSV: %s", show(n->name).text, why);
    crate_fail(an->run, code);
}

/* The answer is whole: its entries join those of the database. */
static void
take_osv(node *n)
{
    advisory_list *all = &n->report->advisories;

    for (size_t i = 0; i < n->osv.count; i++)
        advisory_list_give(all, n->osv.items[i]);
    n->osv.count = 0;
    all->is_answered = true;
}

static void
on_osv(analysis *an, size_t i, crate_reply *reply)
{
    node *n = &an->nodes[i];
    crate_report *r = n->report;
    const char *next = NULL;
    reason why = {""};

    if (!reply->json) {
        if (reply->fate != SEINE_FATE_CANCELED)
            lose_osv(an, n, code_of(reply), reply->why.text);
    } else if (!crate_answer_osv(&n->osv, reply->json, r->facts.name, &next, &why)) {
        lose_osv(an, n, SAY_FAILED, why.text);
    } else if (next && n->pages >= OSV_PAGES) {
        lose_osv(an, n, SAY_FAILED, "more than 100 pages");
    } else if (next) {
        ask_osv(an, i, next);
    } else {
        take_osv(n);
    }
}

static void
add_dependency(analysis *an, const crate_report *of, const crate_dep *d, uint64_t level)
{
    if (crate_name_is_valid(d->name, strlen(d->name))) {
        add_crate(an, d->name, NULL, d->req, level);
        return;
    }
    say_fail(SAY_FAILED, NULL, "%s: its dependency '%s' has no name of a crate",
             of->facts.name, show(d->name).text);
    crate_fail(an->run, SAY_FAILED);
}

static void
finish_crate(analysis *an, size_t i)
{
    crate_report *r = an->nodes[i].report;
    uint64_t level = an->nodes[i].level;

    an->nodes[i].report = NULL;
    if (an->nodes[i].has_failed) {
        crate_report_free(r);
        return;
    }
    crate_judge(&r->facts, &r->advisories, an->run->now, &r->judged);
    for (size_t k = 0; level < an->run->set->depth && k < r->facts.n_deps; k++)
        if (r->facts.deps[k].kind == DEP_NORMAL)
            add_dependency(an, r, &r->facts.deps[k], level + 1);
    crate_report_add(an->run, r);
}

static void
on_reply(analysis *an, crate_reply *reply)
{
    size_t i = reply->ticket / ASKS;
    unsigned what = reply->ticket % ASKS;
    node *n = &an->nodes[i];

    if (!n->has_failed && what == ASK_CRATE)
        on_crate(an, i, reply);
    else if (!n->has_failed && what == ASK_VERSION)
        on_version(an, n, reply);
    else if (!n->has_failed && what == ASK_DEPENDENCIES)
        on_dependencies(an, n, reply);
    else if (!n->has_failed)
        on_osv(an, i, reply);
    crate_reply_free(reply);
    if (--an->nodes[i].out == 0)
        finish_crate(an, i);
}

static void
free_nodes(analysis *an)
{
    for (size_t i = 0; i < an->count; i++) {
        crate_report_free(an->nodes[i].report);
        advisory_list_fini(&an->nodes[i].osv);
        free(an->nodes[i].name);
        free(an->nodes[i].version);
        free(an->nodes[i].req);
    }
    free(an->nodes);
}

static int
add_words(analysis *an, const args *a, bool is_checking)
{
    reason why;
    crate_spec spec;

    for (size_t i = 0; i < a->count; i++) {
        if (!crate_spec_read(a->words[i], &spec, &why))
            return say_fail(SAY_USAGE, "seine crate regex, or regex@1.5.4", "%s",
                            why.text);
        if (!is_checking)
            add_crate(an, spec.name, spec.version, NULL, 0);
        crate_spec_fini(&spec);
    }
    return SAY_DONE;
}

/* Takes slashes off the end. SAY_DONE, or the exit code after a message. */
static int
read_base(const char *name, const char **base, char **own)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;
    size_t n = strlen(*base);

    seine_url_init(&u, mem, sizeof mem);
    if ((strncmp(*base, "http://", 7) != 0 && strncmp(*base, "https://", 8) != 0) ||
        strpbrk(*base, "?#") || seine_url_parse(&u, *base, n, NULL) != SEINE_OK)
        return say_fail(SAY_USAGE, "https://e.example/api",
                        "--%s '%s': no URL of http or https without a query", name,
                        show(*base).text);
    while (n > 0 && (*base)[n - 1] == '/')
        n--;
    *own = xalloc_copy(*base, n);
    *base = *own;
    return SAY_DONE;
}

/* The rules of crates.io for programs that ask it. */
static void
ask_for_contact(const args *a)
{
    const crate_settings *set = a->settings;

    if (!a->quiet && !set->net.contact && !set->net.user_agent &&
        strstr(set->api, "://crates.io/"))
        say_note("crates.io asks who you are; try: --contact you@example.org");
}

/* Three requests a crate go to the registry, at a pace. */
static void
say_how_long(const args *a)
{
    const crate_settings *set = a->settings;
    seine_frequency pace = set->net.host_rate;

    if (a->quiet || pace.count == 0 || !isatty(STDERR_FILENO))
        return;
    uint64_t secs = 3 * a->count * ((uint64_t)pace.per / 1000000) / pace.count / 1000;
    if (secs >= 5)
        say_note("%s crates take %s or more, because of --host-rate",
                 figure_count(a->count).text,
                 figure_span((seine_span)secs * SEINE_SECS(1)).text);
}

static int
analyse(crate_run *run, const args *a)
{
    analysis an = {.run = run};
    crate_reply *reply;
    int code = add_words(&an, a, true);

    if (code == SAY_DONE)
        code = crate_client_open(a, &an.client);
    if (code != SAY_DONE)
        return code;
    ask_for_contact(a);
    say_how_long(a);
    add_words(&an, a, false);
    while ((reply = crate_client_wait(an.client)))
        on_reply(&an, reply);
    code = crate_client_close(an.client);
    crate_fail(run, code);
    free_nodes(&an);
    return SAY_DONE;
}

int
crate_analyse(const args *a)
{
    crate_settings *set = a->settings;
    crate_run run;
    char *own[2] = {NULL, NULL};
    int code = read_base("api", &set->api, &own[0]);

    if (strcmp(set->osv_api, "off") == 0)
        set->osv_api = NULL;
    if (code == SAY_DONE && set->osv_api)
        code = read_base("osv-api", &set->osv_api, &own[1]);
    if (code == SAY_DONE)
        code = crate_run_open(&run, a, false);
    if (code == SAY_DONE) {
        code = analyse(&run, a);
        if (code == SAY_DONE)
            code = crate_run_finish(&run);
        crate_run_free(&run);
    }
    free(own[0]);
    free(own[1]);
    return code;
}
