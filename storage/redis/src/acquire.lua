-- Takes one of the ARGV[1] requests of KEYS[1] in a window of ARGV[2] milliseconds. A window is stored as the time of its end,
-- by Redis's clock, and the number of requests taken. Returns whether a request was left, how many remain, the
-- milliseconds until the window ends, and the time of its end.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local window = redis.call('HMGET', KEYS[1], 'end', 'taken')
local ends, taken = tonumber(window[1]), tonumber(window[2])
if not ends or not taken or ends <= now then
    ends, taken = now + tonumber(ARGV[2]), 0
end
local left = tonumber(ARGV[1]) - taken
if left <= 0 then
    return { 0, 0, ends - now, ends }
end
local moment = string.format('%.0f', ends)
redis.call('HSET', KEYS[1], 'end', moment, 'taken', taken + 1)
redis.call('PEXPIREAT', KEYS[1], moment)
return { 1, left - 1, ends - now, ends }
