/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of single hosts reaches their URLs. */
#include <seine/host_opts.h>

#include "one_url.h"

TEST(host_settings_of_many_hosts_are_each_their_own)
{
    enum { HOSTS = 40 };
    static char names[HOSTS][32], urls[HOSTS][48];
    seine_host_opts hosts[HOSTS - 1];
    fixture *t = set_up();

    t->opts.retry.max_attempts = 5;
    t->opts.breaker.failure_threshold = 0;
    for (int i = 0; i < HOSTS; i++) {
        snprintf(names[i], sizeof names[i], "h%d.test", i);
        snprintf(urls[i], sizeof urls[i], "http://h%d.test/", i);
        script_on(t->s, urls[i], &(answer){.err = SEINE_E_CONNECT_REFUSED});
        if (i == HOSTS - 1)
            continue; /* as the run says */
        hosts[i] = SEINE_HOST_OPTS;
        hosts[i].match = names[i];
        hosts[i].set = SEINE_HOST_RETRIES;
        hosts[i].retries = (uint32_t)i % 4;
    }
    t->opts.hosts = hosts;
    t->opts.n_hosts = HOSTS - 1;
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
    for (int i = 0; i < HOSTS; i++) {
        seine_ask ask = SEINE_ASK;

        ask.url = (seine_view){urls[i], strlen(urls[i])};
        CHECK_EQ(seine_fetch_add(t->f, &ask, NULL), SEINE_OK);
    }
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_free(t->f);
    CHECK_EQ(t->g.n, HOSTS);
    for (unsigned k = 0; k < t->g.n; k++) {
        int i = 0;

        while (i < HOSTS - 1 && strcmp(t->g.all[k].url, urls[i]) != 0)
            i++;
        CHECK_EQ(t->g.all[k].attempts, i == HOSTS - 1 ? 5 : i % 4 + 1);
    }
    tear_down(t);
}
