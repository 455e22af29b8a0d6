"""The Lua of the Redis frontier: each function of the contract is one script, so one atomic step.

All keys of a job begin with ``treasure:{job}:``, whose hash tag keeps them on one Redis node:

``meta``          hash: rate, sequence, arrivals, queued, leased, done, now
``seen:<xxxx>``   sets of URL keys by their last 16 bits; sets of integers cost 8 bytes each
``links``         hash: URL key -> where the link stands (msgpack, its length before it) and the
                  link itself as the client packed it; done links are not in it
``q:<host>``      sorted set: the host's links by rank; equal orders sort by arrival
``h:<host>``      hash: delay, allowed, active, owner, place, mark
``ready``         sorted set: hosts that anybody may ask now, by their best link
``ready:<w>``     the same for hosts that worker *w* has under way and may ask again
``blocked``       sorted set: hosts that wait or are busy, by their best link
``wait``          sorted set: hosts by the time they may be asked again
``parked``        sorted set: links that wait for a retry, by time
``sizes``         sorted set: hosts by queued links
``workers``       sorted set: workers by their last sign of life, in the server's time
``leases:<w>``    set: what worker *w* has taken
``shared``        hash, with ``shared:at`` its versions: what workers tell each other

A host with downloads under way belongs to the worker that has them; its delay, kept here, holds
for the fleet. Scripts that free memory, or hardly need any, run on a Redis that is full.
"""

from __future__ import annotations

_COMMON = r"""
local P = KEYS[1]
local HOST, SCORE, ORDER, SEQUENCE, ARRIVAL, ATTEMPTS, STATE, WORKER, FLYING, PAYLOAD =
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local call, fmt = redis.call, string.format

local function meta(field) return tonumber(call('HGET', P .. 'meta', field) or '0') end
local function count(field, by) call('HINCRBY', P .. 'meta', field, by) end
local function text(number) return fmt('%.17g', number) end

local function load(key)
  local raw = call('HGET', P .. 'links', key)
  if not raw then return nil end
  local stop = 4 + tonumber(string.sub(raw, 1, 4))
  local link = cmsgpack.unpack(string.sub(raw, 5, stop))
  link[PAYLOAD] = string.sub(raw, stop + 1)
  return link
end
local function save(key, link)
  local payload = link[PAYLOAD]
  link[PAYLOAD] = nil
  local head = cmsgpack.pack(link)
  call('HSET', P .. 'links', key, fmt('%04d', #head) .. head .. payload)
  link[PAYLOAD] = payload
end
local function member(link, key) return fmt('%014d:', link[ARRIVAL]) .. key end

local function clock(now)
  local known = meta('now')
  if now and now > known then
    call('HSET', P .. 'meta', 'now', text(now))
    return now
  end
  return known
end

-- Put a host where it belongs: ready, blocked, or nowhere when it has no links.
local function settle(host, now)
  local H = P .. 'h:' .. host
  local h = call('HMGET', H, 'allowed', 'active', 'owner', 'place', 'mark')
  local allowed, active = tonumber(h[1] or '-inf'), tonumber(h[2] or '0')
  local top = call('ZRANGE', P .. 'q:' .. host, 0, 0, 'WITHSCORES')
  local place, mark = '', ''
  if top[1] then
    mark = string.sub(top[1], 1, 15) .. host
    if active < tonumber(ARGV[1]) and allowed <= now then
      place = active > 0 and ('ready:' .. h[3]) or 'ready'
    else
      place = 'blocked'
    end
  end
  if h[4] and h[4] ~= '' and (h[4] ~= place or h[5] ~= mark) then
    call('ZREM', P .. h[4], h[5])
  end
  if place ~= '' then call('ZADD', P .. place, top[2], mark) end
  if place == 'blocked' and active < tonumber(ARGV[1]) then
    call('ZADD', P .. 'wait', text(allowed), host)
  elseif h[4] == 'blocked' then
    call('ZREM', P .. 'wait', host)
  end
  if h[4] ~= place or h[5] ~= mark then call('HSET', H, 'place', place, 'mark', mark) end
end

local function meet(host) return call('HSETNX', P .. 'h:' .. host, 'active', 0) end

local function ask(host, now)
  local h = call('HMGET', P .. 'h:' .. host, 'allowed', 'delay')
  local at = now + tonumber(h[2] or ARGV[2])
  if at > tonumber(h[1] or '-inf') then call('HSET', P .. 'h:' .. host, 'allowed', text(at)) end
end

local function down(link, now)
  if not link[FLYING] then return end
  link[FLYING] = false
  local H = P .. 'h:' .. link[HOST]
  if call('HINCRBY', H, 'active', -1) <= 0 then call('HSET', H, 'active', 0, 'owner', '') end
  if now then ask(link[HOST], now) end
end

local function size(host, by)
  if tonumber(call('ZINCRBY', P .. 'sizes', by, host)) <= 0 then
    call('ZREM', P .. 'sizes', host)
  end
end

local function enqueue(key, link)
  link[STATE] = 'q'
  call('ZADD', P .. 'q:' .. link[HOST], text(link[ORDER]), member(link, key))
  size(link[HOST], 1)
end

-- Take a link out of the queue or the parking place, or end its lease.
local function pull(key, link)
  if link[STATE] == 'q' then
    call('ZREM', P .. 'q:' .. link[HOST], member(link, key))
    size(link[HOST], -1)
    count('queued', -1)
  elseif link[STATE] == 'p' then
    call('ZREM', P .. 'parked', key)
    count('queued', -1)
  else
    call('SREM', P .. 'leases:' .. link[WORKER], key)
    count('leased', -1)
    down(link)
  end
end

local function unpark(now)
  local due = call('ZRANGEBYSCORE', P .. 'parked', '-inf', text(now), 'LIMIT', 0, 1000)
  for _, key in ipairs(due) do
    local link = load(key)
    call('ZREM', P .. 'parked', key)
    enqueue(key, link)
    save(key, link)
    settle(link[HOST], now)
  end
end

local function wake(now)
  unpark(now)
  local due = call('ZRANGEBYSCORE', P .. 'wait', '-inf', text(now), 'LIMIT', 0, 2000)
  for _, host in ipairs(due) do settle(host, now) end
end

local function rescore(key, link, score, touched)
  if link[STATE] ~= 'q' or link[SCORE] == score then return end
  call('ZREM', P .. 'q:' .. link[HOST], member(link, key))
  link[SCORE], link[ORDER] = score, meta('rate') * link[SEQUENCE] - score
  call('ZADD', P .. 'q:' .. link[HOST], text(link[ORDER]), member(link, key))
  save(key, link)
  touched[link[HOST]] = true
end

local function settle_all(touched)
  local now = clock()
  for host in pairs(touched) do settle(host, now) end
end

-- Everything that a worker had goes back. Links that wait for a retry stay parked.
local function leave(worker)
  local touched = {}
  for _, key in ipairs(call('SMEMBERS', P .. 'leases:' .. worker)) do
    local link = load(key)
    if link then
      pull(key, link)
      count('queued', 1)
      enqueue(key, link)
      save(key, link)
      touched[link[HOST]] = true
    end
  end
  call('DEL', P .. 'leases:' .. worker)
  call('ZREM', P .. 'workers', worker)
  settle_all(touched)
end
"""


def _script(body: str, *, when_full: bool) -> str:
    flags = "allow-oom" if when_full else ""
    return f"#!lua flags={flags}\n{_COMMON}\n{body}"


# In every script ARGV[1] is the concurrency and ARGV[2] the delay of a host.

PUSH = _script(
    r"""
local rate, sequence = meta('rate'), meta('sequence')
local new, touched, queued, hosts, arrivals = {}, {}, 0, 0, meta('arrivals')
for i = 3, #ARGV, 5 do
  local key, shard, host, score = ARGV[i], ARGV[i + 1], ARGV[i + 2], tonumber(ARGV[i + 3])
  if call('SADD', P .. 'seen:' .. shard, key) == 1 then
    if not touched[host] then hosts = hosts + meet(host) end
    local order = rate * sequence - score
    arrivals = arrivals + 1
    local link = {host, score, order, sequence, arrivals, 0, 'q', '', false, ARGV[i + 4]}
    enqueue(key, link)
    save(key, link)
    queued = queued + 1
    touched[host] = true
    new[#new + 1] = 1
  else
    local link = load(key)
    if link then rescore(key, link, score, touched) end
    new[#new + 1] = 0
  end
end
if queued > 0 then
  count('queued', queued)
  count('arrivals', queued)
  count('hosts', hosts)
end
settle_all(touched)
return {meta('queued'), new}
""",
    when_full=False,
)

TAKE = _script(
    r"""
local worker, now, explore = ARGV[3], tonumber(ARGV[4]), ARGV[5]
clock(now)
wake(now)
local own = 'ready:' .. worker
local mark, place
if explore ~= '' then
  local open, mine = call('ZCARD', P .. 'ready'), call('ZCARD', P .. own)
  local draw = math.floor(tonumber(explore) * (open + mine))
  place = draw < open and 'ready' or own
  mark = call('ZRANGE', P .. place, draw < open and draw or draw - open, draw)[1]
else
  local a = call('ZRANGE', P .. 'ready', 0, 0, 'WITHSCORES')
  local b = call('ZRANGE', P .. own, 0, 0, 'WITHSCORES')
  local x, y = tonumber(a[2] or 'inf'), tonumber(b[2] or 'inf')
  if b[1] and (not a[1] or y < x or (y == x and b[1] < a[1])) then a = b end
  mark = a[1]
end
if not mark then return nil end
local host = string.sub(mark, 16)
local Q = P .. 'q:' .. host
local rank = explore ~= '' and math.floor(tonumber(ARGV[6]) * call('ZCARD', Q)) or 0
local top = call('ZRANGE', Q, rank, rank)[1]
local key = string.sub(top, 16)
local link = load(key)
local passed = call('ZCOUNT', P .. 'blocked', '-inf', '(' .. text(link[ORDER]))
call('ZREM', Q, top)
size(host, -1)
call('HINCRBY', P .. 'h:' .. host, 'active', 1)
call('HSET', P .. 'h:' .. host, 'owner', worker)
ask(host, now)
call('SADD', P .. 'leases:' .. worker, key)
link[STATE], link[WORKER], link[FLYING] = 'l', worker, true
link[ATTEMPTS] = link[ATTEMPTS] + 1
save(key, link)
count('queued', -1)
count('leased', 1)
local waited = call('HINCRBY', P .. 'meta', 'sequence', 1) - 1 - link[SEQUENCE]
settle(host, now)
return {key, link[PAYLOAD], text(link[SCORE]), waited, passed, link[ATTEMPTS] - 1}
""",
    when_full=True,
)

LANDED = _script(
    r"""
local key, worker, now = ARGV[3], ARGV[4], tonumber(ARGV[5])
local link = load(key)
if link and link[STATE] == 'l' and link[WORKER] == worker and link[FLYING] then
  down(link, now)
  save(key, link)
  settle(link[HOST], clock(now))
end
""",
    when_full=True,
)

ACKNOWLEDGE = _script(
    r"""
local touched, done = {}, 0
for i = 3, #ARGV, 2 do
  local key = ARGV[i]
  local link = load(key)
  if link then
    pull(key, link)
    call('HDEL', P .. 'links', key)
    touched[link[HOST]] = true
    done = done + 1
  elseif call('SADD', P .. 'seen:' .. ARGV[i + 1], key) == 1 then
    done = done + 1
  end
end
count('done', done)
settle_all(touched)
""",
    when_full=True,
)

FORGET = _script(
    r"""
local touched, forgotten = {}, 0
for i = 3, #ARGV, 2 do
  local key = ARGV[i]
  local link = load(key)
  if link and link[STATE] ~= 'l' then
    pull(key, link)
    call('HDEL', P .. 'links', key)
    call('SREM', P .. 'seen:' .. ARGV[i + 1], key)
    touched[link[HOST]] = true
    forgotten = forgotten + 1
  end
end
settle_all(touched)
return forgotten
""",
    when_full=True,
)

RELEASE = _script(
    r"""
local worker, not_before = ARGV[3], tonumber(ARGV[4])
local touched = {}
for i = 5, #ARGV do
  local key = ARGV[i]
  local link = load(key)
  if link and link[STATE] == 'l' and link[WORKER] == worker then
    pull(key, link)
    count('queued', 1)
    if not_before ~= 0 then
      link[STATE] = 'p'
      call('ZADD', P .. 'parked', text(not_before), key)
    else
      enqueue(key, link)
    end
    save(key, link)
    touched[link[HOST]] = true
  end
end
settle_all(touched)
""",
    when_full=True,
)

RESCORE = _script(
    r"""
local touched = {}
for i = 3, #ARGV, 2 do
  local link = load(ARGV[i])
  if link then rescore(ARGV[i], link, tonumber(ARGV[i + 1]), touched) end
end
settle_all(touched)
""",
    when_full=True,
)

HOLD = _script(
    r"""
local host, delay, until_ = ARGV[3], ARGV[4], ARGV[5]
local H = P .. 'h:' .. host
count('hosts', meet(host))
if delay ~= '' then call('HSET', H, 'delay', delay) end
if until_ ~= '' and tonumber(until_) > tonumber(call('HGET', H, 'allowed') or '-inf') then
  call('HSET', H, 'allowed', until_)
  settle(host, clock())
end
""",
    when_full=True,
)

NEXT_TIME = _script(
    r"""
local worker, now = ARGV[3], tonumber(ARGV[4])
clock(now)
wake(now)
-- What other workers have under way may bring links, or free a host, and nobody will tell us.
local others = meta('leased') > call('SCARD', P .. 'leases:' .. worker)
if meta('queued') <= 0 and not others then return nil end
if call('ZCARD', P .. 'ready') > 0 or call('ZCARD', P .. 'ready:' .. worker) > 0 then
  return text(now)
end
local soonest = others and text(now + tonumber(ARGV[5])) or 'inf'
for _, set in ipairs({'wait', 'parked'}) do
  local first = call('ZRANGE', P .. set, 0, 0, 'WITHSCORES')[2]
  if first and tonumber(first) < tonumber(soonest) then soonest = first end
end
return soonest
""",
    when_full=True,
)

BEAT = _script(
    r"""
local worker, lease = ARGV[3], tonumber(ARGV[4])
local t = call('TIME')
local now = tonumber(t[1]) + tonumber(t[2]) / 1000000
if worker ~= '' then call('ZADD', P .. 'workers', text(now), worker) end
for _, dead in ipairs(call('ZRANGEBYSCORE', P .. 'workers', '-inf', text(now - lease))) do
  leave(dead)
end
return call('ZCARD', P .. 'workers')
""",
    when_full=True,
)

LEAVE = _script("leave(ARGV[3])", when_full=True)

SHARE = _script(
    r"""
local version = call('HINCRBY', P .. 'meta', 'version', 1)
call('HSET', P .. 'shared', ARGV[3], ARGV[4])
call('ZADD', P .. 'shared:at', version, ARGV[3])
return version
""",
    when_full=False,
)

SHARED = _script(
    r"""
local answer = {meta('version')}
for _, kind in ipairs(call('ZRANGEBYSCORE', P .. 'shared:at', '(' .. ARGV[3], '+inf')) do
  answer[#answer + 1] = kind
  answer[#answer + 1] = call('HGET', P .. 'shared', kind)
end
return answer
""",
    when_full=True,
)
