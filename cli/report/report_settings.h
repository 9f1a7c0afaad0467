/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_settings.h - the options of a command line, for the report of its run.
 *
 * The command line is the JSON object that a job keeps (job_command.h), with what files,
 * the recipe and the environment have set. Secrets are not in it.
 *
 *     report_settings s = {0};
 *     report_settings_read("{\"words\":[\"seine\",\"crawl\",\"-c\",\"8\"]}", &s);
 *     printf("%s is %s\n", s.all[0].name, s.all[0].value);      --concurrency is 8
 *     report_settings_free(&s);
 */
#ifndef CLI_REPORT_SETTINGS_H
#define CLI_REPORT_SETTINGS_H

#include <stddef.h>

typedef struct report_setting {
    char *name;  /* "--concurrency"; "hosts.e.example.host-rate" of a file */
    char *value; /* "8"; "on" of a flag */
    char *usual; /* its default; NULL: none */
    char *from;  /* "./seine.yaml:3", "SEINE_RATE"; NULL: the command line */
} report_setting;

typedef struct report_settings {
    report_setting *all;
    size_t n, cap;
} report_settings;

/* NULL and what is no such object have no settings. */
void report_settings_read(const char *words_json, report_settings *out);
void report_settings_free(report_settings *s);

#endif
