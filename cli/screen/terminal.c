/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/terminal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "screen/fold.h"
#include "screen/say.h"
#include "screen/screen.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

enum { PIECE = 32 << 10, LOOK_MS = 10, LAST_LOOKS = 2 };

void
terminal_init(terminal *b, bool live)
{
    *b = (terminal){.line_buffered = live};
    pthread_mutex_init(&b->lock, NULL);
}

void
terminal_fini(terminal *b)
{
    free(b->text);
    pthread_mutex_destroy(&b->lock);
}

/* Waits until a reader has made room. False: there is none, and the program must end. */
static bool
wait_for_reader(const terminal *b, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    for (int looks = 0; poll(&p, 1, LOOK_MS) == 0;)
        if (atomic_load(&b->hurry) && ++looks >= LAST_LOOKS)
            return false;
    return true;
}

/* Returns 0, or the errno; ETIMEDOUT: nobody reads. */
static int
write_all(terminal *b, int fd, const char *bytes, size_t n)
{
    if (fd == STDERR_FILENO && b->is_deaf)
        return ETIMEDOUT;
    while (n > 0) {
        if (!wait_for_reader(b, fd)) {
            b->is_deaf |= fd == STDERR_FILENO;
            return ETIMEDOUT;
        }
        ssize_t wrote = write(fd, bytes, n < PIPE_BUF ? n : PIPE_BUF);

        if (wrote < 0 && errno != EINTR && errno != EAGAIN)
            return errno;
        bytes += wrote > 0 ? wrote : 0;
        n -= wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

static bool
is_writable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    return poll(&p, 1, 0) == 1;
}

static void
hide_bar(terminal *b)
{
    if (b->shown)
        write_all(b, STDERR_FILENO, "\r\x1b[J", 4);
    b->shown = false;
}

/* Draws the bar below the last line and moves the cursor back to its beginning. The
 * terminal cuts lines that are too long and does not wrap them. */
static void
draw_bar(terminal *b)
{
    char text[TERMINAL_BAR + 64];
    const char *feed = strchr(b->bar, '\n');

    if (!b->bar[0])
        return;
    int n = feed ? snprintf(text, sizeof text,
                            "\r\x1b[?7l\x1b[K%.*s\n\x1b[K%s\x1b[?7h\r\x1b[1A",
                            (int)(feed - b->bar), b->bar, feed + 1)
                 : snprintf(text, sizeof text, "\r\x1b[?7l\x1b[K%s\x1b[?7h\r", b->bar);
    if (n > 0)
        write_all(b, STDERR_FILENO, text,
                  (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
    b->shown = true;
}

static void
note_failure(terminal *b, int why)
{
    if (why && !b->failed)
        b->failed = why;
    if (b->failed)
        b->len = 0;
}

static void
flush_text(terminal *b)
{
    if (b->len == 0)
        return;
    hide_bar(b);
    note_failure(b, write_all(b, STDOUT_FILENO, b->text, b->len));
    b->len = 0;
    draw_bar(b);
}

int
terminal_text(terminal *b, const char *bytes, size_t n)
{
    pthread_mutex_lock(&b->lock);
    if (!b->failed) {
        if (b->cap - b->len < n) {
            b->cap = 2 * b->cap > b->len + n ? 2 * b->cap : b->len + n + PIECE;
            b->text = xalloc_resize(b->text, b->cap, 1);
        }
        memcpy(b->text + b->len, bytes, n);
        b->len += n;
        if (b->line_buffered || b->len >= PIECE)
            flush_text(b);
    }
    int why = b->failed;
    pthread_mutex_unlock(&b->lock);
    return why;
}

int
terminal_flush(terminal *b)
{
    pthread_mutex_lock(&b->lock);
    flush_text(b);
    int why = b->failed;
    pthread_mutex_unlock(&b->lock);
    return why;
}

int
terminal_try(terminal *b)
{
    if (pthread_mutex_trylock(&b->lock) != 0)
        return 0;
    size_t done = 0;
    while (done < b->len && is_writable(STDOUT_FILENO)) {
        size_t piece = b->len - done < PIPE_BUF ? b->len - done : PIPE_BUF;
        int why = write_all(b, STDOUT_FILENO, b->text + done, piece);

        note_failure(b, why);
        done += why ? 0 : piece;
    }
    if (done > 0 && b->len >= done) {
        memmove(b->text, b->text + done, b->len - done);
        b->len -= done;
    }
    int why = b->failed;
    pthread_mutex_unlock(&b->lock);
    return why;
}

int
terminal_failed(terminal *b)
{
    if (pthread_mutex_trylock(&b->lock) != 0)
        return 0;
    int why = b->failed;
    pthread_mutex_unlock(&b->lock);
    return why;
}

bool
terminal_is_free(terminal *b)
{
    if (pthread_mutex_trylock(&b->lock) != 0)
        return false;
    pthread_mutex_unlock(&b->lock);
    return is_writable(STDERR_FILENO);
}

void
terminal_hurry(terminal *b)
{
    atomic_store(&b->hurry, true);
}

void
terminal_err(terminal *b, const char *bytes, size_t n)
{
    pthread_mutex_lock(&b->lock);
    hide_bar(b);
    write_all(b, STDERR_FILENO, bytes, n);
    draw_bar(b);
    pthread_mutex_unlock(&b->lock);
}

void
terminal_say(terminal *b, const char *bytes, size_t n)
{
    char *clean = say_clean(bytes, n, &n);

    terminal_err(b, clean, n);
    free(clean);
}

void
terminal_tell(terminal *b, const char *bytes, size_t n)
{
    char *clean = say_clean(bytes, n, &n);
    size_t width = screen_columns(STDERR_FILENO);
    textbuf folded = {NULL, 0, 0};

    fold_lines(clean, n, width ? width : SIZE_MAX, &folded);
    terminal_err(b, folded.text, folded.len);
    textbuf_free(&folded);
    free(clean);
}

void
terminal_bar(terminal *b, const char *text)
{
    size_t n;
    char *clean;

    if (text[0] == '\0')
        pthread_mutex_lock(&b->lock);
    else if (pthread_mutex_trylock(&b->lock) != 0)
        return;
    if (text[0] == '\0')
        hide_bar(b);
    clean = say_clean(text, strlen(text), &n);
    snprintf(b->bar, sizeof b->bar, "%s", clean);
    free(clean);
    if (is_writable(STDERR_FILENO))
        draw_bar(b);
    pthread_mutex_unlock(&b->lock);
}
