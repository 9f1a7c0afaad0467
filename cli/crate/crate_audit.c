/* SPDX-License-Identifier: Apache-2.0 */
/* Audits versions by a local database: no request is sent. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <seine/toml.h>

#include "crate/crate.h"
#include "crate/crate_spec.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/bytes.h"

enum { TOLD_MOST = 20 };

/* What is wrong with packages of one lock file. */
typedef struct lock_file {
    crate_run *run;
    const char *path;
    size_t bad;
} lock_file;

/* Packages to audit, and where they stand; each is audited once. */
typedef struct package {
    const char *name, *num; /* borrowed from a tree or a spec */
    const char *file;       /* NULL: typed */
} package;

typedef struct packages {
    package *items;
    size_t count, cap;
} packages;

static void
add_package(packages *p, const char *name, const char *num, const char *file)
{
    p->items = xalloc_room(p->items, p->count, &p->cap, sizeof *p->items);
    p->items[p->count++] = (package){name, num, file};
}

/* Typed ones first among the same. */
static int
by_name(const void *x, const void *y)
{
    const package *a = x, *b = y;
    int order = strcmp(a->name, b->name);

    if (order == 0)
        order = strcmp(a->num, b->num);
    return order != 0 ? order : (a->file != NULL) - (b->file != NULL);
}

static const char *
text_of(const seine_json *table, const char *name)
{
    const char *text;
    size_t n;

    return seine_json_string(seine_json_get(table, name), &text, &n) && strlen(text) == n
               ? text
               : NULL;
}

static void
tell_bad(lock_file *lock, const char *name)
{
    if (++lock->bad <= TOLD_MOST)
        say_fail(SAY_FAILED, NULL,
                 "%s: the package '%s' has no name and version of a "
                 "crate, and is left out",
                 show(lock->path).text, name ? show(name).text : "");
    else if (lock->bad == TOLD_MOST + 1)
        say_fail(SAY_FAILED, NULL, "%s: there are more such packages",
                 show(lock->path).text);
    crate_fail(lock->run, SAY_FAILED);
}

/* Advisories are about crates.io. A package without a source is a member of the
 * workspace, or stands in an old file that names none. */
static bool
is_from_elsewhere(const char *source)
{
    return source && !strstr(source, "github.com/rust-lang/crates.io-index") &&
           !strstr(source, "index.crates.io");
}

static void
read_package(lock_file *lock, const seine_json *one, packages *out)
{
    const char *name = text_of(one, "name"), *num = text_of(one, "version");

    if (!name || !crate_name_is_valid(name, strlen(name)) || !num ||
        !crate_version_is_valid(num, strlen(num)))
        tell_bad(lock, name);
    else if (is_from_elsewhere(text_of(one, "source")))
        lock->run->elsewhere++;
    else
        add_package(out, name, num, lock->path);
}

/* The packages of a lock file; the tree is *out_tree. One that does not parse is named,
 * and the others go on. */
static void
read_lock(crate_run *run, const char *path, const bytes *file, packages *out,
          seine_json **out_tree)
{
    lock_file lock = {run, path, 0};
    seine_diag diag = SEINE_DIAG;
    seine_err e =
        seine_toml_parse(file->ptr ? file->ptr : "", file->len, out_tree, &diag);

    if (e == SEINE_E_NOMEM)
        xalloc_json(NULL);
    if (e != SEINE_OK) {
        say_fail(SAY_FAILED, NULL, "%s:%llu:%llu: %s", show(path).text,
                 (unsigned long long)diag.line, (unsigned long long)diag.column,
                 diag.text[0] ? diag.text : seine_err_text(e));
        crate_fail(run, SAY_FAILED);
        return;
    }
    const seine_json *list = seine_json_get(*out_tree, "package");
    if (seine_json_type_of(list) != SEINE_JSON_ARRAY) {
        say_fail(SAY_FAILED, "a Cargo.lock", "%s: there is no [[package]]",
                 show(path).text);
        crate_fail(run, SAY_FAILED);
        return;
    }
    for (size_t i = 0; i < seine_json_size(list); i++)
        read_package(&lock, seine_json_at(list, i), out);
}

static void
audit_one(crate_run *run, const package *p)
{
    crate_report *r = xalloc_zeroed(1, sizeof *r);

    r->facts.name = xalloc_copy(p->name, strlen(p->name));
    r->facts.num = xalloc_copy(p->num, strlen(p->num));
    r->file = p->file;
    advisory_db_find(run->db, p->name, p->num, &r->advisories);
    crate_judge_audit(&r->advisories, &r->judged);
    crate_report_add(run, r);
    run->audited++;
}

static void
audit_all(crate_run *run, packages *p)
{
    if (p->count > 1)
        qsort(p->items, p->count, sizeof *p->items, by_name);
    for (size_t i = 0; i < p->count; i++)
        if (i == 0 || strcmp(p->items[i].name, p->items[i - 1].name) != 0 ||
            strcmp(p->items[i].num, p->items[i - 1].num) != 0)
            audit_one(run, &p->items[i]);
}

/* What one word of the command line means. */
typedef struct word {
    crate_spec spec; /* name NULL: it is a file */
    bytes file;
    seine_json *tree;
} word;

static int
read_word(const char *text, word *out)
{
    reason why;
    struct stat s;
    bool is_piped = strcmp(text, "-") == 0, has_version = strchr(text, '@') != NULL;

    if (has_version && crate_spec_read(text, &out->spec, &why))
        return SAY_DONE;
    if (!is_piped && stat(text, &s) != 0) {
        if (!crate_name_is_valid(text, strcspn(text, "@")))
            return bytes_file(text, &out->file);
        if (has_version)
            return say_fail(SAY_USAGE, "a whole version, like regex@1.5.4", "%s",
                            why.text);
        return say_fail(SAY_USAGE, "regex@1.5.4, or Cargo.lock",
                        "'%s' is no file, and has no version", show(text).text);
    }
    if (!is_piped && S_ISDIR(s.st_mode))
        return say_fail(SAY_USAGE, "the Cargo.lock in it", "'%s' is a directory",
                        show(text).text);
    return bytes_file(text, &out->file);
}

static void
free_words(word *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        crate_spec_fini(&words[i].spec);
        bytes_free(&words[i].file);
        seine_json_free(words[i].tree);
    }
    free(words);
}

int
crate_audit(const args *a)
{
    const crate_settings *set = a->settings;
    word *words = xalloc_zeroed(a->count + 1, sizeof *words);
    packages all = {0};
    crate_run run;
    int code = SAY_DONE;

    if (!set->advisory_db)
        code = say_fail(SAY_USAGE,
                        "--advisory-db DIR, a copy of "
                        "https://github.com/rustsec/advisory-db",
                        "no --advisory-db given");
    for (size_t i = 0; code == SAY_DONE && i < a->count; i++)
        code = read_word(a->words[i], &words[i]);
    if (code == SAY_DONE)
        code = crate_run_open(&run, a, true);
    if (code == SAY_DONE) {
        for (size_t i = 0; i < a->count; i++)
            if (words[i].spec.name)
                add_package(&all, words[i].spec.name, words[i].spec.version, NULL);
            else
                read_lock(&run, a->words[i], &words[i].file, &all, &words[i].tree);
        audit_all(&run, &all);
        code = crate_run_finish(&run);
        crate_run_free(&run);
    }
    free(all.items);
    free_words(words, a->count);
    return code;
}
