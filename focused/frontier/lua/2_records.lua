-- A link that waits or is leased: a header, its address, its request if it is more than an address, then pieces of
-- evidence, each with its length in words of four bytes in front. A link that is done has only its entry in `ids`.

local HEAD = '<BBBBHBBIIffIHHIc8'
local HEAD_SIZE = 44
local UNKNOWN = 0 / 0

local function known(n, state, seen) return struct.pack('>I4BB', n, state, math.min(seen, 255)) end

local function parse(raw)
  local state, tries, deaths, kept, depth, best, _, host, source, base, score, stamp, length, _, request, key =
    struct.unpack(HEAD, raw)
  local at = HEAD_SIZE + math.ceil((length + request) / 4) * 4
  local record = {
    state = state, tries = tries, deaths = deaths, depth = depth, best = best, host = host, source = source,
    base = base, score = score, stamp = stamp, length = length, request = request, key = key,
    body = string.sub(raw, HEAD_SIZE + 1, at), pieces = {},
  }
  for i = 1, kept do
    local size = struct.unpack('<H', raw, at + 1) * 4
    record.pieces[i] = string.sub(raw, at + 1, at + size)
    at = at + size
  end
  return record
end

local function dump(r)
  local head = struct.pack(HEAD, r.state, math.min(r.tries, 255), math.min(r.deaths, 255), #r.pieces, r.depth, r.best,
    0, r.host, r.source, r.base, r.score, r.stamp, r.length, 0, r.request, r.key)
  return head .. r.body .. table.concat(r.pieces)
end

local function read(n)
  local raw = call('HGET', LINKS, bin(n))
  return raw and parse(raw)
end
local function write(n, record) call('HSET', LINKS, bin(n), dump(record)) end
local function url_of(r) return string.sub(r.body, 1, r.length) end

local function source_of(piece) return (struct.unpack('<I', piece, 9)) end

-- Let go of one piece: not the first, and not the best where the best counts.
local function evict(record)
  local spare = {}
  for i = 2, #record.pieces do
    if OPTIONS.combine ~= 'max' or i ~= record.best then spare[#spare + 1] = i end
  end
  local gone = spare[math.random(#spare)] or #record.pieces
  table.remove(record.pieces, gone)
  if gone < record.best then record.best = record.best - 1 end
  count('rows', -1)
end

-- Take in the evidence that one page has of a link; that of an earlier fetch of the page goes. A score by another
-- snapshot says nothing beside a new one: then the new piece speaks for all of them until they are scored again.
local function merge(record, source, found, stamp)
  local left = {}
  for _, piece in ipairs(record.pieces) do
    if source == 0 or source_of(piece) ~= source then left[#left + 1] = piece end
  end
  count('rows', #left - #record.pieces + #found)
  record.pieces = left
  for _, new in ipairs(found) do
    local score, n = new[1], #record.pieces
    if n == 0 then
      record.score, record.best = score, 1
    elseif OPTIONS.combine == 'mean' then
      record.score = record.stamp == stamp and (record.score * n + score) / (n + 1) or score
    elseif OPTIONS.combine == 'max' and score > record.score then
      record.score, record.best = score, n + 1
    end
    record.stamp = stamp
    record.pieces[n + 1] = new[2]
    if n + 1 > OPTIONS.pieces then evict(record) end
  end
end

-- A link is through.
local function finish(n, record, relevance)
  call('HDEL', LINKS, bin(n))
  call('HSET', IDS, record.key, known(n, DONE, 0) .. struct.pack('<f', relevance or UNKNOWN))
  count('rows', -#record.pieces)
end

local function relevance_of(n)
  local page = call('HGET', PAGES, bin(n))
  return page and (struct.unpack('<f', page))
end

-- All evidence of a link, and the relevance of the pages on which it stands.
local function evidence_of(n)
  local raw = call('HGET', LINKS, bin(n))
  if not raw then return false end
  local sources = {}
  for i, piece in ipairs(parse(raw).pieces) do sources[i] = relevance_of(source_of(piece)) or 0 end
  return { raw, sources }
end
