#!lua name=seine_bucket1
-- SPDX-License-Identifier: Apache-2.0
-- Token buckets that several programs share. The arithmetic is that of src/guard/gcra.h,
-- to the nanosecond. Lua's numbers are doubles, which do not hold the nanoseconds since
-- 1970: so a moment or a span is two numbers, whole seconds and nanoseconds below 10^9.
-- Who changes this file changes the number in its name: programs of two versions may use
-- one server.

local SECOND = 1000000000

local function is_after(as, an, bs, bn) return as > bs or (as == bs and an > bn) end

local function plus(as, an, bs, bn)
  if an + bn >= SECOND then return as + bs + 1, an + bn - SECOND end
  return as + bs, an + bn
end

local function minus(as, an, bs, bn)
  if an < bn then return as - bs - 1, an - bn + SECOND end
  return as - bs, an - bn
end

local function now()
  local t = redis.call('TIME')
  return tonumber(t[1]), tonumber(t[2]) * 1000
end

local function now_ms(s, n) return s * 1000 + math.floor(n / 1000000) end

-- The moment under a key; nil: there is none.
local function moment(key)
  local text = redis.call('GET', key)
  if not text then return nil end
  local s, n = string.match(text, '^(%d+) (%d+)$')
  return tonumber(s), tonumber(n)
end

local function keep(key, s, n, ms)
  redis.call('SET', key, string.format('%.0f %.0f', s, n), 'PX', string.format('%.0f', ms))
end

-- Members of a set that is scored by the millisecond at which each of them is forgotten.
local function count(key, ms)
  if redis.call('ZCARD', key) == 0 then return 0 end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', string.format('%.0f', ms))
  return redis.call('ZCARD', key)
end

-- Takes tokens worth `cost` from a bucket worth `depth`. Nothing is granted while a member
-- still spends a share of its own; buckets are empty at the moment `since`.
-- KEYS bucket since members apart   ARGV cost_s cost_ns depth_s depth_ns
-- -> {1|0, full_s, full_ns, now_s, now_ns, members}
local function take(K, A)
  local s, n = now()
  local ds, dn = tonumber(A[3]), tonumber(A[4])
  local fs, fn = moment(K[1])
  local ss, sn = moment(K[2])
  local members = redis.call('ZCARD', K[3])

  if not fs then fs, fn = s, n end
  if ss then
    ss, sn = plus(ss, sn, ds, dn)
    if is_after(ss, sn, fs, fn) then fs, fn = ss, sn end
  end
  local cs, cn = tonumber(A[1]), tonumber(A[2])
  local rs, rn = minus(fs, fn, minus(ds, dn, cs, cn))
  if is_after(rs, rn, s, n) or count(K[4], now_ms(s, n)) > 0 then
    return {0, fs, fn, s, n, members}
  end
  if is_after(s, n, fs, fn) then fs, fn = s, n end
  fs, fn = plus(fs, fn, cs, cn)
  local ls, ln = minus(fs, fn, s, n)
  keep(K[1], fs, fn, ls * 1000 + math.ceil(ln / 1000000) + 1000)
  return {1, fs, fn, s, n, members}
end

-- A member says that it lives, and in which way it grants: "apart" from its own share,
-- "join" from now on with the others, "stay" as before, "leave". A member that joins after
-- it has granted apart empties all buckets.
-- KEYS since members apart   ARGV id way alive_ms apart_ms spent since_ms
-- -> {members, members apart}
local function meet(K, A)
  local s, n = now()
  local ms = now_ms(s, n)

  if A[2] == 'leave' then
    redis.call('ZREM', K[2], A[1])
    redis.call('ZREM', K[3], A[1])
    return {count(K[2], ms), count(K[3], ms)}
  end
  redis.call('ZADD', K[2], string.format('%.0f', ms + tonumber(A[3])), A[1])
  redis.call('PEXPIRE', K[2], A[3])
  if A[2] == 'apart' then
    redis.call('ZADD', K[3], string.format('%.0f', ms + tonumber(A[4])), A[1])
    redis.call('PEXPIRE', K[3], A[3])
  else
    redis.call('ZREM', K[3], A[1])
  end
  if A[2] == 'join' and A[5] == '1' then keep(K[1], s, n, tonumber(A[6])) end
  return {count(K[2], ms), count(K[3], ms)}
end

redis.register_function('seine_bucket1_take', take)
redis.register_function('seine_bucket1_meet', meet)
