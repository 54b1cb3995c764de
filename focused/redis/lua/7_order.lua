-- Scoring again: the links of a host are read, and written back as its run.

-- How many links wait on each of some hosts.
function OPS.sizes(op)
  local sizes = {}
  for h = op[2], op[3] do
    local run = math.floor(call('STRLEN', run_of(h)) / 8) - host(h).cursor
    sizes[#sizes + 1] = math.max(run, 0) + call('ZCARD', order_of(h)) + call('ZCARD', old_of(h))
  end
  return sizes
end

-- The waiting links of a host. Of those who score them at the same time the one who came last writes.
function OPS.snapshot(op)
  local h = op[2]
  local r, order, old = host(h), order_of(h), old_of(h)
  changed[h] = true
  r.turn = (r.turn + 1) % 2 ^ 32
  if r.has_old == 1 then
    -- Whoever was at it has died.
    call('ZUNIONSTORE', old, 2, old, order)
    call('DEL', order)
  elseif call('EXISTS', order) == 1 then
    call('RENAME', order, old)
    r.has_old = 1
  end
  return { r.turn, call('GETRANGE', run_of(h), 8 * r.cursor, -1), table.concat(call('ZRANGE', old, 0, -1)) }
end

-- A new run with all links of the snapshot that still wait.
function OPS.adopt(op)
  local h, run = op[2], op[4]
  local r = touch(h)
  if r.turn ~= op[3] then return false end
  if #run > 0 then call('SET', run_of(h), run) else call('DEL', run_of(h)) end
  call('UNLINK', old_of(h))
  r.cursor, r.has_old = 0, 0
  return true
end

-- Evidence is seen otherwise by a new version of the critic: for each link what pieces begin with, and their numbers now.
function OPS.see_again(op)
  for _, seen in ipairs(op[3]) do
    local record = read(seen[1])
    local pieces = record and pieces_of(record) or {}
    for i = 2, #seen, 2 do
      local head, numbers = seen[i], seen[i + 1]
      for at, piece in ipairs(pieces) do
        if string.sub(piece, 1, #head) == head then
          pieces[at] = string.sub(head, 1, 3) .. string.char(math.min(op[2], 255)) .. string.sub(head, 5) .. numbers
            .. string.sub(piece, #head + #numbers + 1)
          break
        end
      end
    end
    if record then
      record.rest = body_of(record) .. table.concat(pieces)
      write(seen[1], record)
    end
  end
end

-- Forget links that there is no room for; new ones as poor as these are not taken in.
function OPS.drop(op)
  for _, n in ipairs(op[3]) do
    local record = read(n)
    if record and record.state == WAITING and not is_elsewhere(op[2], bin(n)) then
      gone(n)
      call('HDEL', IDS, record.key)
      count('rows', -record.kept)
      count_waiting(record.host, -1)
      count('dropped', 1)
    end
  end
  touch(op[2])
end

function OPS.set_floor(op) call('HSET', META, 'floor', exact(op[2])) end
