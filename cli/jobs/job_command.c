/* SPDX-License-Identifier: Apache-2.0 */
#include "jobs/job_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/plumbing.h>

#include "config/config_effective.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

/* Making */

/* Reads all of a file of /proc, which has no length. */
static void
read_whole(const char *path, textbuf *out)
{
    char piece[65536];
    ssize_t n;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    while (fd >= 0 && (n = read(fd, piece, sizeof piece)) > 0)
        textbuf_add(out, piece, (size_t)n);
    if (fd >= 0)
        close(fd);
}

static char *
print_json(seine_json *give)
{
    seine_text text = {NULL, 0};
    char *out = seine_json_print(give, &text) == SEINE_OK
                    ? xalloc_copy(text.bytes, text.len)
                    : xalloc_copy("{}", 2);

    seine_text_free(&text);
    seine_json_free(give);
    return out;
}

char *
job_command_print(const job_command *c)
{
    seine_json *all = xalloc_json(seine_json_new_object());
    seine_json *words = xalloc_json(seine_json_new_array());

    for (size_t i = 0; i < c->count; i++)
        jsonl_add(words, jsonl_string(c->words[i]));
    if (c->cwd)
        jsonl_set(all, "cwd", jsonl_string(c->cwd));
    jsonl_set(all, "words", words);
    return print_json(all);
}

char *
job_command_make(const args *a, bool has_secret)
{
    seine_json *all = xalloc_json(seine_json_new_object());
    seine_json *words = xalloc_json(seine_json_new_array());
    textbuf line = {NULL, 0, 0};
    char cwd[PATH_MAX];

    read_whole("/proc/self/cmdline", &line); /* as the kernel knows it: secrets are wiped
                                                there */
    textbuf_add(&line, "", 1);
    for (size_t at = 0; at + 1 < line.len; at += strlen(line.text + at) + 1)
        jsonl_add(words, jsonl_string(line.text + at));
    textbuf_free(&line);
    if (getcwd(cwd, sizeof cwd))
        jsonl_set(all, "cwd", jsonl_string(cwd));
    jsonl_set(all, "words", words);
    jsonl_set(all, "settings", config_effective(a));
    if (has_secret)
        jsonl_set(all, "secret", xalloc_json(seine_json_new_bool(true)));
    return print_json(all);
}

/* Loading */

static void
put_word(job_command *c, size_t at, const char *word)
{
    c->words = xalloc_room(c->words, c->count + 1, &c->cap, sizeof *c->words);
    memmove(c->words + at + 1, c->words + at, (c->count - at) * sizeof *c->words);
    c->words[at] = xalloc_copy(word, strlen(word));
    c->words[++c->count] = NULL;
}

static bool
read_words(const seine_json *all, job_command *c)
{
    const seine_json *words = seine_json_get(all, "words");
    const char *text;
    size_t len;

    for (size_t i = 0; i < seine_json_size(words); i++) {
        if (!seine_json_string(seine_json_at(words, i), &text, &len))
            return false;
        put_word(c, c->count, text);
    }
    if (seine_json_string(seine_json_get(all, "cwd"), &text, &len))
        c->cwd = xalloc_copy(text, len);
    return c->count > 0;
}

/* Behind the name of the command; `seine URL` has none. */
static size_t
place_of_options(const job_command *c, const char *verb)
{
    for (size_t i = 1; i < c->count; i++)
        if (strcmp(c->words[i], verb) == 0)
            return i + 1;
    return 1;
}

static seine_json *
parse_command(const seine_job_about *a)
{
    seine_json_fault fault;
    seine_json *all = NULL;

    return seine_json_parse(a->command, strlen(a->command), &all, &fault) == SEINE_OK
               ? all
               : NULL;
}

int
job_command_load(const seine_job_about *a, job_command *out)
{
    seine_json *all = parse_command(a);
    bool has_secret = false;

    *out = (job_command){.words = NULL};
    bool fine = read_words(all, out);
    (void)seine_json_bool(seine_json_get(all, "secret"), &has_secret);
    seine_json_free(all);
    if (fine && !has_secret) {
        out->options = place_of_options(out, a->verb);
        return SAY_DONE;
    }
    job_command_free(out);
    return has_secret
               ? say_fail(SAY_USAGE, "the same command again, with its secret",
                          "job '%s' was started with a secret, which is not kept",
                          show(a->name).text)
               : say_fail(SAY_USAGE, "the same command again",
                          "job '%s' does not know its command line", show(a->name).text);
}

void
job_command_free(job_command *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->words[i]);
    free(c->words);
    free(c->cwd);
    *c = (job_command){.words = NULL};
}

void
job_command_add(job_command *c, const char *word)
{
    put_word(c, c->options, word);
    c->options++;
}

void
job_command_add_value(job_command *c, const char *name, const char *value)
{
    textbuf word = {NULL, 0, 0};

    textbuf_put(&word, "--%s=%s", name, value);
    job_command_add(c, word.text);
    textbuf_free(&word);
}

/* Removes what stands at place i, `n` words of it. */
static void
cut_words(job_command *c, size_t i, size_t n)
{
    for (size_t k = i; k < i + n; k++)
        free(c->words[k]);
    memmove(c->words + i, c->words + i + n, (c->count + 1 - i - n) * sizeof *c->words);
    c->count -= n;
}

/* What stands behind "--" is no option. */
void
job_command_drop(job_command *c, const char *word)
{
    for (size_t i = c->options; i < c->count && strcmp(c->words[i], "--") != 0; i++)
        if (strcmp(c->words[i], word) == 0) {
            cut_words(c, i, 1);
            i--;
        }
}

void
job_command_drop_value(job_command *c, const char *name, const char *letter)
{
    size_t n = strlen(name);

    for (size_t i = c->options; i < c->count && strcmp(c->words[i], "--") != 0;) {
        const char *word = c->words[i];
        bool is_alone = strcmp(word, name) == 0 || strcmp(word, letter) == 0;
        bool has_value = (strncmp(word, name, n) == 0 && word[n] == '=') ||
                         (!is_alone && strncmp(word, letter, 2) == 0);

        if (is_alone || has_value)
            cut_words(c, i, is_alone && i + 1 < c->count ? 2 : 1);
        else
            i++;
    }
}

/* The absolute form of the directory of jobs: the command runs in another one. */
static char *
state_of(const seine_job_about *a)
{
    char *dir = realpath(a->path, NULL), *slash = dir ? strrchr(dir, '/') : NULL;

    if (slash)
        *slash = '\0';
    return dir;
}

int
job_command_resume(job_command *c, const seine_job_about *a)
{
    char *state = state_of(a);

    if (!state)
        return say_fail(SAY_USAGE, "seine jobs ls", "cannot open '%s'",
                        show(a->path).text);
    job_command_drop(c, "--fresh");
    job_command_drop(c, "--resume");
    job_command_add(c, "--resume");
    job_command_add(c, "--job");
    job_command_add(c, a->name);
    job_command_add(c, "--state");
    job_command_add(c, state);
    free(state);
    out_flush();
    return job_command_run(c);
}

int
job_command_run(const job_command *c)
{
    if (c->cwd && chdir(c->cwd) != 0)
        return say_fail(SAY_USAGE, "the same command again, in another directory",
                        "cannot go to '%s', where the job was started: %s",
                        show(c->cwd).text, show_errno(errno).text);
    execv("/proc/self/exe", c->words);
    return say_fail(SAY_MACHINE, NULL, "cannot start '%s': %s", show(c->words[0]).text,
                    show_errno(errno).text);
}

/* Showing */

static void
quote_word(textbuf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_./:@%+=,~^";

    if (*word && strspn(word, plain) == strlen(word)) {
        textbuf_add(out, word, strlen(word));
        return;
    }
    textbuf_add(out, "'", 1);
    for (; *word; word++)
        textbuf_add(out, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    textbuf_add(out, "'", 1);
}

char *
job_command_text(const seine_job_about *a)
{
    seine_json *all = parse_command(a);
    const seine_json *words = seine_json_get(all, "words");
    textbuf out = {NULL, 0, 0};
    const char *word;
    size_t len;

    for (size_t i = 1; i < seine_json_size(words); i++)
        if (seine_json_string(seine_json_at(words, i), &word, &len)) {
            if (i > 1)
                textbuf_add(&out, " ", 1);
            quote_word(&out, word);
        }
    seine_json_free(all);
    char *text = xalloc_copy(out.text ? out.text : "", out.len);
    textbuf_free(&out);
    return text;
}
