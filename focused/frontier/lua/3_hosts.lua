-- Hosts: which of their links is the best, and when the next may be fetched.
--
-- The links of a host stand in its `run` (those scored last, the best first, with a cursor) or in its `order` (those
-- that came or changed since). While its links are scored again, those that stood in `order` when that began stand in
-- `old`. One that stands in the run and elsewhere counts by its place elsewhere.

local HOST = '<fHHHBddIII'
local cache, touched = {}, {}

local function host(h)
  local r = cache[h]
  if r then return r end
  r = { delay = 0, concurrency = 1, out = 0, unsent = 0, known = 0, rest = 0, sent = -INF, cursor = 0, turn = 0, pages = 0 }
  local raw = call('HGET', PACES, bin(h))
  if raw then
    r.delay, r.concurrency, r.out, r.unsent, r.known, r.rest, r.sent, r.cursor, r.turn, r.pages =
      struct.unpack(HOST, raw)
  end
  cache[h] = r
  return r
end

local function touch(h)
  touched[h] = true
  return host(h)
end

local function host_number(name)
  local found = call('HGET', HOSTS, name)
  if found then return unbin(found) end
  local h = call('HINCRBY', META, 'hosts', 1)
  call('HSET', HOSTS, name, bin(h))
  call('HSET', NAMES, bin(h), name)
  return h
end

-- When the host may be fetched. From a lease until its request has gone out nobody knows when the next one may.
local function opening(r)
  if r.out >= r.concurrency then return INF end
  if r.unsent > 0 and (r.known == 0 or r.delay > 0) then return INF end
  return math.max(r.rest, r.known == 1 and r.delay > 0 and r.sent + r.delay or 0)
end

local function free(h, is_unsent)
  local r = touch(h)
  r.out = math.max(r.out - 1, 0)
  if is_unsent then r.unsent = math.max(r.unsent - 1, 0) end
end

local function is_elsewhere(h, b) return call('ZSCORE', order_of(h), b) or call('ZSCORE', old_of(h), b) end

local function unlist(h, b)
  call('ZREM', order_of(h), b)
  call('ZREM', old_of(h), b)
end

local function head_of_run(h, r)
  local run = run_of(h)
  while true do
    local entry = call('GETRANGE', run, 8 * r.cursor, 8 * r.cursor + 7)
    if #entry < 8 then return nil end
    local rank, n = struct.unpack('<fI', entry)
    local raw = call('HGET', LINKS, bin(n))
    if raw and string.byte(raw, 1) == WAITING and not is_elsewhere(h, bin(n)) then return rank, n end
    r.cursor = r.cursor + 1
    touched[h] = true
  end
end

-- Rank and number of the best link, and whether it stands in the run.
local function best(h, r)
  local rank, n = head_of_run(h, r)
  local is_in_run = true
  for _, key in ipairs({ order_of(h), old_of(h) }) do
    local top = call('ZRANGE', key, 0, 0, 'WITHSCORES')
    if top[1] then
      local other, m = -tonumber(top[2]), unbin(top[1])
      if not rank or other > rank or (other == rank and m < n) then rank, n, is_in_run = other, m, false end
    end
  end
  return rank, n, is_in_run
end

-- Put a host where it belongs: ready, or resting until it opens.
local function place(h)
  local r, b = host(h), bin(h)
  local rank, at = best(h, r), opening(r)
  if at > NOW then call('ZADD', ASLEEP, at == INF and '+inf' or exact(at), b) else call('ZREM', ASLEEP, b) end
  call('ZREM', (rank and at <= NOW) and RESTING or READY, b)
  if rank then
    call('ZADD', at <= NOW and READY or RESTING, exact(-rank), b)
  else
    call('ZREM', RESTING, b)
  end
end

local function settle()
  for h in pairs(touched) do place(h) end
  for h in pairs(touched) do
    local r = cache[h]
    call('HSET', PACES, bin(h), struct.pack(HOST, r.delay, r.concurrency, r.out, r.unsent, r.known, r.rest, r.sent,
      r.cursor, r.turn, r.pages))
  end
  touched = {}
end

local function wait(n, h, rank)
  call('ZREM', old_of(h), bin(n))
  call('ZADD', order_of(h), exact(-rank), bin(n))
  touch(h)
end

local function wake_due()
  for _, b in ipairs(call('ZRANGEBYSCORE', ASLEEP, '-inf', exact(NOW), 'LIMIT', 0, 100)) do place(unbin(b)) end
end

-- The best score, at most 1, that waits for a host which will be ready soon.
local function best_resting()
  for _, b in ipairs(call('ZRANGE', RESTING, 0, 4)) do
    local wake = call('ZSCORE', ASLEEP, b)
    if wake == 'inf' or (wake and tonumber(wake) < NOW + 10) then
      return math.min(-tonumber(call('ZSCORE', RESTING, b)), 1)
    end
  end
  return -INF
end

function OPS.sleep(op)
  local r = touch(host_number(op[2]))
  r.rest = math.max(r.rest, NOW + op[3])
end
