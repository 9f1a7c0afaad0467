/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seine/format.h>
#include <seine/plumbing.h>

#include "report/report.h"
#include "screen/say.h"
#include "screen/xalloc.h"

const char *
report_sink_path(const char *name)
{
    static const char *const endings[] = {".html", ".htm"};
    size_t n = strlen(name);
    seine_sink_format format = SEINE_SINK_AUTO;
    seine_sink_pack pack = SEINE_PACK_NONE;

    if (strncmp(name, "html:", 5) == 0)
        return name + 5;
    (void)seine_format_split(name, &format, &pack);
    if (format != SEINE_SINK_AUTO)
        return NULL;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (n > strlen(endings[i]) &&
            strcmp(name + n - strlen(endings[i]), endings[i]) == 0)
            return name;
    return NULL;
}

typedef struct place {
    char directory[4096];
    const char *name;
} place;

static place
place_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    place out = {".", slash ? slash + 1 : path};

    if (slash)
        snprintf(out.directory, sizeof out.directory, "%.*s",
                 slash == path ? 1 : (int)(slash - path), path);
    return out;
}

bool
report_sink_has(const report_sink *s, const char *path)
{
    place mine = place_of(path);
    struct stat a, b;

    for (size_t i = 0; i < s->n; i++) {
        place other = place_of(s->paths[i]);

        if (strcmp(mine.name, other.name) == 0 && stat(mine.directory, &a) == 0 &&
            stat(other.directory, &b) == 0 && a.st_dev == b.st_dev &&
            a.st_ino == b.st_ino)
            return true;
    }
    return false;
}

int
report_sink_open(report_sink *s, const char *name, bool may_replace)
{
    const char *path = report_sink_path(name);

    if (!path[0] || strcmp(path, "-") == 0)
        return say_fail(SAY_USAGE, "-o run.html", "--output '%s': a page is a file",
                        show(name).text);
    if (report_sink_has(s, path))
        return say_fail(SAY_USAGE, "another name", "%s is an output already",
                        show(path).text);
    if (!may_replace && access(path, F_OK) == 0)
        return say_fail(SAY_USAGE, "--overwrite, or another name",
                        "%s exists and belongs to no unfinished job", show(path).text);
    if (access(place_of(path).directory, W_OK) != 0)
        return say_fail(SAY_USAGE, "another name, or another directory",
                        "cannot write '%s': %s", show(path).text, show_errno(errno).text);
    if (!s->report)
        s->report = report_new();
    s->paths = xalloc_room(s->paths, s->n, &s->cap, sizeof *s->paths);
    s->paths[s->n++] = path;
    return SAY_DONE;
}

void
report_sink_add(report_sink *s, const seine_record *r)
{
    entry e;

    if (!s->report)
        return;
    entry_of_record(r, &e);
    report_add(s->report, &e);
}

void
report_sink_add_kept(report_sink *s, const seine_record *r)
{
    entry e;

    if (!s->report)
        return;
    entry_of_kept(r, &e);
    report_add(s->report, &e);
    s->report->is_resumed = true;
}

static void
take_summary(report *r, const report_sink_about *about)
{
    textbuf line = {NULL, 0, 0};

    if (!about->summary)
        return;
    textbuf_put(&line, "{\"v\":1,\"type\":\"summary\",");
    textbuf_add(&line, about->summary, about->summary_len);
    textbuf_put(&line, "}");
    report_line(r, (seine_view){line.text, line.len});
    textbuf_free(&line);
}

int
report_sink_write(report_sink *s, const report_sink_about *about, const char **out_path)
{
    textbuf page = {NULL, 0, 0};
    report *r = s->report;
    int why = 0;

    if (!r)
        return 0;
    snprintf(r->title, sizeof r->title, "%.100s", show(about->title).text);
    snprintf(r->job, sizeof r->job, "%s", about->job);
    r->state = about->state;
    r->pending = about->pending;
    r->is_unfinished = about->job[0] && !about->is_finished;
    take_summary(r, about);
    report_load_make(about->timeline, &r->load);
    report_settings_read(about->words, &r->settings);
    report_rank(r);
    report_html(r, &page);
    for (size_t i = 0; i < s->n && why == 0; i++)
        if (!seine_file_replace(s->paths[i], page.text, page.len)) {
            why = errno ? errno : EIO;
            *out_path = s->paths[i];
        }
    textbuf_free(&page);
    return why;
}

void
report_sink_free(report_sink *s)
{
    report_free(s->report);
    free(s->paths);
    *s = (report_sink){.report = NULL};
}
