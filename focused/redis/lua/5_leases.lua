-- Leases: by worker, so that those of a dead one are taken back together. What it says later finds none of them.

-- link, host, is the request still to go out, does it count for its host, is its page at work, has it a digest, is it
-- a suspect, rank, number of its page, digest
local LEASE = '<IIBBBBBdIc8'
local NO_DIGEST = '\0\0\0\0\0\0\0\0'
local MOST_TRIES = 5
-- Seconds for which no host sleeps.
local LONGEST_SLEEP = 1e7

local function lease_of(token, worker)
  local raw = call('HGET', leases_of(worker or WORKER), token)
  if not raw then return nil end
  local l = { token = token }
  l.link, l.host, l.unsent, l.counts, l.at_work, l.has_digest, l.suspect, l.rank, l.order, l.digest =
    struct.unpack(LEASE, raw)
  return l
end

local function keep(l)
  call('HSET', leases_of(WORKER), l.token, struct.pack(LEASE, l.link, l.host, l.unsent, l.counts, l.at_work,
    l.has_digest, l.suspect, l.rank, l.order, l.digest))
end

local function my_lease(token)
  local l = lease_of(token)
  if not l then count('refused', 1) end
  return l
end

local function no_longer_counts(l)
  if l.counts == 1 then
    free(l.host, l.unsent == 1)
    count_back(l.host, 1)
  end
  l.counts, l.unsent = 0, 0
end

local function counts_again(l)
  local r = touch(l.host)
  count_out(l.host, is_new(r))
  r.out, r.unsent, r.leased = r.out + 1, r.unsent + 1, NOW
  l.counts, l.unsent = 1, 1
end

local function end_lease(l, worker)
  no_longer_counts(l)
  call('HDEL', leases_of(worker), l.token)
  count('leased', -1)
  if l.suspect == 1 then call('HDEL', SUSPECTED, worker) end
end

-- The page of a lease was not acknowledged: its content is free for others.
local function free_digest(l)
  if l.has_digest == 1 and call('HGET', DIGESTS, l.digest) == bin(l.link) then call('HDEL', DIGESTS, l.digest) end
end

local function wait_again(l, worker, tries)
  end_lease(l, worker)
  free_digest(l)
  local record = read(l.link)
  if not record then return nil end
  record.state, record.tries = WAITING, math.max(record.tries + tries, 0)
  count_waiting(record.host, 1)
  return record
end

-- A worker is dead. One of its pages may have been the killer: they go out one by one, and the others are not blamed.
local function bury(worker)
  for _, token in ipairs(call('HKEYS', leases_of(worker))) do
    local l = lease_of(token, worker)
    local record = wait_again(l, worker, 0)
    if record then
      record.deaths = record.deaths + l.at_work
      if record.deaths >= OPTIONS.most_deaths or record.tries >= MOST_TRIES * OPTIONS.most_deaths then
        finish(l.link, record, nil, OPTIONS.failed, '')
        count_waiting(record.host, -1)
        call('HINCRBY', OUTCOMES, OPTIONS.failed, 1)
      else
        record.state = SUSPECT
        write(l.link, record)
        call('ZADD', SUSPECTS, exact(-l.rank), bin(l.link))
      end
    end
    count('taken_back', 1)
  end
  call('ZREM', WORKERS, worker)
  call('HDEL', ANSWERS, worker)
  if call('HGET', META, 'trainer') == worker then call('HDEL', META, 'trainer', 'trains_until') end
end

local function bury_the_dead()
  local dead = call('ZRANGEBYSCORE', WORKERS, '-inf', exact(NOW - OPTIONS.lease_seconds), 'LIMIT', 0, 10)
  for _, worker in ipairs(dead) do bury(worker) end
end

local function address_of(n)
  local page = call('HGET', PAGES, bin(n))
  if page then return parse_page(page).url end
  local record = n > 0 and read(n)
  return record and url_of(record) or ''
end

local function hand_out(token, n, rank, is_suspect)
  local record = read(n)
  if not record then damaged('link ' .. n .. ' is to be fetched, and is not in "links"') end
  record.state, record.tries = LEASED, record.tries + 1
  write(n, record)
  local l = {
    token = token, link = n, host = record.host, unsent = 0, counts = 0, at_work = 0, has_digest = 0,
    suspect = is_suspect and 1 or 0, rank = rank, order = 0, digest = NO_DIGEST,
  }
  counts_again(l)
  keep(l)
  count_waiting(record.host, -1)
  count('leased', 1)
  return {
    token = token, link = n, url = url_of(record), host = record.host, name = call('HGET', NAMES, bin(record.host)),
    depth = record.depth, source = record.source, base = record.base, rank = rank, tries = record.tries,
    request = record.request > 0 and string.sub(record.rest, record.length + 1, record.length + record.request),
    parent = address_of(record.source), pages = host(record.host).pages,
  }
end

local function is_open(h)
  local r = host(h)
  return opening(r) <= NOW and not line_for(h, is_new(r))
end

local function lease_again(tokens)
  for _, token in ipairs(tokens) do
    local l = lease_of(token)
    if not l then return { token = token, gone = true } end
    if is_open(l.host) then
      counts_again(l)
      keep(l)
      return { token = token }
    end
  end
end

local function lease_suspect(token)
  local entries = call('ZRANGE', SUSPECTS, 0, 9, 'WITHSCORES')
  if not entries[1] or call('HEXISTS', SUSPECTED, WORKER) == 1 then return nil end
  for i = 1, #entries, 2 do
    local n = unbin(entries[i])
    local record = read(n)
    if not record then
      call('ZREM', SUSPECTS, entries[i])
    elseif is_open(record.host) then
      call('ZREM', SUSPECTS, entries[i])
      call('HSET', SUSPECTED, WORKER, token)
      local lease = hand_out(token, n, -tonumber(entries[i + 1]), true)
      lease.suspect = true
      return lease
    end
  end
end

local function lease_best(token, patience)
  wake_due()
  open_lines()
  for _ = 1, 100 do
    local top = call('ZRANGE', READY, 0, 0, 'WITHSCORES')
    if not top[1] then return nil, true end
    local h = unbin(top[1])
    local r = host(h)
    local rank, n, is_in_run = best(h, r)
    if not rank or opening(r) > NOW or line_for(h, is_new(r)) or -rank > tonumber(top[2]) then
      -- Its best link has gone or become worse.
      place_anew(h)
      -- One that was never placed there would stay at the top.
      if r.place ~= IN_READY then call('ZREM', READY, top[1]) end
    else
      if patience > 0 and rank < patience and rank < patience * best_resting() then return nil, true end
      if is_in_run then r.cursor = r.cursor + 1 else unlist(h, bin(n)) end
      touch(h)
      return hand_out(token, n, rank)
    end
  end
end

-- When the first host, or the first line, opens.
local function next_opening()
  local host, line = call('ZRANGE', ASLEEP, 0, 0, 'WITHSCORES')[2], call('ZRANGE', CLOSED, 0, 0, 'WITHSCORES')[2]
  if line and (not host or host == 'inf' or tonumber(line) < tonumber(host)) then return line end
  return host
end

-- Links wait or are out, but nobody has one, and no host has one to give, now or later: of deleted keys nothing comes, and
-- all workers would wait for it forever. ``wake`` is when the first host opens.
local function check_hope(wake)
  if wake and wake ~= 'inf' then
    if tonumber(wake) > NOW + LONGEST_SLEEP then damaged('a host in "asleep" sleeps for months') end
    return
  end
  local waiting, leased = number('waiting'), number('leased')
  if waiting + leased == 0 or call('EXISTS', READY) == 1 then return end
  for _, worker in ipairs(call('ZRANGE', WORKERS, 0, -1)) do
    if call('EXISTS', leases_of(worker)) == 1 then return end
  end
  damaged(string.format('%d links wait and %d are in progress, but none of them is anywhere', waiting, leased))
end

-- The best link whose host may be fetched; those that this worker gave back under their lease first.
function OPS.lease(op)
  settle()
  local lease, is_all = lease_again(op[4]) or lease_suspect(op[2]), true
  if not lease then lease, is_all = lease_best(op[2], op[3]) end
  settle()
  if lease then return lease end
  -- There may be others behind the hosts that were looked at.
  if not is_all then return { wake = 0, workers = 0 } end
  local wake = next_opening()
  check_hope(wake)
  if wake and wake ~= 'inf' then return { wake = tonumber(wake) - NOW, workers = call('ZCARD', WORKERS) } end
  return {}
end

-- One link, whatever waits before it.
function OPS.lease_link(op)
  local token, n = op[2], op[3]
  local record = read(n)
  if not record or record.state == LEASED then return false end
  call('ZREM', SUSPECTS, bin(n))
  unlist(record.host, bin(n))
  touch(record.host)
  return hand_out(token, n, record.score + record.base)
end

-- A request went out, some seconds ago; its host's pace.
function OPS.sent(op)
  local l = lease_of(op[2])
  if not l or l.unsent == 0 then return end
  l.unsent = 0
  keep(l)
  local r = touch(l.host)
  r.unsent, r.known, r.delay, r.concurrency = math.max(r.unsent - 1, 0), 1, op[3], op[4]
  r.sent = math.max(r.sent, NOW - op[5])
end

-- The link will be fetched again under its lease.
function OPS.give_back(op)
  local l = my_lease(op[2])
  if not l then return false end
  no_longer_counts(l)
  keep(l)
  return true
end

-- The link waits as if it had not been leased; its host sleeps for some seconds.
function OPS.postpone(op)
  local l = my_lease(op[2])
  if not l then return false end
  local record = wait_again(l, WORKER, -1)
  if record then
    write(l.link, record)
    wait(l.link, record.host, l.rank)
    local r = touch(record.host)
    if op[3] > 0 then r.rest = math.max(r.rest, NOW + op[3]) end
  end
  return true
end

function OPS.at_work(op)
  local l = my_lease(op[2])
  if l then
    l.at_work = 1
    keep(l)
  end
end

-- A request that is no link's goes out to a host, for its robots.txt.
function OPS.ask_beside(op)
  for _, name in ipairs(names_of(host_number(op[2]))) do take_time(name) end
end

-- The server of a host has this address, '' for none; false: there is no ceiling above it. Its requests that are out count
-- for it from now on. For how many seconds it is not to be asked, because that address is full.
function OPS.resolved(op)
  local h, name = host_number(op[2]), op[3]
  local names = names_of(h)
  if not name then
    count_back(h, host(h).out)
    has_shown(h)
    set_names(h, '')
    touch(h)
    return 0
  end
  if name == '' or not ceiling_of(name) then return 0 end
  for _, known in ipairs(names) do
    if string.sub(known, 1, 8) == 'address:' then return 0 end
  end
  local r, g = touch(h), change_group(name)
  local line, again = line_of_full(name, r.pages == 0)
  set_names(h, table.concat(names, ' ') .. ' ' .. name)
  g.out = g.out + r.out
  if line then
    -- Nothing was asked of it after all.
    r.leased = r.pages == 0 and -INF or r.leased
    waited[name] = (waited[name] or 0) + 1
    return math.max(again - NOW, LOOK_AGAIN)
  end
  take_time(name)
  if r.pages == 0 then meet(name, h) end
  return 0
end

function OPS.mine(op) return call('HKEYS', leases_of(WORKER)) end

-- A leased link leads to another address. Its evidence goes there, too, while that address is not done.
function OPS.redirect(op)
  local token, key, url, name, neighbours = op[2], op[3], op[4], op[5], op[7]
  local l = my_lease(token)
  if not l then return { followed = false, link = 0 } end
  local entry = entry_of(key)
  local target = entry and unbin(entry) or call('HINCRBY', META, 'links', 1)
  if target == l.link then return { followed = true, link = target, host = l.host } end
  local old, new, came_from = read(l.link), read(target), op[6]
  local is_known = entry and string.byte(entry, 5) == DONE
  if (new and new.state == LEASED) or (is_known and not came_from[target]) then
    if new then
      for _, piece in ipairs(pieces_of(old)) do merge(new, 0, { { new.score, piece } }, new.stamp) end
      write(target, new)
      set_pieces(old, {})
      write(l.link, old)
    end
    local behind = target
    for _ = 1, 20 do
      local further = call('HGET', TARGETS, bin(behind))
      if not further then break end
      behind = unbin(further)
    end
    return { followed = false, link = target, relevance = relevance_of(behind), is_through = not read(behind) }
  end
  if new then
    count_waiting(new.host, -1)
    unlist(new.host, bin(target))
    call('ZREM', SUSPECTS, bin(target))
    touch(new.host)
  else
    new = {
      tries = 0, deaths = 0, depth = old.depth, best = 0, host = host_number(name, neighbours), source = old.source, base = old.base,
      score = 0, stamp = old.stamp, length = #url, request = 0, key = key, kept = 0,
      rest = url .. string.rep('\0', -#url % 4),
    }
  end
  for _, piece in ipairs(pieces_of(old)) do merge(new, 0, { { old.score, piece } }, old.stamp) end
  new.state, new.tries = LEASED, math.max(new.tries, old.tries)
  write(target, new)
  new_ids[key] = known(target, WAITING, new.kept)
  finish(l.link, old, nil, OPTIONS.redirect, '')
  call('HSET', TARGETS, bin(l.link), bin(target))
  call('HDEL', TARGETS, bin(target))
  local said = call('HGET', SAID, bin(l.link))
  if said and call('HEXISTS', SAID, bin(target)) == 0 then call('HSET', SAID, bin(target), said) end
  -- There and back: of the two only the one that was left now has ended.
  if not is_known then call('HINCRBY', OUTCOMES, OPTIONS.redirect, 1) end
  no_longer_counts(l)
  l.link, l.host = target, new.host
  keep(l)
  return { followed = true, link = target, host = new.host, pages = host(new.host).pages }
end
