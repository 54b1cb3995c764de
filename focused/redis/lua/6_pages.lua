-- Pages, how links end, lessons, and the model.

-- Is a short page, but for its addresses, the very page that led to it? The upper half of its digest tells.
local function repeats(n, half)
  call('HSET', SHORTS, bin(n), half)
  return call('HGET', SHORTS, bin(read(n).source)) == half
end

-- A judged page: its number, whether it is the copy of another, and the evidence that led there.
function OPS.record(op)
  local l = my_lease(op[2])
  if not l then return false end
  if l.order == 0 then l.order = call('HINCRBY', META, 'order', 1) end
  local me, first = bin(l.link), call('HGET', DIGESTS, op[3])
  local is_copy = (first and first ~= me) or (op[5] and repeats(l.link, string.sub(op[3], 1, 4)))
  if not first and not is_copy then
    call('HSET', DIGESTS, op[3], me)
    l.has_digest, l.digest = 1, op[3]
  end
  keep(l)
  return { l.order, is_copy, op[4] and evidence_of(l.link) }
end

-- A leased link is through: outcome, page, item and lessons together.
function OPS.acknowledge(op)
  local l = my_lease(op[2])
  if not l then return false end
  local outcome, page = op[3], op[4]
  end_lease(l, WORKER)
  local record = read(l.link)
  if record then finish(l.link, record, page and page.relevance, outcome, string.sub(op[7], 1, 255)) end
  if page then
    local head = struct.pack('<fBII', page.relevance, outcome, l.order, l.host)
    call('HSET', PAGES, bin(l.link), head .. page.url)
    if page.item then call('HSET', ITEMS, l.order, page.item) end
    count('pages', 1)
    if page.item then
      count('found', page.found)
      count('relevance', page.relevance)
    else
      -- It has the content of another.
      count('duplicates', 1)
    end
    local r = touch(l.host)
    r.pages = r.pages + 1
  else
    free_digest(l)
  end
  if op[5] > 0 then call('HSET', TARGETS, bin(l.link), bin(op[5])) end
  if op[6] then call('RPUSH', LESSONS, op[6]) end
  call('HINCRBY', OUTCOMES, outcome, 1)
  return true
end

-- The words behind the features' numbers.
function OPS.words(op) write_all(WORDS, op[2]) end

-- Pages and relevance of the last minutes, by spans of ten seconds: whoever asks how the crawl stands wants its pace.
local SPAN, SPANS = 10, 30
local function write_recent()
  if not changes.pages then return end
  local span = math.floor(NOW / SPAN)
  local kept = call('HGET', RECENT, span)
  local pages, duplicates, relevance = 0, 0, 0
  if kept then
    pages, duplicates, relevance = struct.unpack('<IId', kept)
  else
    for _, old in ipairs(call('HKEYS', RECENT)) do
      if tonumber(old) <= span - SPANS then call('HDEL', RECENT, old) end
    end
  end
  call('HSET', RECENT, span, struct.pack('<IId', pages + changes.pages, duplicates + (changes.duplicates or 0),
    relevance + (changes.relevance or 0)))
end

-- Lessons after a number, some at a time: how many were let go of before the first, and the lessons.
function OPS.lessons(op)
  local first = tonumber(call('HGET', META, 'lessons') or 0)
  local from = math.max(op[2] - first, 0)
  return { first + from, call('LRANGE', LESSONS, from, from + op[3] - 1) }
end

local function is_mine_to_teach()
  local trainer = call('HMGET', META, 'trainer', 'trains_until')
  return not trainer[1] or trainer[1] == WORKER or tonumber(trainer[2]) <= NOW
end

-- Keep what was learned, if nobody else has the role of the trainer; lessons that it knows are let go of.
function OPS.save_model(op)
  if not is_mine_to_teach() then return false end
  local name, upto, digest, data = op[2], op[3], op[4], op[5]
  local version = call('HINCRBY', META, 'model', 1)
  call('HSET', PREFIX .. 'model:' .. name, 'version', version, 'upto', upto, 'digest', digest, 'data', data)
  local first = tonumber(call('HGET', META, 'lessons') or 0)
  if upto > first then
    call('LTRIM', LESSONS, upto - first, -1)
    call('HSET', META, 'lessons', upto)
  end
  return version
end

function OPS.load_model(op)
  local kept = call('HMGET', PREFIX .. 'model:' .. op[2], 'version', 'upto', 'digest', 'data')
  if not kept[1] then return false end
  return { tonumber(kept[1]), tonumber(kept[2]), kept[3], kept[4] }
end

function OPS.note(op) call('HSET', NOTES, op[2], op[3]) end
-- Change a note, unless somebody else has changed it meanwhile.
function OPS.revise(op)
  if (call('HGET', NOTES, op[2]) or '') ~= op[3] then return false end
  call('HSET', NOTES, op[2], op[4])
  count('revised', 1)
  return true
end

function OPS.noted(op) return call('HGET', NOTES, op[2]) end
