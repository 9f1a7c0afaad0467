/* SPDX-License-Identifier: Apache-2.0 */
/* verbs.h - the entries that stand at the top of the files of this folder. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "options/options.h"

extern const command cmd_crawl;
extern const command cmd_mirror;
extern const command cmd_check;
extern const command cmd_fetch;
extern const command cmd_explain;
extern const command cmd_worker;
extern const command cmd_jobs_export;
extern const command cmd_jobs_ls;
extern const command cmd_jobs_show;
extern const command cmd_jobs_pause;
extern const command cmd_jobs_orphans;
extern const command cmd_jobs_repair;
extern const command cmd_jobs_resume;
extern const command cmd_jobs_set;
extern const command cmd_jobs_stop;
extern const command cmd_jobs_rm;
extern const command cmd_retry;
extern const command cmd_report;
extern const command cmd_diff;
extern const command cmd_convert;
extern const command cmd_extract;
extern const command cmd_run;
extern const command cmd_test;
extern const command cmd_new_recipe;
extern const command cmd_limit;
extern const command cmd_gate;
extern const command cmd_serve_token;
extern const command cmd_serve;
extern const command cmd_limit_simulate;
extern const command cmd_crate_audit;
extern const command cmd_crate;
extern const command cmd_breaker_simulate;
extern const command cmd_backoff_simulate;
extern const command cmd_url_parse;
extern const command cmd_url_resolve;
extern const command cmd_url_normalize;
extern const command cmd_warc_ls;
extern const command cmd_warc_check;
extern const command cmd_url_site;
extern const command cmd_robots_check;
extern const command cmd_robots_show;
extern const command cmd_sitemap;
extern const command cmd_html_tree;
extern const command cmd_html_encoding;
extern const command cmd_html_meta_refresh;
extern const command cmd_http_retry_after;
extern const command cmd_http_date;
extern const command cmd_http_mime;
extern const command cmd_http_ratelimit;
extern const command cmd_http_cookie;
extern const command cmd_json_check;
extern const command cmd_ot_transform;
extern const command cmd_chaos_site;
extern const command cmd_chaos_suite;
extern const command cmd_chaos;
extern const command cmd_doctor;
extern const command cmd_config_show;
extern const command cmd_config_check;
extern const command cmd_config_path;
extern const command cmd_config_init;
extern const command cmd_help;
extern const command cmd_completion;
extern const command cmd_version;

#endif
