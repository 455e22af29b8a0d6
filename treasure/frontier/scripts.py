"""The Lua of the Redis frontier: each function of the contract is one script, so one atomic step.

All keys of a job begin with ``treasure:{job}:``, whose hash tag keeps them on one Redis node:

``meta``          hash: rate, sequence, arrivals, queued, leased, done, pages, forgotten, hosts,
                  now, version
``seen:<xxxx>``   sets of URL keys by their last 16 bits; sets of integers cost 8 bytes each
``links``         hash: URL key -> the link as the client packed it; done links are not in it
``states``        hash: URL key -> where the link stands (msgpack)
``hosts``         hash: host -> where the host stands (msgpack)
``q:<host>``      sorted set: the host's links by rank; equal orders sort by arrival
``ready``         sorted set: hosts that anybody may ask now, by their best link
``ready:<w>``     the same for hosts that worker *w* has under way and may ask again
``blocked``       sorted set: hosts that wait or are busy, by their best link
``wait``          sorted set: hosts by the time they may be asked again
``parked``        sorted set: links that wait for a retry, by time
``sizes``         sorted set: hosts by queued links, but for those in the set ``resized``
``workers``       sorted set: workers by their last sign of life, in the server's time
``leases:<w>``    set: what worker *w* has taken
``shared``        hash, with ``shared:at`` its versions: what workers tell each other

A host with downloads under way belongs to the worker that has them; its delay, kept here, holds
for the fleet. Scripts that free memory, or hardly need any, run on a Redis that is full.

What takes time is the number of commands a script calls, more than what they do. A script
therefore reads each link and host once, changes them in its own memory, and writes all of them at
its end (``finish``), one command for each kind.
"""

from __future__ import annotations

_COMMON = r"""
local P, CONCURRENCY, DELAY = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local call, fmt = redis.call, string.format
-- A link; of one that was never taken only the first four are kept.
local HOST, SCORE, SEQUENCE, ARRIVAL, STATE, ATTEMPTS, WORKER, FLYING = 1, 2, 3, 4, 5, 6, 7, 8
-- A host: when it may be asked, its own delay, downloads under way and whose they are, its best
-- link and the order of that, the set that it is in, and its time in "wait".
local ALLOWED, PAUSE, ACTIVE, OWNER, BEST, RANK, PLACE, WAITS = 1, 2, 3, 4, 5, 6, 7, 8

local function text(number) return fmt('%.17g', number) end
local function many(command, key, list)
  for i = 1, #list, 1000 do call(command, key, unpack(list, i, math.min(i + 999, #list))) end
end
local function add(lists, name, first, second)
  local list = lists[name] or {}
  lists[name] = list
  list[#list + 1] = first
  if second then list[#list + 1] = second end
end

local FIELDS = {'rate', 'sequence', 'arrivals', 'queued', 'leased', 'done', 'pages', 'forgotten',
  'hosts', 'now', 'version'}
local meta, told = {}, {}
for i, value in ipairs(call('HMGET', P .. 'meta', unpack(FIELDS))) do
  meta[FIELDS[i]] = tonumber(value or '0')
  told[FIELDS[i]] = meta[FIELDS[i]]
end
local function count(field, by) meta[field] = meta[field] + by end
local function clock(now)
  if now and now > meta.now then meta.now = now end
  return meta.now
end

local links, changed = {}, {}
local function fetch(keys)
  if #keys == 0 then return end
  for i, raw in ipairs(call('HMGET', P .. 'states', unpack(keys))) do
    links[keys[i]] = raw and cmsgpack.unpack(raw) or nil
  end
end
local function load(key)
  if not links[key] then fetch({key}) end
  return links[key]
end
local function save(key) changed[key] = true end
local function state(link) return link[STATE] or 'q' end
local function order(link) return meta.rate * link[SEQUENCE] - link[SCORE] end
local function prefix(link) return fmt('%014d:', link[ARRIVAL]) end

local hosts, before, touched, rewritten, queue, resized = {}, {}, {}, {}, {}, {}
local function keep(name, h, raw)
  hosts[name], before[name] = h, {raw, h[BEST], h[RANK], h[PLACE], h[WAITS]}
end
local function meet(names)
  if #names == 0 then return end
  for i, raw in ipairs(call('HMGET', P .. 'hosts', unpack(names))) do
    local new = {-math.huge, false, 0, '', '', 0, '', false}
    keep(names[i], raw and cmsgpack.unpack(raw) or new, raw)
  end
end
local function host(name)
  if not hosts[name] then meet({name}) end
  return hosts[name]
end
-- The same for one that is about to change.
local function touch(name)
  touched[name] = true
  return host(name)
end

-- Find where a host belongs: ready, blocked, or nowhere when it has no links.
local function settle(name, now, adds, drops)
  local h = hosts[name]
  local raw, best, rank, place, waits = unpack(before[name], 1, 5)
  if not h[BEST] then
    local top = call('ZRANGE', P .. 'q:' .. name, 0, 0, 'WITHSCORES')
    h[BEST], h[RANK] = top[1] and string.sub(top[1], 1, 15) .. name or '', tonumber(top[2] or 0)
  end
  local free = h[ACTIVE] < CONCURRENCY
  if h[BEST] == '' then
    h[PLACE] = ''
  elseif free and h[ALLOWED] <= now then
    h[PLACE] = h[ACTIVE] > 0 and 'ready:' .. h[OWNER] or 'ready'
  else
    h[PLACE] = 'blocked'
  end
  local moved = h[PLACE] ~= place or h[BEST] ~= best
  if moved and place ~= '' then add(drops, place, best) end
  if h[PLACE] ~= '' and (moved or h[RANK] ~= rank) then add(adds, h[PLACE], h[RANK], h[BEST]) end
  h[WAITS] = h[PLACE] == 'blocked' and free and h[ALLOWED]
  if h[WAITS] ~= waits then
    if h[WAITS] then add(adds, 'wait', h[WAITS], name) else add(drops, 'wait', name) end
  end
  local packed = cmsgpack.pack(h)
  if packed ~= raw then rewritten[name] = packed end
  keep(name, h, packed)
  if not raw then count('hosts', 1) end
end

-- Put links and hosts in their order.
local function place(now)
  for name, list in pairs(queue) do many('ZADD', P .. 'q:' .. name, list) end
  local adds, drops = {}, {}
  for name in pairs(touched) do settle(name, now, adds, drops) end
  for set, list in pairs(drops) do many('ZREM', P .. set, list) end
  for set, list in pairs(adds) do many('ZADD', P .. set, list) end
  touched, queue = {}, {}
end

-- Write whatever changed.
local function finish(now)
  place(now)
  local rows = {}
  for name, packed in pairs(rewritten) do add(rows, 'hosts', name, packed) end
  for key in pairs(changed) do add(rows, 'states', key, cmsgpack.pack(links[key])) end
  for field, value in pairs(meta) do
    if value ~= told[field] then add(rows, 'meta', field, value) end
    told[field] = value
  end
  for hash, list in pairs(rows) do many('HSET', P .. hash, list) end
  local names = {}
  for name in pairs(resized) do names[#names + 1] = name end
  many('SADD', P .. 'resized', names)
  rewritten, changed, resized = {}, {}, {}
end

local function ask(h, now)
  h[ALLOWED] = math.max(h[ALLOWED], now + (h[PAUSE] or DELAY))
end

local function down(link, now)
  if not link[FLYING] then return end
  link[FLYING] = false
  local h = touch(link[HOST])
  h[ACTIVE] = math.max(0, h[ACTIVE] - 1)
  if h[ACTIVE] == 0 then h[OWNER] = '' end
  if now then ask(h, now) end
end

-- Give a link its place in the queue of its host, another one when it is there already.
local function rank(key, link)
  local name, at, arrived = link[HOST], order(link), prefix(link)
  local h, own = host(name), arrived .. name
  add(queue, name, at, arrived .. key)
  if own == h[BEST] and at > h[RANK] then
    touch(name)[BEST] = false
  elseif h[BEST] == '' or (h[BEST]
      and (at < h[RANK] or (at == h[RANK] and own < h[BEST]))) then
    touch(name)
    h[BEST], h[RANK] = own, at
  end
end

local function enqueue(key, link)
  if link[STATE] then link[STATE] = 'q' end
  resized[link[HOST]] = true
  rank(key, link)
  save(key)
end

local function dequeued(link)
  local h = host(link[HOST])
  if h[BEST] == prefix(link) .. link[HOST] then touch(link[HOST])[BEST] = false end
  resized[link[HOST]] = true
  count('queued', -1)
end

-- Take a link out of the queue or the parking place, or end its lease.
local function pull(key, link)
  if state(link) == 'q' then
    call('ZREM', P .. 'q:' .. link[HOST], prefix(link) .. key)
    dequeued(link)
  elseif link[STATE] == 'p' then
    call('ZREM', P .. 'parked', key)
    count('queued', -1)
  else
    call('SREM', P .. 'leases:' .. link[WORKER], key)
    count('leased', -1)
    down(link)
  end
end

local function remove(keys)
  for _, key in ipairs(keys) do links[key] = nil end
  many('HDEL', P .. 'states', keys)
  many('HDEL', P .. 'links', keys)
end

local function wake(now)
  local due = call('ZRANGEBYSCORE', P .. 'parked', '-inf', now, 'LIMIT', 0, 1000)
  for _, key in ipairs(due) do enqueue(key, load(key)) end
  many('ZREM', P .. 'parked', due)
  local waiting = call('ZRANGEBYSCORE', P .. 'wait', '-inf', now, 'LIMIT', 0, 2000)
  for _, name in ipairs(waiting) do touch(name) end
  if #due + #waiting > 0 then finish(now) end
end

local function rescore(key, link, score)
  if state(link) ~= 'q' or link[SCORE] == score then return end
  link[SCORE] = score
  rank(key, link)
  save(key)
end

-- Everything that a worker had goes back. Links that wait for a retry stay parked.
local function leave(worker)
  for _, key in ipairs(call('SMEMBERS', P .. 'leases:' .. worker)) do
    local link = load(key)
    if link then
      pull(key, link)
      count('queued', 1)
      count('pages', -1)
      enqueue(key, link)
    end
  end
  call('DEL', P .. 'leases:' .. worker)
  call('ZREM', P .. 'workers', worker)
end
"""


def _script(body: str, *, when_full: bool) -> str:
    flags = "allow-oom" if when_full else ""
    return f"#!lua flags={flags}\n{_COMMON}\n{body}"


# In every script ARGV[1] is the concurrency and ARGV[2] the delay of a host; in those of _reports
# ARGV[3] is the worker and ARGV[4] what landed, the key of a link and the time in turns.


def _reports(body: str, *, when_full: bool) -> str:
    return _script(f"{_LANDINGS}\n{body}", when_full=when_full)


_LANDINGS = r"""
local worker, landings = ARGV[3], ARGV[4] ~= '' and cmsgpack.unpack(ARGV[4]) or {}
local given = {}
for i = 1, #landings, 2 do given[#given + 1] = landings[i] end
fetch(given)
for i = 1, #landings, 2 do
  local key, now = landings[i], landings[i + 1]
  local link = links[key]
  if link and link[STATE] == 'l' and link[WORKER] == worker and link[FLYING] then
    down(link, now)
    save(key)
    clock(now)
  end
end
"""

PUSH = _reports(
    r"""
-- ARGV[5]: four values a link: its key, the shard of that, its host and score. ARGV[6]: three of
-- each that was told before: key, shard and its new score. ARGV[7] and on: the links of the first.
local batch, moved = cmsgpack.unpack(ARGV[5]), cmsgpack.unpack(ARGV[6])
local known, names, named, new, packed, answers = {}, {}, {}, {}, {}, {}
local function name(host)
  if not named[host] and not hosts[host] then
    named[host] = true
    names[#names + 1] = host
  end
end
for i = 1, #batch, 4 do
  local key = batch[i]
  if call('SADD', P .. 'seen:' .. batch[i + 1], key) == 1 then
    count('arrivals', 1)
    links[key] = {batch[i + 2], batch[i + 3], meta.sequence, meta.arrivals}
    new[i] = true
    packed[#packed + 1] = key
    packed[#packed + 1] = ARGV[7 + (i - 1) / 4]
  elseif not links[key] then
    known[#known + 1] = key
  end
  name(batch[i + 2])
end
for i = 1, #moved, 3 do
  if not links[moved[i]] then known[#known + 1] = moved[i] end
end
many('HSET', P .. 'links', packed)
fetch(known)
for i = 1, #moved, 3 do
  if links[moved[i]] then name(links[moved[i]][HOST]) end
end
meet(names)
-- First: of a link that comes twice, only the first is among those.
for i = 1, #moved, 3 do
  local key = moved[i]
  local link = links[key]
  if link then
    rescore(key, link, moved[i + 2])
    answers[#answers + 1] = state(link)
  else
    local done = call('SISMEMBER', P .. 'seen:' .. moved[i + 1], key) == 1
    answers[#answers + 1] = done and 'd' or 'f'
  end
end
for i = 1, #batch, 4 do
  local key = batch[i]
  local link = links[key]
  if new[i] then
    enqueue(key, link)
    count('queued', 1)
    answers[#answers + 1] = 'n'
  elseif link then
    rescore(key, link, batch[i + 3])
    answers[#answers + 1] = state(link)
  else
    answers[#answers + 1] = 'd'
  end
end
finish(clock())
return {meta.queued, meta.forgotten, table.concat(answers)}
""",
    when_full=False,
)

TAKE = _reports(
    r"""
-- ARGV[6]: for each link that is wanted false, or two random numbers where it is to be drawn.
-- ARGV[7]: the pages at which no more links are given.
local now, own, taken, keys = tonumber(ARGV[5]), 'ready:' .. worker, {}, {}
local most = tonumber(ARGV[7])
clock(now)
if #landings > 0 then finish(now) end
wake(now)

local function choose(draw)
  if draw then
    local open, mine = call('ZCARD', P .. 'ready'), call('ZCARD', P .. own)
    local at = math.floor(draw[1] * (open + mine))
    local set = at < open and 'ready' or own
    return call('ZRANGE', P .. set, at < open and at or at - open, at)[1]
  end
  local a = call('ZRANGE', P .. 'ready', 0, 0, 'WITHSCORES')
  local b = call('ZRANGE', P .. own, 0, 0, 'WITHSCORES')
  local x, y = tonumber(a[2] or 'inf'), tonumber(b[2] or 'inf')
  if b[1] and (not a[1] or y < x or (y == x and b[1] < a[1])) then a = b end
  return a[1]
end

for _, draw in ipairs(cmsgpack.unpack(ARGV[6])) do
  local chosen = meta.pages < most and choose(draw)
  if not chosen then break end
  local name = string.sub(chosen, 16)
  local Q, top = P .. 'q:' .. name, nil
  if draw then
    local at = math.floor(draw[2] * call('ZCARD', Q))
    top = call('ZRANGE', Q, at, at)[1]
    call('ZREM', Q, top)
  else
    top = call('ZPOPMIN', Q)[1]
  end
  local key = string.sub(top, 16)
  local link, h = load(key), touch(name)
  local passed = call('ZCOUNT', P .. 'blocked', '-inf', '(' .. text(order(link)))
  dequeued(link)
  h[ACTIVE], h[OWNER] = h[ACTIVE] + 1, worker
  ask(h, now)
  local attempts = link[ATTEMPTS] or 0
  link[STATE], link[ATTEMPTS], link[WORKER], link[FLYING] = 'l', attempts + 1, worker, true
  save(key)
  count('leased', 1)
  count('pages', 1)
  local waited = meta.sequence - link[SEQUENCE]
  count('sequence', 1)
  place(now)
  keys[#keys + 1] = key
  taken[#taken + 1] = {key, text(link[SCORE]), waited, passed, attempts}
end
many('SADD', P .. 'leases:' .. worker, keys)
finish(now)
return {taken, #keys > 0 and call('HMGET', P .. 'links', unpack(keys)) or {}, meta.pages}
""",
    when_full=True,
)

LANDED = _reports("finish(clock())", when_full=True)

COUNT_FROM = _script(
    r"""
meta.pages = math.max(meta.pages, tonumber(ARGV[3]))
finish(clock())
return meta.pages
""",
    when_full=True,
)

ACKNOWLEDGE = _script(
    r"""
local gone, given = {}, {}
for i = 3, #ARGV, 2 do given[#given + 1] = ARGV[i] end
fetch(given)
for i = 3, #ARGV, 2 do
  local key = ARGV[i]
  local link = links[key]
  if link then
    pull(key, link)
    links[key] = nil
    gone[#gone + 1] = key
    count('done', 1)
  elseif call('SADD', P .. 'seen:' .. ARGV[i + 1], key) == 1 then
    count('done', 1)
  end
end
remove(gone)
finish(clock())
""",
    when_full=True,
)

FORGET = _script(
    r"""
local gone = {}
for i = 3, #ARGV, 2 do
  local key = ARGV[i]
  local link = load(key)
  if link and link[STATE] ~= 'l' then
    pull(key, link)
    links[key] = nil
    call('SREM', P .. 'seen:' .. ARGV[i + 1], key)
    gone[#gone + 1] = key
  end
end
count('forgotten', #gone)
remove(gone)
finish(clock())
return #gone
""",
    when_full=True,
)

RELEASE = _script(
    r"""
-- ARGV[5]: 1 when the links were not tried, else 0.
local worker, not_before, untried = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
for i = 6, #ARGV do
  local key = ARGV[i]
  local link = load(key)
  if link and link[STATE] == 'l' and link[WORKER] == worker then
    pull(key, link)
    link[ATTEMPTS] = link[ATTEMPTS] - untried
    count('queued', 1)
    count('pages', -1)
    if not_before ~= 0 then
      link[STATE] = 'p'
      call('ZADD', P .. 'parked', not_before, key)
      save(key)
    else
      enqueue(key, link)
    end
  end
end
finish(clock())
""",
    when_full=True,
)

RESCORE = _script(
    r"""
for i = 3, #ARGV, 2 do
  local link = load(ARGV[i])
  if link then rescore(ARGV[i], link, tonumber(ARGV[i + 1])) end
end
finish(clock())
""",
    when_full=True,
)

HOLD = _script(
    r"""
local name, delay, until_ = ARGV[3], ARGV[4], ARGV[5]
local h = touch(name)
if delay ~= '' then h[PAUSE] = tonumber(delay) end
if until_ ~= '' then h[ALLOWED] = math.max(h[ALLOWED], tonumber(until_)) end
finish(clock())
""",
    when_full=True,
)

NEXT_TIME = _script(
    r"""
local worker, now = ARGV[3], tonumber(ARGV[4])
clock(now)
wake(now)
finish(now)
-- What other workers have under way may bring links, or free a host, and nobody will tell us.
local others = meta.leased > call('SCARD', P .. 'leases:' .. worker)
if meta.queued <= 0 and not others then return nil end
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
if worker ~= '' then call('ZADD', P .. 'workers', now, worker) end
for _, dead in ipairs(call('ZRANGEBYSCORE', P .. 'workers', '-inf', now - lease)) do
  leave(dead)
end
finish(clock())
return call('ZCARD', P .. 'workers')
""",
    when_full=True,
)

SIZES = _script(
    r"""
local adds, drops = {}, {}
for _, name in ipairs(call('SPOP', P .. 'resized', 1000)) do
  local size = call('ZCARD', P .. 'q:' .. name)
  if size > 0 then add(adds, 1, size, name) else add(drops, 1, name) end
end
many('ZADD', P .. 'sizes', adds[1] or {})
many('ZREM', P .. 'sizes', drops[1] or {})
return call('SCARD', P .. 'resized')
""",
    when_full=True,
)

LEAVE = _script("leave(ARGV[3])\nfinish(clock())", when_full=True)

SHARE = _script(
    r"""
count('version', 1)
call('HSET', P .. 'shared', ARGV[3], ARGV[4])
call('ZADD', P .. 'shared:at', meta.version, ARGV[3])
finish(clock())
return meta.version
""",
    when_full=False,
)

SHARED = _script(
    r"""
local answer = {meta.version}
for _, kind in ipairs(call('ZRANGEBYSCORE', P .. 'shared:at', '(' .. ARGV[3], '+inf')) do
  answer[#answer + 1] = kind
  answer[#answer + 1] = call('HGET', P .. 'shared', kind)
end
return answer
""",
    when_full=True,
)
