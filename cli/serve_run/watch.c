/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_run/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "screen/say.h"

#ifdef SEINE_HAS_CONSOLE

#include <seine/console.h>
#include <seine/console_run.h>

/* Files alone: a console that starts no run makes no directory. */
static void
remove_dir(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;

    while (dir && (e = readdir(dir)))
        (void)unlinkat(dirfd(dir), e->d_name, 0);
    if (dir)
        closedir(dir);
    (void)rmdir(path);
}

int
watch_open(watch *w, const char *title)
{
    seine_console_opts opts = SEINE_CONSOLE_OPTS;
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM];
    struct seine_console_run *r = NULL;

    snprintf(w->dir, sizeof w->dir, "/tmp/seine-watch-XXXXXX");
    if (!mkdtemp(w->dir)) {
        w->dir[0] = '\0';
        return say_fail(SAY_MACHINE, "without --watch",
                        "--watch: no directory in /tmp: %s", show_errno(errno).text);
    }
    opts.listen = "127.0.0.1:0";
    opts.state_dir = w->dir;
    seine_err e = seine_console_new(&opts, &w->console, &diag);
    if (e == SEINE_OK)
        e = seine_console_run_add(w->console, title, &r);
    if (e != SEINE_OK) {
        seine_diag_print(&diag, NULL, line, sizeof line);
        return say_fail(SAY_MACHINE, "without --watch", "--watch: %s",
                        line[0] ? line : seine_err_text(e));
    }
    w->host = (run_host){
        .run = r, .begin = seine_console_run_begin, .end = seine_console_run_end};
    const char *link = seine_console_link(w->console);
    /* Straight to the person: a log would hide the token. */
    fprintf(stderr, "seine: watch it on %s\n",
            link ? link : seine_console_url(w->console));
    return SAY_DONE;
}

void
watch_close(watch *w, int code)
{
    if (w->host.run)
        seine_console_run_done(w->host.run, code);
    seine_console_free(w->console);
    if (w->dir[0])
        remove_dir(w->dir);
    *w = (watch){.console = NULL};
}

#else

int
watch_open(watch *w, const char *title)
{
    (void)w, (void)title;
    return say_fail(SAY_USAGE, "without --watch", "this build has no console");
}

void
watch_close(watch *w, int code)
{
    (void)w, (void)code;
}

#endif
