/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define WITH_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define WITH_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define WITH_TSAN 1
#endif
#ifdef WITH_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef WITH_TSAN
#include <sanitizer/tsan_interface.h>
#endif

enum { STACK = 256 << 10 };

struct fiber {
    ucontext_t own, back;
    void (*fn)(void *arg);
    void *arg;
    void *stack;
    bool has_ended;
    void *shadow, *outer_shadow; /* of sanitizers */
    const void *outer_stack;
    size_t outer_size;
};

static fiber *running;

/* Sanitizers have to know whose stack this is. */

static void
enter(fiber *f)
{
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(&f->outer_shadow, f->stack, STACK);
#endif
#ifdef WITH_TSAN
    f->outer_shadow = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(f->shadow, 0);
#endif
    (void)f;
}

static void
entered(fiber *f)
{
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(f->shadow, &f->outer_stack, &f->outer_size);
#endif
    (void)f;
}

static void
leave(fiber *f)
{
#ifdef WITH_ASAN
    __sanitizer_start_switch_fiber(f->has_ended ? NULL : &f->shadow, f->outer_stack,
                                   f->outer_size);
#endif
#ifdef WITH_TSAN
    __tsan_switch_to_fiber(f->outer_shadow, 0);
#endif
    (void)f;
}

static void
left(fiber *f)
{
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(f->outer_shadow, NULL, NULL);
#endif
    (void)f;
}

static void
begin(void)
{
    fiber *f = running;

    entered(f);
    f->fn(f->arg);
    f->has_ended = true;
    leave(f);
    setcontext(&f->back);
}

fiber *
fiber_new(void (*fn)(void *arg), void *arg)
{
    fiber *f = calloc(1, sizeof *f);

    if (!f)
        abort();
    f->fn = fn;
    f->arg = arg;
    f->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (f->stack == MAP_FAILED || getcontext(&f->own) != 0)
        abort();
    f->own.uc_stack.ss_sp = f->stack;
    f->own.uc_stack.ss_size = STACK;
    makecontext(&f->own, begin, 0);
#ifdef WITH_TSAN
    f->shadow = __tsan_create_fiber(0);
#endif
    return f;
}

void
fiber_free(fiber *f)
{
    if (!f)
        return;
#ifdef WITH_TSAN
    __tsan_destroy_fiber(f->shadow);
#endif
    munmap(f->stack, STACK);
    free(f);
}

void
fiber_run(fiber *f)
{
    running = f;
    enter(f);
    swapcontext(&f->back, &f->own);
    left(f);
    running = NULL;
}

void
fiber_yield(void)
{
    fiber *f = running;

    leave(f);
    swapcontext(&f->own, &f->back);
    entered(f);
}

bool
fiber_has_ended(const fiber *f)
{
    return f->has_ended;
}

fiber *
fiber_now(void)
{
    return running;
}
