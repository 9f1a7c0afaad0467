/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_model.h - a Redis in memory: the commands that a fleet uses, and the functions of
 * seine1.lua, as a stand-in for a server in tests.
 *
 *     redis_model *m = redis_model_new();
 *     sn_redis_wire wire = redis_model_wire(m);
 *     redis_model_set_now(m, 1000);                   leases end by this time alone
 *
 * tests/integ/test_redis_model.c plays random commands to it and to a real server, and
 * compares the replies.
 *
 * Time    ms, as set.
 * Memory  all that it was told; tables are lists that are searched.
 * Threads one owner.
 */
#ifndef TEST_REDIS_MODEL_H
#define TEST_REDIS_MODEL_H

#include "store/redis_sync.h"

typedef struct redis_model redis_model;

redis_model *redis_model_new(void);
void redis_model_free(redis_model *m);

/* A connection; any number of them, each ends with its close or the model's end. */
sn_redis_wire redis_model_wire(redis_model *m);

void redis_model_set_now(redis_model *m, int64_t now_ms);
void redis_model_set_run(redis_model *m, uint64_t run); /* it was started anew */

/* Commands and their replies are told to `fn`. */
typedef void (*redis_model_fn)(const sn_str *words, size_t n, sn_str reply, void *arg);
void redis_model_watch(redis_model *m, redis_model_fn fn, void *arg);

/* Looks inside. A text that is there and has not expired; ptr NULL: none. */
sn_str redis_model_text(redis_model *m, sn_str key);
sn_str redis_model_field(redis_model *m, sn_str key, sn_str field);
/* The i-th field of a hash; false: there are not so many. */
bool redis_model_pair(redis_model *m, sn_str key, size_t i, sn_str *out_field,
                      sn_str *out_value);

void redis_model_set_full(redis_model *m, bool is); /* commands that need memory fail */
void redis_model_set_down(redis_model *m, bool is); /* connections end, none is made */

#endif
