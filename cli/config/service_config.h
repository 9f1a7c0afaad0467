/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_config.h - the sections of a configuration that servers read: server,
 * database, redis, monitoring, console and egress.
 *
 *     service_config set;
 *     int code = service_config_read(files, environ, &set);
 *     printf("%s\n", set.server.host);
 *     service_config_free(&set);
 *
 * Every key has a variable, SEINE_SERVER_PORT for server.port, that beats the files;
 * networks and `console.recipe_env` stand in a file only. A variable that begins like
 * these and is none of them is a mistake, and so is a value out of range: both are told
 * before anything listens. The files were checked when they were read
 * (config_sections.h).
 */
#ifndef CLI_SERVICE_CONFIG_H
#define CLI_SERVICE_CONFIG_H

#include "config/config.h"
#include "options/options.h"

typedef enum service_log_level {
    SERVICE_LOG_TRACE,
    SERVICE_LOG_DEBUG,
    SERVICE_LOG_INFO,
    SERVICE_LOG_WARN,
    SERVICE_LOG_ERROR
} service_log_level; /* as in seine/log.h */

enum { SERVICE_KEYS_MOST = 64 };

typedef struct service_config {
    struct {
        const char *host; /* an address, localhost, or unix:/path */
        uint64_t port;    /* 0: any */
        uint64_t workers; /* 0: cores - 1, at least 1 */
        const char *origin;
        bool behind_proxy;
        texts trusted_proxies;
    } server;
    struct {
        const char *url; /* sqlite:PATH; NULL: console.db in the state directory */
        uint64_t max_connections, min_connections;
    } database;
    struct {
        const char *url; /* NULL: off */
        uint64_t max_connections;
    } redis;
    struct {
        const char *otlp_endpoint; /* NULL: off */
        uint64_t prometheus_port;  /* 0: off */
        const char *prometheus_host;
        int log_level;          /* service_log_level */
        int log_format;         /* text, json, off */
        const char *log_output; /* stdout, stderr or a path */
        uint64_t metrics_per_host;
        bool metrics_public;
    } monitoring;
    struct { /* limits of the console */
        uint64_t max_connections, max_connections_per_ip, max_websockets;
        uint64_t max_websockets_waiting;
        seine_frequency rest_rate;
        uint64_t rest_burst, failed_tokens;
        seine_span request_timeout, idle_timeout, hello_timeout;
        uint64_t exports_per_user, exports;
        uint64_t doc_units, frame, updates, sections, sessions, docs, subscriptions;
        seine_frequency push_rate, cursor_rate, message_rate;
        uint64_t push_burst, message_burst, send_queue;
        texts recipe_env;
    } console;
    struct {
        texts allow_net, deny_net; /* besides what is denied anyway */
    } egress;
    option_origin origins[SERVICE_KEYS_MOST]; /* as service_config_key counts them */
} service_config;

/* One key: `section` and the option that reads it. */
typedef struct service_key {
    const char *section;
    option option; /* `name` is the key with _, `value` its form, `at` its place */
    const char *(*refuse)(const char *text); /* why a text is wrong; NULL: none is */
    bool file_only;
} service_key;

/* The i-th key, by section; NULL behind the last. */
const service_key *service_config_key(size_t i);

/* SAY_DONE, or SAY_USAGE after a message. `files` NULL: none. The texts belong to the
 * files and to the environment. */
int service_config_read(const config *files, char *const *environment,
                        service_config *out);
void service_config_free(service_config *set);

/* Does a variable begin like one of a section, and is none? That is told: SAY_USAGE. */
int service_config_strays(char *const *environment);

/* The checks of the sections (config_sections.h). */
void service_config_check(seine_config *c, const seine_config_node *section);

/* Prints the sections as `config show` does: all keys, or those that somebody has set.
 * SAY_DONE or SAY_USAGE. */
int service_config_show(const config *files, char *const *environment, bool all,
                        bool with_origin);

/* What `config init` prints of them. */
void service_config_init_print(void);

#endif
