-- Pushed seeds are read in portions: whoever pushes them is a stranger, and one entry may have half a gigabyte.

-- The entry at a place; sets have no places, and draw one.
local AT = {
  list = function(key, at) return redis.call('LRANGE', key, at, at)[1] end,
  zset = function(key, at) return redis.call('ZREVRANGE', key, at, at)[1] end,
  set = function(key) return redis.call('SRANDMEMBER', key) end,
}
local TAKEN = {
  list = function(key, entry) redis.call('LREM', key, 1, entry) end,
  zset = function(key, entry) redis.call('ZREM', key, entry) end,
  set = function(key, entry) redis.call('SREM', key, entry) end,
}

-- The first entries: the key; its type, how many, how many bytes together, how long one may be, and how much is told of
-- one that is longer. Such a one is taken away, and told by its length and its beginning.
local function read_seeds(keys, arguments)
  local key, kind = keys[1], arguments[1]
  local most, room, longest, shown = unpack(arguments, 2)
  most, room, longest, shown = tonumber(most), tonumber(room), tonumber(longest), tonumber(shown)
  local found, drawn, at = {}, {}, 0
  for _ = 1, most do
    local entry = room > 0 and AT[kind](key, at)
    if not entry then break end
    if #entry > longest then
      TAKEN[kind](key, entry)
      found[#found + 1] = { #entry, string.sub(entry, 1, shown) }
      room = room - #entry
    elseif kind ~= 'set' or not drawn[entry] then
      drawn[entry], at = true, at + 1
      found[#found + 1] = entry
      room = room - #entry
    end
  end
  return cmsgpack.pack(found)
end

redis.register_function('@NAME@_seeds', read_seeds)
