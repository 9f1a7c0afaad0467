/* SPDX-License-Identifier: Apache-2.0 */
/* http_daemon_parts.h - the structs that the files of the HTTP daemon share. */
#ifndef SN_HTTP_DAEMON_PARTS_H
#define SN_HTTP_DAEMON_PARTS_H

#include <microhttpd.h>

#include "console/http_daemon.h"
#include "gate/net_set.h"

/* A connection, from its accept to its end. */
typedef struct sn_mhd_connection {
    struct sn_mhd_connection *next, *prev;
    sn_http_daemon *daemon;
    struct MHD_Connection *of;
    int fd;
    seine_time idle;  /* since when nothing has been asked */
    seine_time began; /* when the first byte of a request was there; NEVER: idle */
    uint64_t read;    /* bytes that had come when it became idle */
    uint64_t taken;   /* bytes that the client had taken at `began` */
    bool is_upgraded;
    bool is_whole; /* the request is here: `began` is a moment of its response */
} sn_mhd_connection;

/* A request, from its first line to the last byte of its response. */
typedef struct sn_mhd_request {
    sn_call call;
    sn_http_daemon *daemon;
    sn_mhd_connection *on;
    struct MHD_Connection *of;
    char *target;
    sn_buf body;
    struct sn_mhd_stream *stream;
    struct MHD_Response *upgrade;
    void (*take)(sn_call *call, const sn_upgrade *u);
    bool has_long_target, is_checked, is_handled, is_suspended;
    bool is_too_large, is_audited;
    struct sn_mhd_request *next, *prev; /* of those that wait for an answer */
} sn_mhd_request;

/* A response that is made piece by piece; outlives the request by a moment. */
typedef struct sn_mhd_stream {
    sn_stream stream;
    sn_mhd_request *r; /* NULL: it has ended */
} sn_mhd_stream;

struct sn_http_daemon {
    seine_console *console;
    struct MHD_Daemon *mhd;
    sn_watch watch;
    sn_timer timer, sweep;
    int epoll, listener;
    bool is_stopped, is_unix;
    sn_request_rules rules;
    sn_net_set trusted; /* proxies */
    sn_mhd_connection *connections;
    sn_mhd_request *waiting;
};

/* http_daemon.c: connections. */
void sn_mhd_run_soon(sn_http_daemon *d);
void sn_mhd_idle(sn_mhd_connection *n);  /* nothing is asked on it from now on */
void sn_mhd_whole(sn_mhd_connection *n); /* its request is here */
sn_mhd_connection *sn_mhd_connection_of(struct MHD_Connection *of);

/* http_head.c: answers the request if its head is refused. */
void sn_mhd_check_head(sn_mhd_request *r, const char *method);
void sn_mhd_refuse(sn_mhd_request *r, int status, sn_api_error error, const char *why);

/* http_exchange.c: what the library calls, from the first line to the last byte. */
void *sn_mhd_on_target(void *cls, const char *target, struct MHD_Connection *of);
void sn_mhd_on_completed(void *cls, struct MHD_Connection *of, void **con_cls,
                         enum MHD_RequestTerminationCode how);
enum MHD_Result sn_mhd_on_request(void *cls, struct MHD_Connection *of, const char *url,
                                  const char *method, const char *version,
                                  const char *upload, size_t *n, void **con_cls);
void sn_mhd_resume(sn_call *call); /* there is an answer, or more of a stream */

#endif
