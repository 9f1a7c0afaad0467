/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A web server that limits its own routes: <seine/gate.h> in a handler of libmicrohttpd.
 *
 *     cc server.c $(pkg-config --cflags --libs seine libmicrohttpd) -o server
 *     ./server 8080 &
 *     for i in 1 2 3 4; do curl -i http://127.0.0.1:8080/; done
 *
 * Two policies: five logins a minute, and ten requests a second for everything else.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <microhttpd.h>
#include <seine/clock.h>
#include <seine/gate.h>

/* The nth field of a name, found in a walk over all of them. */
struct search {
    const char *name;
    unsigned nth;
    seine_view *value;
    int found;
};

static enum MHD_Result
look(void *arg, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct search *s = arg;

    (void)kind;
    if (strcasecmp(name, s->name) != 0 || s->nth-- > 0)
        return MHD_YES;
    s->value->ptr = value ? value : "";
    s->value->len = strlen(s->value->ptr);
    s->found = 1;
    return MHD_NO;
}

static bool
find_field(void *arg, const char *name, unsigned nth, seine_view *out_value)
{
    struct search s = {name, nth, out_value, 0};

    MHD_get_connection_values(arg, MHD_HEADER_KIND, look, &s);
    return s.found;
}

static void
add(struct MHD_Response *response, const char *name, const char *value)
{
    if (value[0])
        MHD_add_response_header(response, name, value);
}

static enum MHD_Result
handle(void *arg, struct MHD_Connection *c, const char *url, const char *method,
       const char *version, const char *upload, size_t *upload_size, void **state)
{
    seine_gate_request req = SEINE_GATE_REQUEST;
    seine_gate_answer answer;
    seine_gate_fields fields;

    (void)version, (void)upload, (void)state;
    *upload_size = 0;
    req.peer =
        MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS)->client_addr;
    req.method = seine_key_str(method);
    req.target = seine_key_str(url);
    req.field = find_field;
    req.arg = c;
    seine_gate_check(arg, &req, seine_now(), &answer);
    seine_gate_write(&answer, &fields);

    const char *body = answer.allowed ? "hello\n" : fields.problem;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        strlen(body), (void *)(size_t)body, MHD_RESPMEM_MUST_COPY);
    add(response, "RateLimit-Policy", fields.policy);
    add(response, "RateLimit", fields.limit);
    add(response, "Retry-After", fields.retry_after);
    add(response, "Content-Type",
        answer.allowed ? "text/plain" : "application/problem+json");
    enum MHD_Result sent =
        MHD_queue_response(c, answer.allowed ? MHD_HTTP_OK : 429, response);
    MHD_destroy_response(response);
    return sent;
}

int
main(int argc, char **argv)
{
    static const char *const post[] = {"POST", NULL};
    const seine_gate_policy policies[] = {
        {sizeof(seine_gate_policy),
         "login",
         "/login",
         post,
         NULL,
         {5, SEINE_SECS(60), 5}},
        {sizeof(seine_gate_policy), "default", NULL, NULL, NULL, {10, SEINE_SECS(1), 20}},
    };
    seine_gate_opts opts = SEINE_GATE_OPTS;
    seine_gate *gate;
    sigset_t ends;
    int got;

    opts.policies = policies;
    opts.n_policies = 2;
    if (seine_gate_new(&opts, &gate, NULL) != SEINE_OK)
        return 1;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    struct MHD_Daemon *server = MHD_start_daemon(
        MHD_USE_AUTO_INTERNAL_THREAD,
        (uint16_t)(argc > 1 ? strtoul(argv[1], NULL, 10) : 0), NULL, NULL, handle, gate,
        MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_END);
    if (!server)
        return 1;
    printf("http://127.0.0.1:%d\n",
           MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT)->port);
    fflush(stdout);
    sigwait(&ends, &got);
    MHD_stop_daemon(server);
    seine_gate_free(gate);
    return 0;
}
