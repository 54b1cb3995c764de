#!lua
-- One call of a worker: KEYS[1] = {focused:CRAWL}:meta; ARGV = worker, number of the call, options, then operations.
-- All keys begin alike and so lie in one slot. Numbers are big-endian where they are members or fields, so that equal
-- scores come in the order of the numbers.

local META, WORKER, SEQ = KEYS[1], ARGV[1], tonumber(ARGV[2])
local OPTIONS = cmsgpack.unpack(ARGV[3])
local PREFIX = string.sub(META, 1, -5)
local call = redis.call
local INF = math.huge
-- Nobody called for so many seconds: Redis was away, or all workers were. Nobody is taken for dead because of that.
local SILENCE = math.min(5, OPTIONS.lease_seconds / 2)

local IDS, LINKS, PAGES, ITEMS = PREFIX .. 'ids', PREFIX .. 'links', PREFIX .. 'pages', PREFIX .. 'items'
local HOSTS, NAMES, PACES = PREFIX .. 'hosts', PREFIX .. 'names', PREFIX .. 'paces'
local READY, RESTING, ASLEEP = PREFIX .. 'ready', PREFIX .. 'resting', PREFIX .. 'asleep'
local SUSPECTS, TARGETS, DIGESTS = PREFIX .. 'suspects', PREFIX .. 'targets', PREFIX .. 'digests'
local WORKERS, ANSWERS, OUTCOMES = PREFIX .. 'workers', PREFIX .. 'answers', PREFIX .. 'outcomes'
local LESSONS, NOTES = PREFIX .. 'lessons', PREFIX .. 'notes'

-- A suspect waits by itself: it was out when its worker died.
local RESERVED, WAITING, LEASED, DONE, SUSPECT = 0, 1, 2, 3, 4
local OPS = {}
local NOW

local function order_of(h) return PREFIX .. 'order:' .. h end
local function run_of(h) return PREFIX .. 'run:' .. h end
local function old_of(h) return PREFIX .. 'old:' .. h end
local function leases_of(worker) return PREFIX .. 'leases:' .. worker end

local function bin(n) return struct.pack('>I4', n) end
local function unbin(b) return (struct.unpack('>I4', b)) end
-- As many digits as a double has: a score must come back as it was.
local function exact(x) return string.format('%.17g', x) end

-- Seconds since the crawl began, without silences; never back.
local function tick()
  local time = call('TIME')
  -- Every script begins with the same seed.
  math.randomseed(tonumber(time[2]))
  local now = tonumber(time[1]) + tonumber(time[2]) / 1e6
  local kept = call('HMGET', META, 'clock', 'heard')
  local clock, gap = tonumber(kept[1] or 0), now - tonumber(kept[2] or now)
  if gap > 0 and gap < SILENCE then clock = clock + gap end
  call('HSET', META, 'clock', exact(clock), 'heard', exact(now))
  return clock
end

local changes = {}
local function count(what, by) changes[what] = (changes[what] or 0) + by end
local function write_counts()
  for what, by in pairs(changes) do
    if by ~= 0 then call('HINCRBYFLOAT', META, what, exact(by)) end
  end
  changes = {}
end
local function number(what) return tonumber(call('HGET', META, what) or 0) + (changes[what] or 0) end
