-- Groups of hosts with a ceiling for all of them: a domain, or the address of a server (focused/safety/neighbourhoods.py).
--
-- A host may belong to two of them, told by their names in `neighbours`. Where one is full its hosts stand in line
-- (3_hosts.lua).

-- when the next request may go out, how many are out, how many hosts were met of late; then these hosts, and when
local GROUP, GROUP_SIZE = '<dII', 16
local NEWCOMER, NEWCOMER_SIZE = '<Id', 12
local MINUTE, LOOK_AGAIN = 60, 0.1
-- A group that opens later than this cannot have come about.
local LONGEST_CLOSED = 3600
-- Groups by name, those to be written; names of groups by host; how often hosts had to wait, by group.
local groups, changed_groups, names_known, waited

local function forget_groups() groups, changed_groups, names_known, waited = {}, {}, {}, {} end

-- `spacing`, `at_once`, `new_hosts`; nil where there is no ceiling.
local function ceiling_of(name)
  return OPTIONS.ceilings and OPTIONS.ceilings[string.match(name, '^(%a+):') or '']
end

local function names_of(h)
  local names = names_known[h]
  if names then return names end
  names = {}
  for name in string.gmatch(OPTIONS.ceilings and call('HGET', NEIGHBOURS, bin(h)) or '', '[^ ]+') do
    if ceiling_of(name) and #names < 2 then names[#names + 1] = name end
  end
  names_known[h] = names
  return names
end

local function set_names(h, names)
  names_known[h] = nil
  call('HSET', NEIGHBOURS, bin(h), names)
end

local function group(name)
  local g = groups[name]
  if g then return g end
  g = { free_at = 0, out = 0, newcomers = {} }
  local raw = call('HGET', GROUPS, name)
  if raw and #raw >= GROUP_SIZE then
    local free_at, out, met = struct.unpack(GROUP, raw)
    -- What somebody else has written would keep hosts waiting.
    if free_at >= 0 and free_at < NOW + LONGEST_CLOSED and #raw == GROUP_SIZE + NEWCOMER_SIZE * met then
      g.free_at, g.out = free_at, out
      for i = 1, met do
        local h, at = struct.unpack(NEWCOMER, raw, GROUP_SIZE + NEWCOMER_SIZE * (i - 1) + 1)
        if at > NOW - MINUTE and at <= NOW then g.newcomers[#g.newcomers + 1] = { h, at } end
      end
    end
  end
  groups[name] = g
  return g
end

local function change_group(name)
  changed_groups[name] = true
  return group(name)
end

local function write_groups()
  local written = {}
  for name in pairs(changed_groups) do
    local g, parts = groups[name], {}
    for i, newcomer in ipairs(g.newcomers) do parts[i] = struct.pack(NEWCOMER, newcomer[1], newcomer[2]) end
    written[name] = struct.pack(GROUP, g.free_at, g.out, #parts) .. table.concat(parts)
  end
  if next(written) then write_all(GROUPS, written) end
  changed_groups = {}
end

-- How many hosts may be let out of a group's line now, and when it is to be looked at again. ``is_new``: hosts of which
-- nothing was asked so far.
local function room_of(name, is_new)
  local g, ceiling = group(name), ceiling_of(name)
  if not ceiling then return 100, NOW + LOOK_AGAIN end
  if is_new then
    if ceiling.new_hosts == 0 then return 100, NOW + LOOK_AGAIN end
    local left = ceiling.new_hosts - #g.newcomers
    if left <= 0 then return 0, g.newcomers[1][2] + MINUTE end
    return left, NOW + 1
  end
  if ceiling.at_once > 0 and g.out >= ceiling.at_once then return 0, NOW + LOOK_AGAIN end
  if g.free_at > NOW then return 0, g.free_at end
  if ceiling.spacing > 0 then return 1, NOW + ceiling.spacing end
  return ceiling.at_once > 0 and ceiling.at_once - g.out or 100, NOW + LOOK_AGAIN
end

-- The line of a group in which a host is to stand, and when that is to be looked at; nil if there is room for it.
local function line_of_full(name, is_new)
  local room, again = 1, 0
  if is_new then room, again = room_of(name, true) end
  if room <= 0 then return name .. ' new', again end
  room, again = room_of(name, false)
  if room <= 0 then return name, again end
end

local function line_for(h, is_new)
  for _, name in ipairs(names_of(h)) do
    local line, again = line_of_full(name, is_new)
    if line then return line, again end
  end
end

local function take_time(name)
  local g, ceiling = change_group(name), ceiling_of(name)
  g.free_at = math.max(g.free_at, NOW) + (ceiling and ceiling.spacing or 0)
end

local function meet(name, h)
  local g, ceiling = change_group(name), ceiling_of(name)
  if not ceiling or ceiling.new_hosts == 0 then return end
  for _, newcomer in ipairs(g.newcomers) do
    if newcomer[1] == h then return end
  end
  g.newcomers[#g.newcomers + 1] = { h, NOW }
end

-- A request goes out to a host.
local function count_out(h, is_new)
  for _, name in ipairs(names_of(h)) do
    local g = change_group(name)
    g.out = g.out + 1
    take_time(name)
    if is_new then meet(name, h) end
  end
end

local function count_back(h, requests)
  for _, name in ipairs(names_of(h)) do
    local g = change_group(name)
    g.out = math.max(g.out - requests, 0)
  end
end

-- A host has a relevant page: it is no newcomer any more.
local function has_shown(h)
  for _, name in ipairs(names_of(h)) do
    local g = group(name)
    for i, newcomer in ipairs(g.newcomers) do
      if newcomer[1] == h then
        table.remove(change_group(name).newcomers, i)
        break
      end
    end
  end
end
