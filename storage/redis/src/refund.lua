-- Gives one back to the window of KEYS[1] that ends at ARGV[1], if it is still there. A window of which nothing was taken
-- has not begun.
if redis.call('HGET', KEYS[1], 'end') == ARGV[1] and redis.call('HINCRBY', KEYS[1], 'taken', -1) <= 0 then
    redis.call('DEL', KEYS[1])
end
