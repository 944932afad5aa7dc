-- Gives one request back to the window of KEYS[1] that ends at ARGV[1], if it still exists. Deletes a window of which all
-- requests were given back: the next request then begins a new one.
if redis.call('HGET', KEYS[1], 'end') == ARGV[1] and redis.call('HINCRBY', KEYS[1], 'taken', -1) <= 0 then
    redis.call('DEL', KEYS[1])
end
