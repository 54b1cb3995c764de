-- Coming, staying, going; and the call itself.

-- Join a crawl: the first one says whose it is. What differs, or false.
function OPS.join(op)
  for what, mine in pairs(op[2]) do
    local kept = call('HGET', META, 'of:' .. what)
    if kept and kept ~= mine then return { what, kept } end
    if not kept and call('HEXISTS', META, 'of:format') == 1 then return { what, '' } end
  end
  for what, mine in pairs(op[2]) do call('HSET', META, 'of:' .. what, mine) end
  return false
end

-- Go: leases are given back, and nobody is blamed.
function OPS.leave(op)
  for _, token in ipairs(call('HKEYS', leases_of(WORKER))) do OPS.postpone({ '', token, 0 }) end
  call('ZREM', WORKERS, WORKER)
  call('HDEL', ANSWERS, WORKER)
  if call('HGET', META, 'trainer') == WORKER then call('HDEL', META, 'trainer', 'trains_until') end
  SEQ = 0
end

-- Take, or keep, the role of the trainer.
function OPS.train(op)
  if not is_mine_to_teach() then return false end
  call('HSET', META, 'trainer', WORKER, 'trains_until', exact(NOW + op[2]))
  return true
end

function OPS.beat() return true end

local STANDING = { 'waiting', 'leased', 'pages', 'found', 'relevance', 'order', 'hosts', 'rows', 'model', 'dropped',
  'taken_back', 'refused' }
local function standing()
  local found = call('HMGET', META, unpack(STANDING))
  local told = {}
  for i, what in ipairs(STANDING) do told[what] = tonumber(found[i] or 0) end
  told.mine = call('HLEN', leases_of(WORKER))
  return told
end

-- A call that was carried out, but whose answer was lost, comes again: it gets the same answer.
if SEQ > 0 then
  local last = call('HGET', ANSWERS, WORKER)
  if last and struct.unpack('<d', last) >= SEQ then return string.sub(last, 9) end
end
NOW = tick()
if SEQ > 0 then
  call('ZADD', WORKERS, exact(NOW), WORKER)
  bury_the_dead()
end
local answers = {}
for i = 4, #ARGV do
  local op = cmsgpack.unpack(ARGV[i])
  answers[#answers + 1] = OPS[op[1]](op) or false
end
settle()
write_counts()
answers[#answers + 1] = standing()
local packed = cmsgpack.pack(answers)
if SEQ > 0 then call('HSET', ANSWERS, WORKER, struct.pack('<d', SEQ) .. packed) end
return packed
