/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "options/options.h"
#include "screen/out.h"

/* A standard stream that is closed would be the next file opened, and its bytes
 * would end up there. One that cannot be used takes its place, so that using it
 * is an error and nothing worse. */
static void
hold_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Bodies and other large blocks come from the system and go back to it at once: memory
 * that is free does not count, and growing a body copies nothing. The buffers of TLS, of
 * less than 17 KiB, are not among them: every read takes one and gives it back. */
static void
keep_heap_small(void)
{
    mallopt(M_MMAP_THRESHOLD, 20 << 10);
}

int
main(int argc, char **argv)
{
    keep_heap_small();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    hold_streams();
    signal(SIGPIPE, SIG_IGN); /* a reader that has gone is an exit code */
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of its own */

    int code = options_run(argc, argv);
    out_flush();
    return code;
}
