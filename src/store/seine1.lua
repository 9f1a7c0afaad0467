#!lua name=seine1
-- SPDX-License-Identifier: Apache-2.0
-- What the workers of a fleet do in one step: leases of partitions, who else works, fenced
-- commits, the question whether all inboxes are empty, shared rates. A lease is "incarnation|epoch":
-- who does not hold it changes nothing. `allow-oom` keeps leases and commits going on a
-- server that is full; only that makes room again. Who changes this file changes the
-- number in its name: programs of two versions may use one server.

local function fenced(lease, token) return redis.call('GET', lease) ~= token end
local function now_ms() local t = redis.call('TIME'); return t[1] * 1000 + math.floor(t[2] / 1000) end
-- KEYS lease m in   ARGV incarnation ttl_ms   -> {epoch, now_ms, fps, cseq} | {0, now_ms, ms_left}
local function acquire(K, A)
  if redis.call('EXISTS', K[1]) == 1 then return {0, now_ms(), redis.call('PTTL', K[1])} end
  local epoch = redis.call('HINCRBY', K[2], 'epoch', 1)
  redis.call('SET', K[1], A[1] .. '|' .. epoch, 'PX', A[2])
  redis.pcall('XGROUP', 'CREATE', K[3], 'g', '0', 'MKSTREAM')
  return {epoch, now_ms(), tonumber(redis.call('HGET', K[2], 'fps') or 0), tonumber(redis.call('HGET', K[2], 'cseq') or 0)}
end
-- KEYS lease...   ARGV ttl_ms token...   -> {now_ms, 1|0 ...}
local function renew(K, A)
  local r = {now_ms()}
  for i, k in ipairs(K) do
    if fenced(k, A[i + 1]) then r[i + 1] = 0 else redis.call('PEXPIRE', k, A[1]); r[i + 1] = 1 end
  end
  return r
end
-- KEYS lease   ARGV token   -> 1 | 0
local function release(K, A) if fenced(K[1], A[1]) then return 0 end redis.call('DEL', K[1]); return 1 end
-- KEYS lease m in bits h seg f_cur f_next t
-- ARGV token cseq fps_cur fps_next seg_name seg_value  n (counter by)*  n (host row)*  n (pattern count)*  n (entry bitmap)*  n entry*
local function commit(K, A)
  if fenced(K[1], A[1]) then return redis.error_reply('FENCED lease lost') end
  if redis.call('HGET', K[2], 'cseq') == A[2] then return {2, now_ms()} end       -- the reply of this commit was lost: it is done
  local i = 7
  local function each(step, fn) local n = tonumber(A[i]); i = i + 1; for _ = 1, n do fn(A[i], A[i + 1]); i = i + step end end
  if #A[3] > 0 then redis.call('APPEND', K[7], A[3]) end
  if #A[4] > 0 then
    redis.call('SET', K[7], redis.call('GET', K[7]))                              -- seal: gives back APPEND's slack
    redis.call('APPEND', K[8], A[4])
  end
  redis.call('HINCRBY', K[2], 'fps', (#A[3] + #A[4]) / 8)
  if A[5] ~= '' then redis.call('HSET', K[6], A[5], A[6]) end
  each(2, function(f, by) redis.call('HINCRBY', K[2], f, by) end)
  each(2, function(host, row) redis.call('HSET', K[5], host, row) end)
  each(2, function(pat, n) redis.call('HSET', K[9], pat, n) end)
  each(2, function(id, map) redis.call('HSET', K[4], id, map) end)
  each(1, function(id) redis.call('XACK', K[3], 'g', id); redis.call('XDEL', K[3], id); redis.call('HDEL', K[4], id) end)
  redis.call('HSET', K[2], 'cseq', A[2])
  return {1, now_ms()}
end
-- Says that a worker lives for ttl_ms more (0: that it leaves), forgets those that live no more, and tells who came and went
-- since the change of that number. A change is an entry of the stream `crew`, which has the newest 4,096.
-- KEYS w crew   ARGV member ttl_ms since most   -> {now_ms, number of the last change, how, "+id:weight" | "-id:weight" ...}
-- how 0: all changes since; 1: all that live; 2: there are `most` already, and this one is not among them
local function meet(K, A)
  local function number(entries) return entries[1] and tonumber(string.match(entries[1][1], '^%d+')) or 0 end
  local function short(member) return string.match(member, '^[^:]*:[^:]*') end
  local now, since, n = now_ms(), tonumber(A[3]), number(redis.call('XREVRANGE', K[2], '+', '-', 'COUNT', 1))
  local function note(sign, member)
    n = n + 1
    redis.call('XADD', K[2], 'MAXLEN', 4096, n .. '-0', 'w', sign .. short(member))
  end
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', K[1], '-inf', now)) do redis.call('ZREM', K[1], gone); note('-', gone) end
  if tonumber(A[2]) == 0 then
    if redis.call('ZREM', K[1], A[1]) == 1 then note('-', A[1]) end
  else
    local is_new = not redis.call('ZSCORE', K[1], A[1])
    if is_new and redis.call('ZCARD', K[1]) >= tonumber(A[4]) then return {now, n, 2} end
    redis.call('ZADD', K[1], now + A[2], A[1])
    if is_new then note('+', A[1]) end
  end
  local r = {now, n, 0}
  if since == 0 or since > n or since + 1 < number(redis.call('XRANGE', K[2], '-', '+', 'COUNT', 1)) then
    r[3] = 1
    for _, member in ipairs(redis.call('ZRANGE', K[1], 0, -1)) do r[#r + 1] = '+' .. short(member) end
  else
    for _, entry in ipairs(redis.call('XRANGE', K[2], '(' .. since .. '-0', '+')) do r[#r + 1] = entry[2][2] end
  end
  return r
end
-- KEYS in...   -> {1 when every inbox is empty, entries that were ever added to them}
local function idle(K)
  local empty, added = 1, 0
  for _, k in ipairs(K) do
    if redis.call('EXISTS', k) == 1 then
      local info = redis.call('XINFO', 'STREAM', k)
      for i = 1, #info, 2 do
        if info[i] == 'entries-added' then added = added + info[i + 1] end
        if info[i] == 'length' and info[i + 1] > 0 then empty = 0 end
      end
    end
  end
  return {empty, added}
end
-- KEYS bucket   ARGV every_us burst want   -> {granted, wait_us}
local function quota(K, A)
  local t = redis.call('TIME'); local now = t[1] * 1000000 + t[2]
  local every, burst, want = tonumber(A[1]), tonumber(A[2]), tonumber(A[3])
  local full = tonumber(redis.call('GET', K[1]) or now); if full < now then full = now end
  local room = math.floor((burst * every - (full - now)) / every)
  if room < 1 then return {0, (full - now) - (burst - 1) * every} end
  local n = math.min(room, want); full = full + n * every
  redis.call('SET', K[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000) + 1000)
  return {n, 0}
end
local oom = {'allow-oom'}
redis.register_function{function_name = 'seine1_acquire', callback = acquire, flags = oom}
redis.register_function{function_name = 'seine1_renew',   callback = renew,   flags = oom}
redis.register_function{function_name = 'seine1_release', callback = release, flags = oom}
redis.register_function{function_name = 'seine1_meet',    callback = meet,    flags = oom}
redis.register_function{function_name = 'seine1_commit',  callback = commit,  flags = oom}
redis.register_function{function_name = 'seine1_idle',    callback = idle,    flags = {'no-writes'}}
redis.register_function('seine1_quota', quota)
