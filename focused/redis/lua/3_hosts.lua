-- Hosts: which of their links is the best, and when the next may be fetched.
--
-- The links of a host stand in its `run` (those scored last, the best first, with a cursor) or in its `order` (those
-- that came or changed since). While its links are scored again, those that stood in `order` when that began stand in
-- `old`. One that stands in the run and elsewhere counts by its place elsewhere.

-- delay, requests at a time, how many are out, how many of these have not gone out yet, is the pace known, until when
-- it rests, when the last request went out, cursor, turn of the run, pages, has it an `old`, where it is listed, rank
-- there, when one of its links was leased last
local HOST = '<fHHHBddIIIBBdd'
local NOWHERE, IN_READY, IN_RESTING, IN_LINE = 0, 1, 2, 3
local ASLEEP_TOO = 4
-- Of hosts: what is known of them, their numbers by name; those to be placed anew, those to be written, the rank of the
-- best link that came, and how many links more or less wait.
local hosts, numbers, touched, changed, came, crowds

local function forget_hosts() hosts, numbers, touched, changed, came, crowds = {}, {}, {}, {}, {}, {} end

local function host(h)
  local r = hosts[h]
  if r then return r end
  r = { delay = 0, concurrency = 1, out = 0, unsent = 0, known = 0, rest = 0, sent = -INF, cursor = 0, turn = 0,
    pages = 0, has_old = 0, place = NOWHERE, rank = 0, leased = -INF }
  local raw = call('HGET', PACES, bin(h))
  if raw then
    r.delay, r.concurrency, r.out, r.unsent, r.known, r.rest, r.sent, r.cursor, r.turn, r.pages, r.has_old, r.place,
      r.rank, r.leased = struct.unpack(HOST, raw)
  end
  hosts[h] = r
  return r
end

local function touch(h)
  touched[h] = true
  return host(h)
end

-- Was nothing asked of a host so far?
local function is_new(r) return r.pages == 0 and r.leased == -INF end

-- The number of a host. One that is new belongs to these groups.
local function host_number(name, neighbours)
  local h = numbers[name]
  if h then return h end
  local found = call('HGET', HOSTS, name)
  h = found and unbin(found)
  if not h then
    h = call('HINCRBY', META, 'hosts', 1)
    call('HSET', HOSTS, name, bin(h))
    call('HSET', NAMES, bin(h), name)
    if neighbours and neighbours ~= '' then set_names(h, neighbours) end
  end
  numbers[name] = h
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

-- Links of a host begin to wait, or cease to.
local function count_waiting(h, by)
  count('waiting', by)
  crowds[h] = (crowds[h] or 0) + by
end

local function write_crowds()
  for h, by in pairs(crowds) do
    if by ~= 0 and call('ZINCRBY', CROWDS, by, bin(h)) == '0' then call('ZREM', CROWDS, bin(h)) end
  end
end

local function is_elsewhere(h, b)
  return call('ZSCORE', order_of(h), b) or (host(h).has_old == 1 and call('ZSCORE', old_of(h), b))
end

local function unlist(h, b)
  call('ZREM', order_of(h), b)
  if host(h).has_old == 1 then call('ZREM', old_of(h), b) end
end

local function head_of_run(h, r)
  local run, passed = run_of(h), 0
  while true do
    passed = passed + 1
    -- A run has each link at most once. One that is longer would be gone through for minutes.
    if passed == 1000 and call('STRLEN', run) / 8 > number('links') then damaged('"run:' .. h .. '" is too long') end
    local entry = call('GETRANGE', run, 8 * r.cursor, 8 * r.cursor + 7)
    if #entry < 8 then return nil end
    local rank, n = struct.unpack('<fI', entry)
    local raw = raw_of(bin(n))
    if raw and string.byte(raw, 1) == WAITING and not is_elsewhere(h, bin(n)) then return rank, n end
    r.cursor = r.cursor + 1
    changed[h] = true
  end
end

-- Rank and number of the best link, and whether it stands in the run.
local function best(h, r)
  local rank, n = head_of_run(h, r)
  local is_in_run = true
  for i = 0, r.has_old do
    local top = call('ZRANGE', i == 0 and order_of(h) or old_of(h), 0, 0, 'WITHSCORES')
    if top[1] then
      local other, m = -tonumber(top[2]), unbin(top[1])
      if not rank or other > rank or (other == rank and m < n) then rank, n, is_in_run = other, m, false end
    end
  end
  return rank, n, is_in_run
end

-- A host stands in a line, or leaves the one in which it stood.
local function stand(b, line, rank, again)
  local stood = call('HGET', STANDS, b)
  if stood and stood ~= line then call('ZREM', line_of(stood), b) end
  if not line then
    call('HDEL', STANDS, b)
    return
  end
  call('ZADD', line_of(line), exact(-rank), b)
  if stood ~= line then
    call('HSET', STANDS, b, line)
    local name = string.gsub(line, ' new$', '')
    waited[name] = (waited[name] or 0) + 1
  end
  if not call('ZSCORE', CLOSED, line) then call('ZADD', CLOSED, exact(again), line) end
end

-- Put a host where it belongs: ready, resting until it opens, or in the line of a group that is full.
local function place(h, r, rank)
  local b, at = bin(h), opening(r)
  local is_asleep, was_asleep = at > NOW, r.place >= ASLEEP_TOO
  local was = was_asleep and r.place - ASLEEP_TOO or r.place
  local line, again
  if rank and not is_asleep then line, again = line_for(h, is_new(r)) end
  local is = not rank and NOWHERE or is_asleep and IN_RESTING or line and IN_LINE or IN_READY
  if is_asleep then
    call('ZADD', ASLEEP, at == INF and '+inf' or exact(at), b)
  elseif was_asleep then
    call('ZREM', ASLEEP, b)
  end
  if is == IN_LINE or was == IN_LINE then stand(b, line, rank, again) end
  if was ~= NOWHERE and was ~= IN_LINE and was ~= is then call('ZREM', was == IN_READY and READY or RESTING, b) end
  if is ~= NOWHERE and is ~= IN_LINE and (was ~= is or r.rank ~= rank) then
    call('ZADD', is == IN_READY and READY or RESTING, exact(-rank), b)
  end
  r.place, r.rank = is + (is_asleep and ASLEEP_TOO or 0), rank or 0
end

local function place_anew(h)
  local r = host(h)
  place(h, r, (best(h, r)))
  changed[h] = true
end

-- Where links only came, the best is the better of the newcomers and of what was best. (It may have become worse; then
-- that is found out when it is to be handed out.)
local function settle()
  flush()
  for h in pairs(touched) do
    place_anew(h)
  end
  for h, rank in pairs(came) do
    if not touched[h] then
      local r = host(h)
      local is_listed = r.place ~= NOWHERE and r.place ~= ASLEEP_TOO
      if not is_listed or rank > r.rank then
        place(h, r, rank)
        changed[h] = true
      end
    end
  end
  local paces = {}
  for h in pairs(changed) do
    local r = hosts[h]
    paces[bin(h)] = struct.pack(HOST, r.delay, r.concurrency, r.out, r.unsent, r.known, r.rest, r.sent, r.cursor,
      r.turn, r.pages, r.has_old, r.place, r.rank, r.leased)
  end
  if next(paces) then write_all(PACES, paces) end
  write_groups()
  touched, changed, came = {}, {}, {}
end

local function wait(n, h, rank)
  if host(h).has_old == 1 then call('ZREM', old_of(h), bin(n)) end
  call('ZADD', order_of(h), exact(-rank), bin(n))
  came[h] = math.max(came[h] or -INF, rank)
end

local function wake_due()
  for _, b in ipairs(call('ZRANGEBYSCORE', ASLEEP, '-inf', exact(NOW), 'LIMIT', 0, 100)) do
    -- One that is no host of ours would stay there.
    call('ZREM', ASLEEP, b)
    place_anew(unbin(b))
  end
end

-- Let go the best hosts of the lines whose time has come: as many as there is room for, whatever stands in line.
local function open_lines()
  for _, line in ipairs(call('ZRANGEBYSCORE', CLOSED, '-inf', exact(NOW), 'LIMIT', 0, 100)) do
    local name, of_new = string.gsub(line, ' new$', '')
    local room, again = room_of(name, of_new == 1)
    for _, b in ipairs(room > 0 and call('ZRANGE', line_of(line), 0, math.min(room, 100) - 1) or {}) do
      call('ZREM', line_of(line), b)
      place_anew(unbin(b))
    end
    if call('EXISTS', line_of(line)) == 1 then
      call('ZADD', CLOSED, exact(again), line)
    else
      call('ZREM', CLOSED, line)
    end
  end
end

-- Does a host belong to a group of which others stand in line?
local function is_crowded(h)
  for _, name in ipairs(names_of(h)) do
    if call('EXISTS', line_of(name), line_of(name .. ' new')) > 0 then return true end
  end
  return false
end

-- The best score, at most 1, that waits for a host which will be ready soon. One that is kept by a link that has been out
-- for long may be kept by a dead worker; and others are not held up by a group that has an endless supply of hosts.
local function best_resting()
  for _, b in ipairs(call('ZRANGE', RESTING, 0, 4)) do
    local wake = call('ZSCORE', ASLEEP, b)
    local is_soon = wake and tonumber(wake) < NOW + SOON
    if wake == 'inf' then is_soon = host(unbin(b)).leased > NOW - SOON end
    if is_soon and not is_crowded(unbin(b)) then
      return math.min(-tonumber(call('ZSCORE', RESTING, b)), 1)
    end
  end
  return -INF
end

function OPS.sleep(op)
  local r = touch(host_number(op[2]))
  r.rest = math.max(r.rest, NOW + op[3])
end
