-- A link that waits or is leased: a header, its address, its request if it is more than an address, then pieces of
-- evidence, each with its length in words of four bytes in front. A link that is done has only its entry in `ids`.

local HEAD = '<BBBBHBBIIffIHHIc8'
local HEAD_SIZE = 44

local function known(n, state, seen) return struct.pack('>I4BB', n, state, math.min(seen, 255)) end

-- The header; the rest stays one string, and `pieces` are taken out of it where they are needed one by one.
local function parse(raw)
  local state, tries, deaths, kept, depth, best, _, host, source, base, score, stamp, length, _, request, key =
    struct.unpack(HEAD, raw)
  return {
    state = state, tries = tries, deaths = deaths, kept = kept, depth = depth, best = best, host = host,
    source = source, base = base, score = score, stamp = stamp, length = length, request = request, key = key,
    rest = string.sub(raw, HEAD_SIZE + 1),
  }
end

local function dump(r)
  local head = struct.pack(HEAD, r.state, math.min(r.tries, 255), math.min(r.deaths, 255), r.kept, r.depth, r.best, 0,
    r.host, r.source, r.base, r.score, r.stamp, r.length, 0, r.request, r.key)
  return head .. r.rest
end

local function raw_of(b) return new_links[b] or call('HGET', LINKS, b) end
local function read(n)
  local raw = raw_of(bin(n))
  return raw and parse(raw)
end
local function write(n, record) new_links[bin(n)] = dump(record) end
local function entry_of(key) return new_ids[key] or call('HGET', IDS, key) end
local function gone(n)
  new_links[bin(n)] = nil
  call('HDEL', LINKS, bin(n))
end
local function url_of(r) return string.sub(r.rest, 1, r.length) end
local function body_of(r) return string.sub(r.rest, 1, math.ceil((r.length + r.request) / 4) * 4) end

-- Where each piece begins in the rest, and the pages they are from; one entry more tells where the last one ends.
local function layout(r)
  local at = math.ceil((r.length + r.request) / 4) * 4 + 1
  local places, sources = { at }, {}
  for i = 1, r.kept do
    local words, _, _, _, source = struct.unpack('<HHHHI', r.rest, at)
    at = at + words * 4
    places[i + 1], sources[i] = at, source
  end
  return places, sources
end

local function pieces_of(r)
  local places, pieces = layout(r), {}
  for i = 1, r.kept do pieces[i] = string.sub(r.rest, places[i], places[i + 1] - 1) end
  return pieces
end

local function set_pieces(r, pieces)
  count('rows', #pieces - r.kept)
  r.kept, r.rest = #pieces, body_of(r) .. table.concat(pieces)
end

local function size_of(pieces)
  local size = 0
  for _, piece in ipairs(pieces) do size = size + #piece end
  return size
end

-- Let go of pieces beyond the most: not of the first, and not of the best where the best counts.
local function evict(r)
  local pieces = pieces_of(r)
  while #pieces > 1 and (#pieces > OPTIONS.pieces or size_of(pieces) > OPTIONS.bytes) do
    local spare = {}
    for i = 2, #pieces do
      if OPTIONS.combine ~= 'max' or i ~= r.best then spare[#spare + 1] = i end
    end
    if #spare == 0 then break end
    local gone = spare[math.random(#spare)]
    table.remove(pieces, gone)
    if gone < r.best then r.best = r.best - 1 end
  end
  set_pieces(r, pieces)
end

-- A page was fetched a second time (its first fetch was cut short): what it said of the link is replaced.
local function forget_source(r, source)
  local places, sources = layout(r)
  local left, is_there = {}, false
  for i = 1, r.kept do
    if source > 0 and sources[i] == source then
      is_there = true
    else
      left[#left + 1] = i
    end
  end
  if is_there then
    for i, at in ipairs(left) do left[i] = string.sub(r.rest, places[at], places[at + 1] - 1) end
    set_pieces(r, left)
  end
end

-- Take in the evidence that one page has of a link. A score by another snapshot says nothing beside a new one: then the
-- new piece speaks for all of them until they are scored again.
local function merge(r, source, found, stamp)
  forget_source(r, source)
  for _, new in ipairs(found) do
    local score, n = new[1], r.kept
    if n == 0 then
      r.score, r.best = score, 1
    elseif OPTIONS.combine == 'mean' then
      r.score = r.stamp == stamp and (r.score * n + score) / (n + 1) or score
    elseif OPTIONS.combine == 'max' and score > r.score then
      r.score, r.best = score, n + 1
    end
    r.stamp, r.kept, r.rest = stamp, n + 1, r.rest .. new[2]
    count('rows', 1)
    -- The length of the rest alone tells mostly that all is well.
    if r.kept > OPTIONS.pieces or #r.rest > OPTIONS.bytes then evict(r) end
  end
end

-- A link is through. Its record is kept for those who ask why it was fetched.
local function finish(n, record, relevance, outcome, detail)
  gone(n)
  call('HSET', PAST, bin(n), string.char(outcome, #detail) .. detail .. dump(record))
  new_ids[record.key] = known(n, DONE, 0) .. struct.pack('<f', relevance or UNKNOWN)
  count('rows', -record.kept)
end

-- The key of a link that is through, from its record in `past`: the last part of the header.
local function key_in_past(past)
  local begin = 2 + string.byte(past, 2)
  return string.sub(past, begin + HEAD_SIZE - 7, begin + HEAD_SIZE)
end

-- A page: R, outcome, order, host, in which span of time it came (6_pages.lua), version of the critic, class, address.
local PAGE = '<dBIIIHB'
local PAGE_SIZE = 24

local function dump_page(p)
  return struct.pack(PAGE, p.relevance, p.outcome, p.order, p.host, p.span, p.version, #p.class) .. p.class .. p.url
end

local function parse_page(raw)
  local p, length = {}, nil
  p.relevance, p.outcome, p.order, p.host, p.span, p.version, length = struct.unpack(PAGE, raw)
  p.class = string.sub(raw, PAGE_SIZE + 1, PAGE_SIZE + length)
  p.url = string.sub(raw, PAGE_SIZE + length + 1)
  return p
end

local function relevance_of(n)
  local page = call('HGET', PAGES, bin(n))
  local relevance = page and struct.unpack('<d', page)
  if page and not (relevance >= 0 and relevance <= 1) then damaged('the relevance of page ' .. n .. ' in "pages"') end
  return relevance
end

-- All evidence of a link, and the relevance of the pages on which it stands.
local function evidence_of(n)
  local raw = raw_of(bin(n))
  if not raw then return false end
  local _, sources = layout(parse(raw))
  for i, source in ipairs(sources) do sources[i] = relevance_of(source) or 0 end
  return { raw, sources }
end
