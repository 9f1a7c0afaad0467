/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/run_start.h"

#include "screen/say.h"

void
run_start_say(run_log *log, const fetch_settings *set, const fetch_plan *plan,
              const run_metrics *metrics, seine_fetch *fetch)
{
    static const char event[] = "job.start";
    char proxies[256];

    if (plan->request.is_typed)
        run_log_note(log, event,
                     "seine: a secret on the command line can be read by others before "
                     "it is wiped; try: env:NAME, file:PATH or -H @FILE");
    if (metrics->http)
        run_log_note(log, event, "seine: metrics on http://%s/metrics",
                     metrics_http_where(metrics->http));
    if (seine_fetch_proxies(fetch, proxies, sizeof proxies) > 0)
        run_log_note(log, event, "seine: through the proxy %s", proxies);
    if (set->insecure && !*set->insecure)
        run_log_note(log, event,
                     "seine: no certificate of the hosts given is checked (-k)");
    else if (set->insecure)
        run_log_note(log, event, "seine: certificates of %s are not checked",
                     show(set->insecure).text);
    for (size_t i = 0; i < set->allow_net.count; i++)
        run_log_note(log, event, "seine: any page may lead to %s",
                     show(set->allow_net.items[i]).text);
}
