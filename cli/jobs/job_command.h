/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_command.h - the command line that a job keeps, so that it can be started again.
 *
 * It is a JSON object: {"cwd":"/home/u","words":["seine","crawl",…],"settings":[…]}, with
 * "secret":true if a word was a secret; config_effective.h has the settings. Secrets are
 * wiped before the words are read, so such a command has to be typed again.
 *
 *     char *text = job_command_make(a, has_secret);     of this process
 *     code = job_command_load(about, &c);               of a job
 *     job_command_add(&c, "--resume");                  an option, before the others
 *     code = job_command_run(&c);                       becomes that command
 */
#ifndef CLI_JOB_COMMAND_H
#define CLI_JOB_COMMAND_H

#include <stdbool.h>

#include <seine/job_view.h>

#include "options/options.h"

typedef struct job_command {
    char **words; /* ended by NULL */
    size_t count, cap;
    size_t options; /* the place behind the name of the command */
    char *cwd;
} job_command;

/* The words of this process, and the settings that others than its user have made; the
 * caller frees the text. */
char *job_command_make(const args *a, bool has_secret);

/* SAY_DONE, or the exit code after an error message. */
int job_command_load(const seine_job_about *a, job_command *out);
void job_command_free(job_command *c);

/* Puts the word before all options of the command, or behind everything. */
void job_command_add(job_command *c, const char *word);

/* The same for an option with its value: "job", "news". */
void job_command_add_value(job_command *c, const char *name, const char *value);

/* Removes an option that takes no value: "--fresh". */
void job_command_drop(job_command *c, const char *word);

/* Removes an option with its value: "--output", "-o". */
void job_command_drop_value(job_command *c, const char *name, const char *letter);

/* As text for the job; the caller frees it. */
char *job_command_print(const job_command *c);

/* Goes on with the job, and never starts it afresh: job_command_run with the options for
 * that. */
int job_command_resume(job_command *c, const seine_job_about *a);

/* The command of the job takes the place of this process, in the directory in which it
 * was typed. Returns the exit code after an error message. */
int job_command_run(const job_command *c);

/* The words for people, quoted where a shell needs it: the caller frees the text. */
char *job_command_text(const seine_job_about *a);

#endif
