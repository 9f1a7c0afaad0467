/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/signals.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

int
signals_open(void)
{
    static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGWINCH, SIGCONT};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct sigaction now;

        if (sigaction(wanted[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN &&
            wanted[i] != SIGWINCH && wanted[i] != SIGCONT)
            continue;
        sigaddset(&set, wanted[i]);
    }
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
        return -1;
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int
signals_next(int fd)
{
    struct signalfd_siginfo info;

    return read(fd, &info, sizeof info) == (ssize_t)sizeof info ? (int)info.ssi_signo : 0;
}
