/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/run_traces.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/service_config.h"
#include "screen/say.h"
#include "serve_run/run_host.h"

/* "0.01" as parts of a million. */
static bool
read_ratio(const char *text, uint32_t *out_ppm)
{
    char *end = NULL;
    double share = strtod(text, &end);

    if (end == text || *end || !(share >= 0 && share <= 1))
        return false;
    *out_ppm = (uint32_t)(share * 1e6 + 0.5);
    return true;
}

static const char *
variable(const char *name)
{
    const char *text = getenv(name);

    return text && text[0] ? text : NULL;
}

static int
read_share(const char *typed, seine_otlp_opts *o)
{
    const char *arg = variable("OTEL_TRACES_SAMPLER_ARG");

    if (typed && !read_ratio(typed, &o->ratio_ppm))
        return say_fail(SAY_USAGE, "--otlp-ratio 0.01",
                        "--otlp-ratio '%s': not a share from 0 to 1", show(typed).text);
    if (!typed && arg && !read_ratio(arg, &o->ratio_ppm))
        return say_fail(SAY_USAGE, "OTEL_TRACES_SAMPLER_ARG=0.01",
                        "OTEL_TRACES_SAMPLER_ARG '%s': not a share from 0 to 1",
                        show(arg).text);
    return SAY_DONE;
}

static bool
is_disabled(void)
{
    const char *text = variable("OTEL_SDK_DISABLED");

    return text && strcasecmp(text, "true") == 0;
}

static int
open_traces(const seine_otlp_opts *o, seine_otlp **out_traces)
{
    seine_diag d = SEINE_DIAG;
    seine_err e = seine_otlp_new(o, out_traces, &d);

    if (e == SEINE_OK)
        return SAY_DONE;
    if (!d.text[0])
        return say_fail(SAY_MACHINE, NULL, "--otlp: %s", seine_err_text(e));
    return say_fail(SAY_USAGE, "--otlp http://127.0.0.1:4318", "traces: %s%s%s", d.member,
                    d.member[0] ? ": " : "", d.text);
}

/* `typed` and `ratio`: options of the command line; NULL: none. */
static int
open_from(const char *typed, const char *ratio, seine_otlp_opts *o,
          seine_otlp **out_traces)
{
    int code = SAY_DONE;

    if (typed)
        o->endpoint = typed;
    else
        o->traces_endpoint = variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    o->headers = variable("OTEL_EXPORTER_OTLP_HEADERS");
    o->resource = variable("OTEL_RESOURCE_ATTRIBUTES");
    if (variable("OTEL_SERVICE_NAME"))
        o->service = variable("OTEL_SERVICE_NAME");
    if ((!o->endpoint && !o->traces_endpoint) || is_disabled())
        return SAY_DONE;
    code = read_share(ratio, o);
    return code == SAY_DONE ? open_traces(o, out_traces) : code;
}

int
run_traces_open(const args *a, seine_log *log, seine_metrics *metrics,
                seine_otlp **out_traces)
{
    const fetch_settings *set = a->settings;
    seine_otlp_opts o = SEINE_OTLP_OPTS;
    service_config read;

    *out_traces = run_host_is_inner(a) ? a->host->traces : NULL;
    if (run_host_is_inner(a))
        return SAY_DONE;
    int code = service_config_read(a->config, environ, &read);
    o.endpoint = read.monitoring.otlp_endpoint;
    o.log = log;
    o.metrics = metrics;
    if (code == SAY_DONE)
        code = open_from(set->otlp, set->otlp_ratio, &o, out_traces);
    service_config_free(&read);
    return code;
}

int
run_traces_open_service(const service_config *set, seine_log *log, seine_metrics *metrics,
                        seine_otlp **out_traces)
{
    seine_otlp_opts o = SEINE_OTLP_OPTS;

    *out_traces = NULL;
    o.endpoint = set->monitoring.otlp_endpoint;
    o.log = log;
    o.metrics = metrics;
    return open_from(NULL, NULL, &o, out_traces);
}

void
run_traces_close(const args *a, seine_otlp *traces)
{
    if (!run_host_is_inner(a))
        seine_otlp_free(traces);
}
