-- Links come in.

-- The entries of some keys in `ids`.
local function entries_of(keys)
  local found = {}
  flush()
  for from = 1, #keys, 1000 do
    local values = call('HMGET', IDS, unpack(keys, from, math.min(from + 999, #keys)))
    for i, value in ipairs(values) do found[from + i - 1] = value end
  end
  return found
end

-- What is known of addresses, in ten bytes each: number, state, whether another piece of evidence is wanted, relevance.
-- Each piece has the same chance to be among those kept: one that is not wanted counts as seen.
function OPS.known(op)
  local keys, told = op[2], {}
  for i, value in ipairs(entries_of(keys)) do
    local n, state, wanted, relevance = 0, 0, 1, UNKNOWN
    if value then
      local seen
      n, state, seen = struct.unpack('>I4BB', value)
      if state == DONE then
        relevance = struct.unpack('<f', value, 7)
        wanted = relevance == relevance and seen < OPTIONS.late and 1 or 0
      elseif seen >= OPTIONS.pieces and math.random() * (seen + 1) >= OPTIONS.pieces then
        wanted, new_ids[keys[i]] = 0, known(n, WAITING, seen + 1)
      end
    end
    told[i] = struct.pack('<IBBf', n, state, wanted, relevance)
  end
  return table.concat(told)
end

-- No room is left for a link of this rank. There is always some for seeds.
local function is_crowded_out(rank)
  local most = OPTIONS.most_waiting
  if most == 0 or rank > 2 then return false end
  local waiting = number('waiting')
  return waiting >= most * 1.05 or (waiting >= most and rank <= tonumber(call('HGET', META, 'floor') or -INF))
end

local function begin_to_wait(n, key, source, link, found, stamp)
  local h = host_number(link.host, link.neighbours)
  local record = {
    state = WAITING, tries = 0, deaths = 0, depth = math.min(link.depth, 65535), best = 0, host = h,
    source = source, base = link.base, score = 0, stamp = stamp, length = link.length, request = link.request,
    key = key, rest = link.body, kept = 0,
  }
  merge(record, source, found, stamp)
  if is_crowded_out(record.score + record.base) then
    count('rows', -record.kept)
    count('dropped', 1)
    new_ids[key] = nil
    call('HDEL', IDS, key)
    return false
  end
  write(n, record)
  new_ids[key] = known(n, WAITING, record.kept)
  wait(n, h, record.score + record.base)
  count_waiting(h, 1)
  return true
end

-- More evidence for a link that waits or is out.
local function see(n, source, found, seen, stamp)
  local record = read(n)
  if not record then return end
  local before, had = record.score, record.kept
  merge(record, source, found, stamp)
  write(n, record)
  new_ids[record.key] = known(n, WAITING, seen)
  if record.state == WAITING and (had == 0 or record.score ~= before) then
    wait(n, record.host, record.score + record.base)
  end
end

-- A seed, or a link for which a user's component has a better place than the one where it waits.
local function raise(n, base)
  local record = read(n)
  if not record or base <= record.base then return end
  record.base = base
  write(n, record)
  if record.state == WAITING then wait(n, record.host, record.score + base) end
end

-- Links of one page: key, evidence with its scores, base, and what a new one is made of. The number of each, and whether
-- it is new.
function OPS.admit(op)
  local source, links, stamp, keys, told = op[2], op[3], op[4], {}, {}
  for i, link in ipairs(links) do keys[i] = link[1] end
  for i, value in ipairs(entries_of(keys)) do
    local key, found, base, new = unpack(links[i])
    local n = value and unbin(value) or new and call('HINCRBY', META, 'links', 1) or 0
    if not value then
      told[i] = { n, new and begin_to_wait(n, key, source, new, found, stamp) }
    else
      local seen = math.min(string.byte(value, 6) + #found, 255)
      if string.byte(value, 5) == DONE then
        -- As many late lessons were given.
        new_ids[key] = string.sub(value, 1, 5) .. string.char(seen) .. string.sub(value, 7)
      else
        if #found > 0 then see(n, source, found, seen, stamp) end
        if base > 0 then raise(n, base) end
      end
      told[i] = { n, false }
    end
  end
  return told
end

function OPS.evidence(op) return evidence_of(op[2]) end
