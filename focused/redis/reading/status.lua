-- The status of a crawl, all of one moment; nothing is written. KEYS[1]: the crawl's `meta`. Names: of its model, of the
-- notes of how it was made and of links that were not followed. Numbers: how many hosts are listed (0: all); from how
-- many entries the memory of a key is estimated, and from how many hosts that of their keys.

local meta, model, about, unfollowed, most_hosts, entries, some = KEYS[1], unpack(ARGV)
local prefix = string.sub(meta, 1, -5)
local function ask(command, what, ...) return redis.call(command, prefix .. what, ...) end
local function pairs_of(list)
  local found = {}
  for i = 1, #list, 2 do found[#found + 1] = { list[i], list[i + 1] } end
  return found
end
local function bytes_of(what)
  local bytes = redis.call('MEMORY', 'USAGE', prefix .. what, 'SAMPLES', entries)
  return bytes or 0
end

local workers = pairs_of(ask('ZRANGE', 'workers', 0, -1, 'WITHSCORES'))
-- Names are shown: what is longer is no worker's and no host's.
for _, worker in ipairs(workers) do
  worker[3] = ask('HLEN', 'leases:' .. worker[1])
  worker[1] = string.sub(worker[1], 1, 300)
end

local hosts = pairs_of(ask('ZREVRANGE', 'crowds', 0, tonumber(most_hosts) - 1, 'WITHSCORES'))
for _, host in ipairs(hosts) do host[1] = string.sub(ask('HGET', 'names', host[1]) or '', 1, 300) end

local others = 0
for _, what in ipairs({
  'ids', 'pages', 'items', 'hosts', 'names', 'paces', 'ready', 'resting', 'asleep', 'crowds', 'suspects', 'targets',
  'digests', 'answers', 'lessons', 'notes', 'past', 'words', 'shorts', 'gists', 'taught', 'said',
  'questions', 'neighbours', 'groups', 'stands', 'model:' .. model, 'model:critic',
}) do
  others = others + bytes_of(what)
end
-- The order of links lies in keys of each host: some hosts are taken for all.
local queued, order = 0, 0
for _, host in ipairs(pairs_of(ask('ZRANDMEMBER', 'crowds', some, 'WITHSCORES'))) do
  local number = struct.unpack('>I4', host[1])
  queued = queued + tonumber(host[2])
  for _, what in ipairs({ 'order:', 'run:', 'old:' }) do order = order + bytes_of(what .. string.format('%d', number)) end
end

return cmsgpack.pack({
  meta = pairs_of(redis.call('HGETALL', meta)),
  time = redis.call('TIME'),
  workers = workers,
  hosts = hosts,
  hosts_waiting = ask('ZCARD', 'crowds'),
  outcomes = pairs_of(ask('HGETALL', 'outcomes')),
  about = ask('HGET', 'notes', about),
  unfollowed = ask('HGET', 'notes', unfollowed),
  recent = pairs_of(ask('HGETALL', 'recent')),
  said = ask('HVALS', 'said'),
  pooled = ask('LLEN', 'lessons'),
  model = ask('HMGET', 'model:' .. model, 'version', 'upto'),
  seen = ask('HLEN', 'ids'),
  memory = { links = bytes_of('links'), ids = bytes_of('ids'), others = others, queued = queued, order = order },
  server = redis.call('INFO', 'memory'),
})
