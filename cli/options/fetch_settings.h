/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_settings.h - the values of the options of `fetch` and `crawl`, as they were
 * typed. fetch_opts.h turns them into options of the library. */
#ifndef CLI_FETCH_SETTINGS_H
#define CLI_FETCH_SETTINGS_H

#include "options/options.h"

typedef enum stdout_format {
    STDOUT_AUTO,
    STDOUT_TEXT,
    STDOUT_JSONL,
    STDOUT_CSV
} stdout_format;
typedef enum log_kind { LOG_KIND_TEXT, LOG_KIND_JSON, LOG_KIND_OFF } log_kind;
typedef enum progress_kind {
    PROGRESS_AUTO,
    PROGRESS_BAR,
    PROGRESS_LINE,
    PROGRESS_OFF
} progress_kind;

/* In the order of the choices in fetch_rows.h. */
enum obey_choice { OBEY_ON, OBEY_OFF, OBEY_AUDIT };
enum scope_choice { SCOPE_HOST, SCOPE_DOMAIN, SCOPE_PREFIX, SCOPE_ANY };
enum change_choice { CHANGE_BODY, CHANGE_CONTENT };
enum durability_choice { DURABILITY_FULL, DURABILITY_FAST, DURABILITY_NONE };
enum sitemap_choice { SITEMAP_AUTO, SITEMAP_ONLY, SITEMAP_OFF };

typedef struct fetch_settings {
    /* what */
    texts input;
    int input_format;
    const char *base, *url_column, *strip_params;
    uint64_t max_pages, max_bytes;
    int dedup;
    texts include, exclude, glob, follow, keep;
    const char *accept_type;
    int robots; /* obey_choice */
    seine_span max_crawl_delay;
    const char *robots_agent;

    /* of a crawl: which links */
    const char *depth;
    int scope, sitemap;
    bool parent, nofollow;
    texts domains;
    uint64_t pattern_budget, max_per_host, max_subdomains, max_links;
    uint64_t max_sitemaps, max_sitemap_bytes;

    /* of a job */
    const char *job, *state;
    bool fresh, resume;
    int durability; /* durability_choice */

    /* of a job in Redis */
    texts store;
    bool submit, join, accept_store_loss;
    const char *out;
    uint64_t partitions;
    seine_span lease, store_wait;

    /* of an incremental crawl */
    bool incremental, refresh, only_changes, plan;
    seine_span revisit, revisit_min, revisit_max;
    int change; /* change_choice */

    /* how much at once */
    uint64_t concurrency, per_host, per_ip, burst, host_burst, queue, threads, max_memory;
    seine_frequency rate, host_rate;
    bool adaptive, mine;

    /* how long */
    seine_span timeout, connect_timeout, dns_timeout, tcp_timeout, tls_timeout,
        head_timeout;
    seine_span max_time, grace;
    const char *min_speed;

    /* again */
    uint64_t retries;
    const char *retry_on, *backoff, *breaker, *max_errors, *retry_budget;
    int jitter;
    seine_span max_retry_after;

    /* what is sent */
    texts header;
    const char *method, *data, *json_body, *user, *user_agent, *contact, *referer;
    const char *cookie, *cookie_jar;
    bool head, location, compressed, cookies;

    /* what is taken */
    const char *accept, *max_ratio;
    uint64_t max_redirects, max_body, max_wire;
    uint64_t limit_rate;
    const char *rate_key;
    seine_span max_wait;
    bool follow_body, raw_encoding;

    /* trust */
    const char *insecure, *cacert, *cert, *cert_key;
    int tls_min;

    /* where */
    const char *proxy, *no_proxy;
    bool ipv4, ipv6, https_only, untrusted_urls;
    const char *dns;
    texts resolve, allow_net, deny_net, zone;

    /* outputs */
    texts output;
    int format, body;
    const char *write_out, *fields, *summary, *save, *output_dir, *failed;
    const char *dump_header;
    bool remote_name, remote_header_name, include_headers;
    bool mirror, keep_original, remove_gone;
    uint64_t warc_size, referrers;
    bool json, raw, ordered, events, skips, csv_raw, csv_crlf, append, overwrite;
    const char *fail_on;

    /* values of pages */
    texts css, json_pointer, meta;
    bool jsonld, page_text;

    /* what people and machines are told meanwhile */
    uint32_t verbose;
    int log, progress;
    bool watch;
    const char *log_level, *log_file, *metrics, *metrics_file, *otlp, *otlp_ratio;
} fetch_settings;

#endif
