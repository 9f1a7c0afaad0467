/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis_error.h"

#include <string.h>

#include "check.h"

TEST(redis_error_is_told_in_words_without_what_the_server_repeats)
{
    static const struct {
        const char *error;
        seine_err e;
        const char *why;
    } rows[] = {
        {"LOADING Redis is loading the dataset in memory", SEINE_E_STORE_UNAVAILABLE,
         "is still loading its data"},
        {"OOM command not allowed when used memory > 'maxmemory'.",
         SEINE_E_STORE_UNAVAILABLE, "is out of memory (maxmemory)"},
        {"READONLY You can't write against a read only replica.",
         SEINE_E_STORE_UNAVAILABLE, "is a replica, which takes no writes"},
        {"MOVED 3999 127.0.0.1:6381", SEINE_E_STORE_UNAVAILABLE,
         "is a cluster, which is not supported"},
        {"WRONGPASS invalid username-password pair or user is disabled.",
         SEINE_E_STORE_UNAVAILABLE, "does not know this user and password"},
        {"NOAUTH", SEINE_E_STORE_UNAVAILABLE, "asks for a password"},
        {"ERR Function not found", SEINE_E_INVAL, "does not have the functions of seine"},
        {"ERR max number of clients reached", SEINE_E_INVAL,
         "has its maximum of clients"},
        {"ERR unknown command `HELLO`, with args: `s3cret`", SEINE_E_INVAL,
         "answers with the error ERR"},
        {"s3cret", SEINE_E_INVAL, "answers with an error"},
        {"AVERYLONGWORDTHATISNOCODE x", SEINE_E_INVAL, "answers with an error"},
        {"", SEINE_E_INVAL, "answers with an error"},
    };

    EACH_ROW(i, rows) {
        char why[SN_REDIS_WHY];

        CHECK_EQ(sn_redis_error_read(sn_str_of(rows[i].error), why), rows[i].e);
        CHECK_STR(why, rows[i].why);
    }
}
