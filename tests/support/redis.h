/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.h - a private redis-server of a test: its own folder, a socket in it, no port.
 *
 *     test_redis *r = test_redis_start(NULL);
 *     use(test_redis_url(r));
 *     test_redis_kill9(r);
 *     test_redis_again(r);
 *     test_redis_free(r);
 *
 * It answers when start returns. Functions and leases are kept in its log of writes, so
 * that they outlive a kill -9. It is ended by its pid, and ends with the test.
 */
#ifndef TEST_REDIS_H
#define TEST_REDIS_H

#include <stdbool.h>

typedef struct test_redis test_redis;

/* `extra`: further words of its command line, NULL ends; may be NULL. NULL: a check has
 * failed. */
test_redis *test_redis_start(const char *const *extra);
const char *test_redis_url(const test_redis *r);
const char *test_redis_path(const test_redis *r); /* of the socket */

void test_redis_kill9(test_redis *r);
bool test_redis_again(test_redis *r);
void test_redis_forget(test_redis *r); /* removes what it has written, while it is dead */
void test_redis_free(test_redis *r);

#endif
