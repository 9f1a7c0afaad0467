/* SPDX-License-Identifier: Apache-2.0 */
#include "store/hurry.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { LAST_MS = 20 };

seine_err
sn_hurry_init(sn_hurry *h)
{
    atomic_init(&h->is_on, false);
    h->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return h->fd < 0 ? SEINE_E_NO_FILES : SEINE_OK;
}

void
sn_hurry_fini(sn_hurry *h)
{
    if (h->fd >= 0)
        close(h->fd);
    h->fd = -1;
}

void
sn_hurry_up(sn_hurry *h)
{
    if (atomic_exchange(&h->is_on, true))
        return;
    ssize_t n = write(h->fd, &(uint64_t){1}, sizeof(uint64_t));
    (void)n; /* the count is far from its maximum */
}

/* A descriptor that cannot be polled is left to write, which reports its error. */
bool
sn_hurry_wait(sn_hurry *h, int fd)
{
    for (;;) {
        bool is_last = atomic_load(&h->is_on);
        struct pollfd polled[] = {{.fd = fd, .events = POLLOUT},
                                  {.fd = h->fd, .events = POLLIN}};
        int n = poll(polled, is_last ? 1 : 2, is_last ? LAST_MS : -1);

        if (polled[0].revents != 0 || (n < 0 && errno != EINTR))
            return true;
        if (n == 0 && is_last) {
            errno = ETIMEDOUT;
            return false;
        }
    }
}

bool
sn_hurry_pause(sn_hurry *h, int ms)
{
    struct pollfd polled = {.fd = h->fd, .events = POLLIN};

    if (poll(&polled, 1, ms) <= 0)
        return true;
    errno = ETIMEDOUT;
    return false;
}
