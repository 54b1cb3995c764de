-- Pages, how links end, lessons, what was learned, and verdicts that change.

-- Pages and relevance of the last minutes are counted by spans of so many seconds, so many of them: whoever asks how the
-- crawl stands wants its pace.
local SPAN, SPANS = 10, 30
local function span_of_now() return math.floor(NOW / SPAN) end

-- Is a short page, but for its addresses, the very page that led to it? The upper half of its digest tells.
local function repeats(n, half)
  call('HSET', SHORTS, bin(n), half)
  return call('HGET', SHORTS, bin(read(n).source)) == half
end

-- A judged page: its number, whether it is the copy of another, the evidence that led there, and what was said of it.
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
  return { l.order, is_copy, op[4] and evidence_of(l.link), call('HGET', SAID, me) }
end

-- What somebody said of a page is as good as certain. R by what was said; nothing if nothing that counts was.
local function relevance_said(raw, relevance)
  local said = raw and string.match(raw, '^%["(%a+)"')
  if said == 'yes' then return math.max(relevance, OPTIONS.sure) end
  if said == 'no' then return math.min(relevance, 1 - OPTIONS.sure) end
end

-- A leased link is through: outcome, page, item and lessons together.
function OPS.acknowledge(op)
  local l = my_lease(op[2])
  if not l then return false end
  local outcome, page = op[3], op[4]
  end_lease(l, WORKER)
  local record = read(l.link)
  local said = page and relevance_said(call('HGET', SAID, bin(l.link)), page.relevance)
  if said then
    -- The critic has not learned from it: there was no page.
    page.relevance, page.found = said, page.item and said >= OPTIONS.relevant and 1 or 0
    count('answers', 1)
  end
  if record then finish(l.link, record, page and page.relevance, outcome, string.sub(op[7], 1, 255)) end
  if page then
    page.outcome, page.order, page.host, page.span = outcome, l.order, l.host, span_of_now()
    call('HSET', PAGES, bin(l.link), dump_page(page))
    if page.gist then
      call('HSET', GISTS, l.order, bin(l.link) .. page.gist)
      if page.version < number('critic') then call('SADD', OUTDATED, l.order) end
    end
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
    if page.found == 1 then has_shown(l.host) end
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

local function write_recent()
  if not changes.pages then return end
  local span = span_of_now()
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

-- Lessons that the model knows by now: those of the newest pages are kept where they may be taught anew.
local function keep_taught(lessons)
  if OPTIONS.anew == 0 then return end
  for _, of_link in ipairs(lessons) do
    -- The first byte says whether of a page.
    if string.byte(of_link) == 1 then call('RPUSH', TAUGHT, of_link) end
  end
  call('LTRIM', TAUGHT, -OPTIONS.anew, -1)
end

-- Keep what was learned, if nobody else has the role of the trainer; lessons that it knows are let go of.
function OPS.save_model(op)
  if not is_mine_to_teach() then return false end
  local name, upto, digest, data, critic = op[2], op[3], op[4], op[5], op[6]
  local version = call('HINCRBY', META, 'model', 1)
  call('HSET', PREFIX .. 'model:' .. name, 'version', version, 'upto', upto, 'digest', digest, 'data', data, 'critic',
    critic)
  local first = tonumber(call('HGET', META, 'lessons') or 0)
  if upto > first then
    keep_taught(call('LRANGE', LESSONS, 0, upto - first - 1))
    call('LTRIM', LESSONS, upto - first, -1)
    call('HSET', META, 'lessons', upto)
  end
  return version
end

function OPS.load_model(op)
  local kept = call('HMGET', PREFIX .. 'model:' .. op[2], 'version', 'upto', 'digest', 'data', 'critic')
  if not kept[1] then return false end
  return { tonumber(kept[1]), tonumber(kept[2]), kept[3], kept[4], tonumber(kept[5] or 0) }
end

-- Lessons that the model knew, some of them: how many there are, how many were let go of from `lessons`, and they.
function OPS.taught(op)
  local first = tonumber(call('HGET', META, 'lessons') or 0)
  return { call('LLEN', TAUGHT), first, op[3] > 0 and call('LRANGE', TAUGHT, op[2], op[2] + op[3] - 1) or {} }
end

-- Keep what the critic has learned from so many pages and answers, if it is the next version, and nobody else has the
-- role.
function OPS.save_critic(op)
  local version, pages, answers, digest, data = op[2], op[3], op[4], op[5], op[6]
  if not is_mine_to_teach() or version ~= number('critic') + 1 then return false end
  call('HSET', PREFIX .. 'model:critic', 'version', version, 'upto', pages, 'digest', digest, 'data', data)
  call('HSET', META, 'critic', version, 'learned_at', pages, 'learned_answers', answers)
  return true
end

-- What is kept of some pages, told by their orders, if they were judged before a version: number of the link, and gist.
function OPS.gists(op)
  local orders, before, found = op[2], op[3], {}
  for _, gist in ipairs(call('HMGET', GISTS, unpack(orders))) do
    local b = gist and string.sub(gist, 1, 4)
    local page = b and before and call('HGET', PAGES, b)
    if b and (not before or parse_page(page).version < before) then
      found[#found + 1] = { unbin(b), string.sub(gist, 5) }
    end
  end
  return found
end

-- The orders of some pages that came in with outdated verdicts.
function OPS.outdated(op) return call('SRANDMEMBER', OUTDATED, op[2]) end

-- All pages that were there before a version of the critic were judged anew.
function OPS.judged(op)
  if op[2] > number('judged') then call('HSET', META, 'judged', op[2]) end
end

-- A page counts by another R from now on.
local function count_anew(page, relevance)
  local by = relevance - page.relevance
  count('relevance', by)
  local relevant = OPTIONS.relevant
  count('found', (relevance >= relevant and 1 or 0) - (page.relevance >= relevant and 1 or 0))
  local kept = call('HGET', RECENT, page.span)
  if kept then
    local pages, duplicates, sum = struct.unpack('<IId', kept)
    call('HSET', RECENT, page.span, struct.pack('<IId', pages, duplicates, sum + by))
  end
end

-- A page that is through has another R from now on.
local function judge_anew(n, page, relevance)
  if page.outcome == 1 then count_anew(page, relevance) end
  page.relevance = relevance
  call('HSET', PAGES, bin(n), dump_page(page))
  local past = call('HGET', PAST, bin(n))
  local key = past and key_in_past(past)
  if key then new_ids[key] = string.sub(entry_of(key), 1, 6) .. struct.pack('<f', relevance) end
end

-- New verdicts of a version of the critic on pages that have older ones. They are no duplicates, of which none is kept.
function OPS.revise_verdicts(op)
  local version, links, relevance, classes = op[2], op[3], op[4], op[5]
  for i, n in ipairs(links) do
    local raw = call('HGET', PAGES, bin(n))
    local page = raw and parse_page(raw)
    if page and version >= number('critic') then call('SREM', OUTDATED, page.order) end
    if page and page.version < version then
      page.version, page.class = version, classes[i]
      judge_anew(n, page, relevance[i])
    end
  end
end

-- The link behind a link, redirects followed.
local function behind(b)
  for _ = 1, 20 do
    local further = call('HGET', TARGETS, b)
    if not further then break end
    b = further
  end
  return b
end

-- R of the pages behind some links, redirects followed, and their outcomes; NaN where there is none.
function OPS.verdicts(op)
  local told = {}
  for i, n in ipairs(op[2]) do
    local b = behind(bin(n))
    local page = call('HGET', PAGES, b)
    told[i] = page and string.sub(page, 1, 9) or struct.pack('<dB', UNKNOWN, 0)
  end
  return table.concat(told)
end

-- What somebody said of pages; so many of the answers say something. If it was read from the inbox, between which places:
-- false if another worker was first. What follows from the orders that were read with it, if there were any.
function OPS.keep_answers(op)
  if op[4] then
    if tonumber(call('HGET', NOTES, 'inbox') or 0) ~= op[4] then return false end
    call('HSET', NOTES, 'inbox', op[5])
    if op[6] then call('HSET', NOTES, 'steering', op[6]) end
  end
  for b, raw in pairs(op[2]) do
    b = behind(b)
    local before, page = call('HGET', SAID, b), call('HGET', PAGES, b)
    call('HSET', SAID, b, raw)
    page = page and parse_page(page)
    if page then
      local said = relevance_said(raw, page.relevance)
      -- Taken back, it is what it was.
      if not said and relevance_said(before, 0) then said = tonumber(string.match(raw, '([%d.e+-]+)%]$') or '') end
      if said and said >= 0 and said <= 1 then judge_anew(unbin(b), page, said) end
    end
  end
  count('answers', op[3])
  return true
end

function OPS.answers() return call('HGETALL', SAID) end

-- A page that may be asked about; of so many the oldest makes room.
function OPS.offer(op)
  call('RPUSH', QUESTIONS, op[2])
  call('LTRIM', QUESTIONS, -op[3], -1)
end

function OPS.offered(op) return call('LRANGE', QUESTIONS, op[2], op[3]) end

function OPS.note(op) call('HSET', NOTES, op[2], op[3]) end
-- Change a note, unless somebody else has changed it meanwhile.
function OPS.revise(op)
  if (call('HGET', NOTES, op[2]) or '') ~= op[3] then return false end
  call('HSET', NOTES, op[2], op[4])
  count('revised', 1)
  return true
end

function OPS.noted(op) return call('HGET', NOTES, op[2]) end
