# SPDX-License-Identifier: Apache-2.0
"""A limiter and a breaker around calls of one's own: at most 50 a second, and none to a service that is down."""
import seine

limiter = seine.Limiter("50/s", burst=2)
breaker = seine.Breaker("fail=3,open=60s")
down = {3, 4, 5}


def ask(n):
    if n in down:
        raise OSError("connection refused")
    return "ok"


for n in range(8):
    try:
        with limiter, breaker:
            print(n, ask(n))
    except OSError as e:
        print(n, "failed:", e)
    except seine.errors.Breaker:
        print(n, "not asked: the breaker is", breaker.state)
