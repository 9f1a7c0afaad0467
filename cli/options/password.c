/* SPDX-License-Identifier: Apache-2.0 */
#include "options/password.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include <seine/secret.h>

#include "screen/say.h"
#include "screen/xalloc.h"

enum { LONGEST = 1024, CTRL_C = 3, CTRL_D = 4, CTRL_U = 21, BACKSPACE = 8, DELETE = 127 };

/* Reads byte by byte, so that no buffer of the C library keeps the password. The terminal
 * sends no signals meanwhile, so ^C is a byte like others. False: the user pressed ^C, or
 * the terminal has gone. */
static bool
read_line(int fd, char line[LONGEST], size_t *out_len)
{
    size_t n = 0;

    for (;;) {
        char c;
        ssize_t got = read(fd, &c, 1);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || c == CTRL_C)
            return false;
        if (c == '\n' || c == '\r' || c == CTRL_D)
            break;
        if (c == CTRL_U)
            n = 0;
        else if (c == BACKSPACE || c == DELETE)
            n -= n > 0;
        else if (n < LONGEST)
            line[n++] = c;
    }
    *out_len = n;
    return true;
}

int
password_ask(const char *name, char **out_text, size_t *out_len)
{
    int own = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    int fd = own >= 0 ? own : STDIN_FILENO;
    struct termios was, silent;
    char line[LONGEST];

    if (tcgetattr(fd, &was) != 0) {
        if (own >= 0)
            close(own);
        return say_fail(SAY_USAGE,
                        "-u NAME:env:VARIABLE, or -H 'Authorization: env:NAME'",
                        "--user: no password, and no terminal to ask for it");
    }
    silent = was;
    silent.c_lflag &= ~(tcflag_t)(ECHO | ICANON | ISIG);
    silent.c_cc[VMIN] = 1;
    silent.c_cc[VTIME] = 0;
    tcsetattr(fd, TCSAFLUSH,
              &silent); /* before the prompt, so that nothing typed early is shown */
    dprintf(own >= 0 ? own : STDERR_FILENO, "Password for %s: ", name);
    bool got = read_line(fd, line, out_len);
    tcsetattr(fd, TCSAFLUSH, &was);
    dprintf(own >= 0 ? own : STDERR_FILENO, "\n");
    if (own >= 0)
        close(own);
    if (got)
        *out_text = xalloc_copy(line, *out_len);
    seine_wipe(line, sizeof line);
    return got ? SAY_DONE : 128 + SIGINT;
}
