-- One call of a worker: the key of the crawl's `meta`; the worker, the number of the call, options, then operations.
--
-- All keys begin alike and so lie in one slot. Numbers are big-endian where they are members or fields, so that equal
-- scores come in the order of the numbers. This is a library of Redis functions: its code is read once, and all that is
-- known during a call is set anew by `begin`.
--
--   meta        hash: whose crawl it is (of:…), clock, counts, last numbers given, trainer
--   ids         hash: key of an address -> its number, state, pieces seen or late lessons given; R when it is done
--   links       hash: number of a link that waits or is leased -> its record (2_records.lua)
--   hosts names hash: name of a host -> number, and back
--   paces       hash: number of a host -> its pace and where it stands (3_hosts.lua)
--   order:H old:H zset, run:H string: the waiting links of host H by rank (3_hosts.lua)
--   crowds      zset: number of a host -> how many of its links wait
--   ready resting zset: hosts by the rank of their best link; asleep zset: when a host opens
--   neighbours  hash: number of a host -> the names of its domain and of the address of its server (3_groups.lua)
--   groups      hash: such a name -> how much is asked of its hosts together
--   line:NAME   zset: hosts that wait for a group, by the rank of their best link; stands hash: host -> its line
--   closed      zset: when the first of a line are to be let go
--   suspects    zset: links that were out when their worker died; suspected hash: worker -> the one that it has
--   workers     zset: last sign of life; answers hash: number and answer of a worker's last call
--   leases:W    hash: what worker W has (5_leases.lua)
--   pages       hash: number of a link -> how its page was judged, and its address (2_records.lua)
--   gists       hash: order of a page -> number of its link (four bytes), what the critic needs to judge it anew
--   outdated    set: orders of pages that came in with the verdict of a critic that was not the newest any more
--   items       hash: order of a page -> item (JSON)
--   recent      hash: span of ten seconds -> how many pages, duplicates among them, sum of R of the others
--   targets digests outcomes hash: redirect -> target; content -> link; outcome -> how many
--   past        hash: number of a link that is done -> outcome and length of the detail (bytes), detail, its record
--   words       hash: id of a word (four bytes) -> the word
--   shorts      hash: number of a link with a short page -> upper half of its digest
--   lessons     list: what the model does not know yet; meta: lessons = how many were let go of before its first
--   taught      list: the newest of the lessons of pages that the model knows; kept where the critic learns, too
--   model:NAME  hash: version, upto, digest, data, and the version of the critic by whose verdicts it was taught;
--               of the critic: upto = how many pages there were; meta: judged = by which version all pages before it
--               were judged anew
--   said        hash: number of a link -> what somebody said of its page (JSON); meta: answers = how many answers came
--               that say something, learned_answers = how many of them the critic knows
--   inbox       list: what users tell the crawl (JSON); a note says how much of it was read
--   questions   list: the newest pages about which a teacher may be asked; kept while there is one to be asked
--   notes       hash

local call, INF, UNKNOWN = nil, 1 / 0, 0 / 0
local WORKER, OPTIONS, NOW, PREFIX, SILENCE, SOON
local META, IDS, LINKS, PAGES, ITEMS, HOSTS, NAMES, PACES, READY, RESTING, ASLEEP, SUSPECTS, SUSPECTED, TARGETS, DIGESTS,
  WORKERS, ANSWERS, OUTCOMES, LESSONS, TAUGHT, NOTES, RECENT, CROWDS, PAST, WORDS, SHORTS, GISTS, OUTDATED, SAID,
  QUESTIONS, NEIGHBOURS, GROUPS, STANDS, CLOSED

-- A suspect waits by itself: it was out when its worker died.
local WAITING, LEASED, DONE, SUSPECT = 1, 2, 3, 4
local OPS = {}
local changes, new_ids, new_links

local function begin(meta, worker, options)
  call, META, WORKER, OPTIONS = redis.call, meta, worker, options
  PREFIX = string.sub(meta, 1, -5)
  IDS, LINKS, PAGES, ITEMS = PREFIX .. 'ids', PREFIX .. 'links', PREFIX .. 'pages', PREFIX .. 'items'
  HOSTS, NAMES, PACES = PREFIX .. 'hosts', PREFIX .. 'names', PREFIX .. 'paces'
  READY, RESTING, ASLEEP = PREFIX .. 'ready', PREFIX .. 'resting', PREFIX .. 'asleep'
  SUSPECTS, SUSPECTED = PREFIX .. 'suspects', PREFIX .. 'suspected'
  TARGETS, DIGESTS, OUTCOMES = PREFIX .. 'targets', PREFIX .. 'digests', PREFIX .. 'outcomes'
  WORKERS, ANSWERS = PREFIX .. 'workers', PREFIX .. 'answers'
  LESSONS, NOTES, RECENT, CROWDS = PREFIX .. 'lessons', PREFIX .. 'notes', PREFIX .. 'recent', PREFIX .. 'crowds'
  PAST, WORDS, SHORTS = PREFIX .. 'past', PREFIX .. 'words', PREFIX .. 'shorts'
  GISTS, OUTDATED, TAUGHT = PREFIX .. 'gists', PREFIX .. 'outdated', PREFIX .. 'taught'
  SAID, QUESTIONS = PREFIX .. 'said', PREFIX .. 'questions'
  NEIGHBOURS, GROUPS, STANDS, CLOSED = PREFIX .. 'neighbours', PREFIX .. 'groups', PREFIX .. 'stands', PREFIX .. 'closed'
  -- Nobody called for so many seconds: Redis was away, or all workers were. Nobody is taken for dead because of that.
  SILENCE = math.min(5, OPTIONS.lease_seconds / 2)
  -- Links of hosts that will be ready within so many seconds are waited for.
  SOON = math.min(10, OPTIONS.lease_seconds / 2)
  changes, new_ids, new_links = {}, {}, {}
end

-- What is found cannot have come about by what is done here: somebody has deleted or changed keys.
local function damaged(how) error({ err = 'DAMAGED ' .. how }) end

local function order_of(h) return PREFIX .. 'order:' .. h end
local function run_of(h) return PREFIX .. 'run:' .. h end
local function old_of(h) return PREFIX .. 'old:' .. h end
local function line_of(name) return PREFIX .. 'line:' .. name end
local function leases_of(worker) return PREFIX .. 'leases:' .. worker end

local function bin(n) return struct.pack('>I4', n) end
local function unbin(b) return (struct.unpack('>I4', b)) end
-- As many digits as a double has: a score must come back as it was.
local function exact(x) return string.format('%.17g', x) end

-- Seconds since the crawl began, without silences; never back. And whether there is a crawl at all.
local function tick()
  local time = call('TIME')
  -- Every call begins with the same seed.
  math.randomseed(tonumber(time[2]))
  local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
  local kept = call('HMGET', META, 'clock', 'heard', 'of:format')
  local clock, gap = tonumber(kept[1] or 0), now - tonumber(kept[2] or now)
  if gap > 0 and gap < SILENCE then clock = clock + gap end
  call('HSET', META, 'clock', exact(clock), 'heard', exact(now))
  return clock, kept[3]
end

-- Counts are written together, at the end of the call.
local function count(what, by) changes[what] = (changes[what] or 0) + by end
local function number(what) return tonumber(call('HGET', META, what) or 0) + (changes[what] or 0) end

-- What many links get is written together, too: a call out of the script costs more than what is done there.
local function write_all(key, values)
  local arguments = {}
  for field, value in pairs(values) do
    arguments[#arguments + 1], arguments[#arguments + 2] = field, value
    if #arguments == 2000 then
      call('HSET', key, unpack(arguments))
      arguments = {}
    end
  end
  if #arguments > 0 then call('HSET', key, unpack(arguments)) end
end

local function flush()
  if next(new_ids) then write_all(IDS, new_ids) end
  if next(new_links) then write_all(LINKS, new_links) end
  new_ids, new_links = {}, {}
end
