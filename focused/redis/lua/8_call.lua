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
end

-- Take, or keep, the role of the trainer.
function OPS.train(op)
  if not is_mine_to_teach() then return false end
  call('HSET', META, 'trainer', WORKER, 'trains_until', exact(NOW + op[2]))
  return true
end

function OPS.beat() return true end

local STANDING = {
  'waiting', 'leased', 'pages', 'duplicates', 'found', 'relevance', 'order', 'hosts', 'rows', 'model', 'dropped',
  'taken_back', 'refused', 'revised', 'critic', 'judged', 'learned_at', 'answers', 'learned_answers',
}

-- Write what was counted; tell how the crawl stands.
local function standing()
  write_recent()
  write_crowds()
  local found = call('HMGET', META, unpack(STANDING))
  local told, changed = {}, {}
  for i, what in ipairs(STANDING) do
    told[what] = tonumber(found[i] or 0) + (changes[what] or 0)
    if changes[what] then changed[what] = exact(told[what]) end
  end
  if next(changed) then write_all(META, changed) end
  told.last_page, told.evidence, told.order, told.rows = told.order, told.rows, nil, nil
  told.leased_elsewhere = told.leased - call('HLEN', leases_of(WORKER))
  told.last_lesson = number('lessons') + call('LLEN', LESSONS)
  told.outdated = call('SCARD', OUTDATED)
  told.waited = waited
  return told
end

local function carry_out(keys, arguments)
  begin(keys[1], arguments[1], cmsgpack.unpack(arguments[3]))
  forget_hosts()
  forget_groups()
  local number = tonumber(arguments[2])
  -- A call that was carried out, but whose answer was lost, comes again: it gets the same answer.
  if number > 0 then
    local last = call('HGET', ANSWERS, WORKER)
    local answered = last and struct.unpack('<d', last) or 0
    if answered == number then return string.sub(last, 9) end
    if answered > number then return redis.error_reply('DAMAGED call ' .. number .. ' was answered before it came') end
  end
  local is_there
  NOW, is_there = tick()
  if number > 0 then
    if not is_there then
      call('DEL', META)
      return redis.error_reply('LOST there is no such crawl')
    end
    call('ZADD', WORKERS, exact(NOW), WORKER)
    bury_the_dead()
  end
  local answers = {}
  for i = 4, #arguments do
    local op = cmsgpack.unpack(arguments[i])
    local is_done, answer = pcall(OPS[op[1]], op)
    if not is_done then
      -- Nothing is rolled back: what the operations before have done is counted.
      settle()
      standing()
      return redis.error_reply((type(answer) == 'table' and answer.err or tostring(answer)) .. ' (' .. op[1] .. ')')
    end
    answers[#answers + 1] = answer or false
  end
  settle()
  answers[#answers + 1] = standing()
  local packed = cmsgpack.pack(answers)
  if number > 0 and call('ZSCORE', WORKERS, WORKER) then
    call('HSET', ANSWERS, WORKER, struct.pack('<d', number) .. packed)
  end
  return packed
end

redis.register_function('@NAME@', carry_out)
