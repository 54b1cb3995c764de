-- Some entries of a hash, each cut to its first bytes. KEYS[1]: the hash; the cursor, how many entries, how many bytes.

local found = redis.call('HSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
local entries = found[2]
for i = 2, #entries, 2 do entries[i] = string.sub(entries[i], 1, tonumber(ARGV[3])) end
return { found[1], entries }
