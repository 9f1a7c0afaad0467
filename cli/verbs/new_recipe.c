/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <seine/url.h>

#include "options/option_names.h"
#include "options/request.h"
#include "options/request_rows.h"
#include "recipes/recipe_new.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

typedef struct settings {
    fetch_settings net; /* first: request.h looks there */
    const char *name, *output, *base;
    bool force, insecure;
    int robots;
} settings;

static int run_new_recipe(const args *a);

#define AT(member)  .at = offsetof(settings, member)
#define NET(member) .at = offsetof(settings, net.member)

/* clang-format off */
static const option options[] = {
    {"output", "o", KIND_FILE, "DIR", AT(output),
     .help = "the folder of the recipe; ./NAME if not given"},
    {"name", NULL, KIND_TEXT, "NAME", AT(name),
     .help = "of the recipe; if not given, after the host or the file"},
    {"base", NULL, KIND_TEXT, "URL", AT(base),
     .help = "where a FILE comes from: links resolve against it, and the recipe starts there"},
    {"force", NULL, KIND_FLAG, AT(force),
     .help = "replace files that exist"},
    {"robots", NULL, KIND_CHOICE, "on|off", "on", AT(robots),
     .help = "obey robots.txt"},
    {"timeout", "t", KIND_SPAN, "D", "30s", NET(timeout), .env = true, .rare = true,
     .help = "one attempt, from the lookup to the last byte"},
    {"retries", NULL, KIND_COUNT, "N", "2", NET(retries), .max = 1000, .env = true, .rare = true,
     .help = "tries after the first"},
    REQUEST_ROWS,
    {"resolve", NULL, KIND_LIST, "HOST:PORT:ADDR", NET(resolve), .env = true, .rare = true,
     .help = "the address of a host; may be repeated"},
    {"allow-net", NULL, KIND_LIST, "CIDR", NET(allow_net), .env = true, .rare = true,
     .help = "addresses a redirect may lead to; may be repeated"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine new recipe https://shop.example/list", "A recipe from a page, in ./shop:"},
    {"seine new recipe recipes/shop/pages/list-1.html --base https://shop.example/list -o lamps", "From a saved page:"},
    {NULL, NULL},
};

const command cmd_new_recipe = {
    .name = "new recipe",
    .arguments = "URL|FILE|-",
    .about = "write a recipe from one page",
    .text = "Fetches the page, looks for what it repeats (tables, lists, cards, JSON-LD, feeds, arrays of JSON), names and types what varies from row to row, "
            "finds the link to the next page, and writes DIR/NAME.yaml with the saved page and the rows that come out of it, which `seine test` compares. "
            "The first rows are shown as a table. Edit from there.\n\n"
            "No file that exists is replaced without --force. The exit code is 1 if the page cannot be had or nothing on it repeats, and 2 if nothing was asked for.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = 1,
    .run = run_new_recipe,
};
/* clang-format on */

static bool
is_url(const char *word)
{
    return strncasecmp(word, "http://", 7) == 0 || strncasecmp(word, "https://", 8) == 0;
}

static int
fetch_page(const args *a, const char *url, one_page *out)
{
    const settings *set = a->settings;
    char mem[SEINE_URL_ROOM];
    seine_url u;
    request r;

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, url, strlen(url), NULL) != SEINE_OK)
        return say_fail(SAY_USAGE, "https://e.example/list", "'%s' is no URL",
                        show(url).text);
    int code = request_make(a, &r);
    if (code != SAY_DONE)
        return code;
    seine_diag_name *names = option_names_new(a->command);
    seine_fetch_opts opts = request_fetch_opts(&r, &set->net, set->insecure);
    opts.names = names;
    opts.robots = set->robots == 0 ? SEINE_OBEY_ON : SEINE_OBEY_OFF;
    code = one_page_fetch(&opts, url, out);
    option_names_free(names);
    request_free(&r);
    return code;
}

/* A page that was saved: --base says where it comes from. */
static int
read_page(const settings *set, const char *path, one_page *out)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;
    const char *base = set->base ? set->base : "https://site.example/";

    seine_url_init(&u, mem, sizeof mem);
    if (!is_url(base) || seine_url_parse(&u, base, strlen(base), NULL) != SEINE_OK)
        return say_fail(SAY_USAGE, "--base https://e.example/list",
                        "--base '%s': not a URL", show(base).text);
    out->url = xalloc_copy(base, strlen(base));
    size_t n = strlen(path);
    bool is_json = n > 5 && strcasecmp(path + n - 5, ".json") == 0;
    const char *type = is_json ? "application/json" : "";
    out->type = xalloc_copy(type, strlen(type));
    out->charset = xalloc_copy("", 0);
    int code = bytes_file(path, &out->body);
    if (code == SAY_DONE && !set->base)
        say_note("no --base: links are those of %s; change `start` before a run", base);
    return code;
}

/* The name of a recipe, where a folder is meant. */
static bool
is_yaml(const char *path)
{
    size_t n = strlen(path);

    return (n > 5 && strcmp(path + n - 5, ".yaml") == 0) ||
           (n > 4 && strcmp(path + n - 4, ".yml") == 0);
}

static int
run_new_recipe(const args *a)
{
    const settings *set = a->settings;
    const char *word = a->words[0];
    recipe_new_opts o = {
        .name = set->name, .folder = set->output, .force = set->force, .quiet = a->quiet};
    one_page page = {.code = 0};
    char *name = NULL;

    if (set->net.timeout == 0)
        return say_fail(SAY_USAGE, "--timeout 5s",
                        "--timeout '0': a timeout must be above 0");
    if (set->output && is_yaml(set->output))
        return say_fail(SAY_USAGE, "--output DIR --name NAME",
                        "--output '%s': a folder is wanted, for the recipe and its pages",
                        show(set->output).text);
    if (is_url(word) && set->base)
        return say_fail(SAY_USAGE, "one of the two", "--base is for a FILE");
    int code = recipe_new_name(&o, set->base && strcmp(word, "-") == 0 ? set->base : word,
                               &name);
    if (code == SAY_DONE)
        code = is_url(word) ? fetch_page(a, word, &page) : read_page(set, word, &page);
    if (code == SAY_DONE)
        code = recipe_new(&o, name, &page);
    one_page_free(&page);
    free(name);
    return code;
}
