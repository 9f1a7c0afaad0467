/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_new.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <seine/charset.h>
#include <seine/mime.h>
#include <seine/recipe.h>
#include <seine/url.h>

#include "recipes/recipe_test.h"
#include "recipes/sample_table.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"

enum { MOST_NAME = 40, MOST_PATH = 4096 };

static bool
is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '-' || c == '_';
}

static bool
is_name(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (!is_name_char(name[i]))
            return false;
    return n > 0 && n <= MOST_NAME && name[0] != '-' &&
           !(name[0] >= '0' && name[0] <= '9');
}

/* Letters, digits and - of a text; "recipe" if there are none. */
static char *
name_from(const char *text, size_t len)
{
    char name[MOST_NAME + 1];
    size_t n = 0;

    for (size_t i = 0; i < len && n < MOST_NAME; i++) {
        bool fits = is_name_char(text[i]) &&
                    !(n == 0 && (isdigit((unsigned char)text[i]) || text[i] == '-'));
        if (fits)
            name[n++] = (char)tolower((unsigned char)text[i]);
        else if (n > 0 && name[n - 1] != '-')
            name[n++] = '-';
    }
    while (n > 0 && name[n - 1] == '-')
        n--;
    return n > 0 ? xalloc_copy(name, n) : xalloc_copy("recipe", 6);
}

/* shop of https://www.shop.example/list, news of saved/news.html. */
static char *
name_of(const char *word)
{
    char mem[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, mem, sizeof mem);
    if (strstr(word, "://") &&
        seine_url_parse(&u, word, strlen(word), NULL) == SEINE_OK) {
        seine_view host = seine_url_host(&u);
        if (host.len > 4 && strncmp(host.ptr, "www.", 4) == 0)
            host = (seine_view){host.ptr + 4, host.len - 4};
        const char *dot = memchr(host.ptr, '.', host.len);
        return name_from(host.ptr, dot ? (size_t)(dot - host.ptr) : host.len);
    }
    const char *slash = strrchr(word, '/');
    const char *file = slash ? slash + 1 : word;
    return name_from(file, strcspn(file, "."));
}

static int
check_free(const recipe_new_opts *o, const char *path)
{
    struct stat st;

    if (o->force || stat(path, &st) != 0)
        return SAY_DONE;
    return say_fail(SAY_USAGE, "--force, or -o with another name", "%s exists",
                    show(path).text);
}

static void
yaml_path(const recipe_new_opts *o, const char *name, char *out, size_t cap)
{
    const char *folder = o->folder ? o->folder : name;
    size_t n = strlen(folder);

    snprintf(out, cap, "%s%s%s.yaml", folder, n > 0 && folder[n - 1] == '/' ? "" : "/",
             name);
}

int
recipe_new_name(const recipe_new_opts *o, const char *word, char **out_name)
{
    char path[MOST_PATH];

    *out_name = NULL;
    if (o->name && !is_name(o->name))
        return say_fail(SAY_USAGE, "letters, digits, - and _",
                        "--name '%s' is no name of a recipe", show(o->name).text);
    *out_name = o->name ? xalloc_copy(o->name, strlen(o->name)) : name_of(word);
    if (o->folder && strlen(o->folder) > MOST_PATH / 2)
        return say_fail(SAY_USAGE, NULL, "the name of the folder is too long");
    yaml_path(o, *out_name, path, sizeof path);
    return check_free(o, path);
}

/* Files. */

static bool
looks_like_json(const one_page *page)
{
    size_t at = 0;

    if (strstr(page->type, "json"))
        return true;
    if (page->type[0] && !strstr(page->type, "plain"))
        return false;
    while (at < page->body.len && strchr(" \t\r\n", page->body.ptr[at]) &&
           page->body.ptr[at])
        at++;
    return at < page->body.len &&
           (page->body.ptr[at] == '{' || page->body.ptr[at] == '[');
}

static const char *
ending_of(const one_page *page)
{
    if (looks_like_json(page))
        return "json";
    return strstr(page->type, "xml") && !strstr(page->type, "xhtml") ? "xml" : "html";
}

/* A test reads the page without its header. Where the header alone says what the bytes
 * mean, the page is saved as UTF-8 with a mark. */
static bytes
saved_bytes(const one_page *page)
{
    seine_charset_choice with, without;
    seine_text text = {NULL, 0};
    const bytes *b = &page->body;

    seine_charset_decide(b->ptr, b->len, page->charset, strlen(page->charset), &with);
    seine_charset_decide(b->ptr, b->len, NULL, 0, &without);
    if (with.charset == without.charset || looks_like_json(page)) {
        char *copy = xalloc_copy(b->ptr, b->len);
        return (bytes){copy, b->len, copy};
    }
    if (seine_charset_decode(with.charset, b->ptr + with.bom, b->len - with.bom, &text,
                             NULL) != SEINE_OK)
        xalloc_json(NULL);
    char *marked = xalloc_zeroed(text.len + 4, 1);
    memcpy(marked, "\xef\xbb\xbf", 3);
    memcpy(marked + 3, text.bytes, text.len);
    bytes out = {marked, text.len + 3, marked};
    seine_text_free(&text);
    return out;
}

/* The folders of a path, those that are there included. */
static bool
make_folders(const char *path)
{
    char part[MOST_PATH];

    for (size_t i = 1; path[i] && i < sizeof part; i++) {
        if (path[i] != '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return false;
    }
    return true;
}

static int
write_file(const recipe_new_opts *o, const char *path, const char *text, size_t n)
{
    int code = check_free(o, path);

    if (code != SAY_DONE)
        return code;
    if (make_folders(path) && seine_file_replace(path, text, n))
        return SAY_DONE;
    return say_fail(SAY_MACHINE, NULL, "cannot write %s: %s", show(path).text,
                    show_errno(errno).text);
}

/* Runs the test of the recipe that was written: once to write the rows, once to see that
 * it passes. */
static int
prove(const char *path)
{
    recipe_file f;
    test_result *r = xalloc_zeroed(1, sizeof *r);
    int code = recipe_open(&f, path);
    seine_json *tests = code == SAY_DONE ? recipe_part(&f, "tests") : NULL;

    if (code == SAY_DONE)
        code = recipe_test(&f, seine_json_at(tests, 0), true, r);
    if (code == SAY_DONE)
        code = recipe_test(&f, seine_json_at(tests, 0), false, r);
    if (code == SAY_DONE && r->failed > 0)
        code = say_fail(SAY_EXPECTED, NULL, "%s does not pass its own test: %s",
                        show(path).text, r->lines[0]);
    seine_json_free(tests);
    recipe_close(&f);
    free(r);
    return code;
}

/* A drafted recipe and where its parts go. */
typedef struct drafted {
    const char *name;
    char yaml[MOST_PATH], page[MOST_PATH], golden[MOST_PATH];
    char page_name[64], golden_name[64];
    bytes body;
    seine_text text;
} drafted;

static void
show_sample(const drafted *d, const one_page *page)
{
    seine_page p = SEINE_PAGE;
    recipe_file f;

    p.url = page->url;
    p.content_type = recipe_type_of(d->page);
    p.body = d->body.ptr;
    p.len = d->body.len;
    if (recipe_open(&f, d->yaml) == SAY_DONE)
        sample_table(&f, &p);
    recipe_close(&f);
}

static int
write_all(const recipe_new_opts *o, const drafted *d, const one_page *page)
{
    int code = check_free(o, d->page);

    if (code == SAY_DONE)
        code = check_free(o, d->golden);
    if (code == SAY_DONE)
        code = write_file(o, d->yaml, d->text.bytes, d->text.len);
    if (code == SAY_DONE)
        code = write_file(o, d->page, d->body.ptr, d->body.len);
    if (code == SAY_DONE)
        code = prove(d->yaml);
    if (code != SAY_DONE)
        return code;
    if (!o->quiet)
        show_sample(d, page);
    out_print("wrote %s, %s, %s\n", show(d->yaml).text, d->page_name, d->golden_name);
    if (!o->quiet)
        out_print("try: seine test %s, then edit it, then seine run %s\n",
                  show(d->yaml).text, show(d->yaml).text);
    return SAY_DONE;
}

/* Why there is no recipe, for people. */
static int
refuse(const one_page *page, seine_err e)
{
    const char *url = page->url;

    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    if (page->body.len == 0)
        return say_fail(SAY_FAILED, "another page", "%s is empty", show(url).text);
    if (e == SEINE_E_UNKNOWN)
        return say_fail(SAY_FAILED,
                        "a page with a list or a table; one that a script "
                        "fills in is empty without it",
                        "%s: nothing on it repeats", show(url).text);
    if (e == SEINE_E_BUDGET)
        return say_fail(SAY_FAILED, "a part of it", "%s is longer than 16 MiB",
                        show(url).text);
    return say_fail(SAY_FAILED, NULL, "%s: %s", show(url).text, seine_err_text(e));
}

int
recipe_new(const recipe_new_opts *o, const char *name, const one_page *page)
{
    drafted *d = xalloc_zeroed(1, sizeof *d);
    seine_draft_opts opts = SEINE_DRAFT_OPTS;
    seine_page p = SEINE_PAGE;
    int folder;

    d->name = name;
    d->body = saved_bytes(page);
    yaml_path(o, name, d->yaml, sizeof d->yaml);
    folder = (int)(strrchr(d->yaml, '/') - d->yaml);
    snprintf(d->page_name, sizeof d->page_name, "pages/%s.%s", name, ending_of(page));
    snprintf(d->golden_name, sizeof d->golden_name, "pages/%s.jsonl", name);
    snprintf(d->page, sizeof d->page, "%.*s/%s", folder, d->yaml, d->page_name);
    snprintf(d->golden, sizeof d->golden, "%.*s/%s", folder, d->yaml, d->golden_name);
    opts.name = name;
    opts.page = d->page_name;
    opts.golden = d->golden_name;
    p.url = page->url;
    p.content_type = recipe_type_of(d->page);
    p.body = d->body.ptr;
    p.len = d->body.len;
    seine_err e = seine_recipe_draft(&p, &opts, &d->text);
    int code = e == SEINE_OK ? write_all(o, d, page) : refuse(page, e);
    seine_text_free(&d->text);
    bytes_free(&d->body);
    free(d);
    return code;
}
