/* SPDX-License-Identifier: Apache-2.0 */
#include "options/cookies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/clock.h>

#include "screen/say.h"
#include "screen/xalloc.h"

bool
cookies_are_filed(const fetch_settings *set)
{
    return set->cookie && set->cookie[0] && !strchr(set->cookie, '=') &&
           strncmp(set->cookie, "env:", 4) != 0 && strncmp(set->cookie, "file:", 5) != 0;
}

static int64_t
wall_is(void)
{
    seine_clock *clock = seine_clock_system();

    return clock->wall(clock);
}

static int
load_jar(seine_cookie_jar *jar, const char *label, const char *path)
{
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM];
    seine_err e = seine_cookie_jar_load(jar, path, wall_is(), &diag);

    if (e == SEINE_OK)
        return SAY_DONE;
    size_t n = seine_diag_print(&diag, NULL, line, sizeof line);
    return say_fail(e == SEINE_E_NOMEM ? SAY_MACHINE : SAY_USAGE,
                    "a file of curl, wget or seine", "%s: %s", label,
                    n > 0 ? show_bytes(line, n).text : seine_err_text(e));
}

/* Checks before the first request that the jar can be saved behind the last one. */
static int
check_place(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *dir = slash ? xalloc_copy(path, slash == path ? 1 : (size_t)(slash - path))
                      : xalloc_copy(".", 1);
    int code =
        access(dir, W_OK | X_OK) == 0
            ? SAY_DONE
            : say_fail(SAY_USAGE, "another place", "--cookie-jar: cannot write '%s': %s",
                       show(path).text, show_errno(errno).text);

    free(dir);
    return code;
}

static int
fill_jar(const fetch_settings *set, seine_cookie_jar *jar)
{
    int code = SAY_DONE;

    if (cookies_are_filed(set)) {
        if (access(set->cookie, F_OK) != 0)
            return say_fail(SAY_USAGE, "-b NAME=VALUE, or --cookies for an empty jar",
                            "--cookie '%s': neither NAME=VALUE nor a file",
                            show(set->cookie).text);
        code = load_jar(jar, "--cookie", set->cookie);
    }
    if (code == SAY_DONE && set->cookie_jar)
        code = check_place(set->cookie_jar);
    if (code == SAY_DONE && set->cookie_jar)
        code = load_jar(jar, "--cookie-jar", set->cookie_jar);
    return code;
}

int
cookies_open(const args *a, seine_cookie_jar **out_jar)
{
    const fetch_settings *set = a->settings;
    bool refused = options_given(a, "cookies") && !set->cookies;
    seine_cookie_jar *jar = NULL;

    if (refused && (set->cookie_jar || cookies_are_filed(set)))
        return say_fail(SAY_USAGE, "one of the two", "--no-cookies does not go with %s",
                        set->cookie_jar ? "--cookie-jar" : "a file of cookies");
    if (refused || (!set->cookies && !set->cookie_jar && !set->cookie))
        return SAY_DONE;
    seine_err e = seine_cookie_jar_new(&jar);
    if (e != SEINE_OK)
        return say_fail(SAY_MACHINE, NULL, "%s", seine_err_text(e));
    int code = fill_jar(set, jar);
    if (code == SAY_DONE)
        *out_jar = jar;
    else
        seine_cookie_jar_free(jar);
    return code;
}

int
cookies_save(const fetch_settings *set, seine_cookie_jar *jar, run_log *v)
{
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM];

    if (!jar || !set->cookie_jar)
        return SAY_DONE;
    seine_err e = seine_cookie_jar_save(jar, set->cookie_jar, wall_is(), &diag);
    if (e == SEINE_OK)
        return SAY_DONE;
    size_t n = seine_diag_print(&diag, NULL, line, sizeof line);
    run_log_fail(v, e, "another place", "--cookie-jar: %s",
                 n > 0 ? line : seine_err_text(e));
    return SAY_MACHINE;
}
