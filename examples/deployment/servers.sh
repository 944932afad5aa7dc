# shellcheck shell=bash disable=SC2154
# The two servers, and a rolling restart.

# Restarts a server whenever it has ended, like a service manager: NAME ADDRESS
supervise() {
    local server='' ended=''
    trap 'ended=1; [[ ! $server ]] || kill -TERM "$server"' TERM
    set +e
    until [[ $ended ]]; do
        "$catalogue" serve --config "$here/catalogue.toml" --listen "$2" >>"$work/$1.log" 2>&1 &
        server=$!
        echo "$server" >"$work/$1.pid"
        [[ ! $ended ]] || kill -TERM "$server"
        # A signal interrupts the first wait; the server then finishes its work.
        while kill -0 "$server"; do wait "$server"; done 2>/dev/null
        sleep 0.1
    done
}

address_of() { if [[ $1 == one ]]; then echo "$address_one"; else echo "$address_two"; fi; }

answers() { curl --silent --fail --output /dev/null "http://$1/docs/llms.txt"; }

# Returns whether the proxy considers a server healthy.
is_up() { curl --silent "http://$address_status/;csv" | grep -q "^catalogue,$1,.*,UP,"; }

has_ended() { ! kill -0 "$1"; }

restart() {
    local name old
    for name in one two; do
        old=$(<"$work/$name.pid")
        kill -TERM "$old"
        until_true has_ended "$old"
        until_true answers "$(address_of "$name")"
        until_true is_up "$name"
        say "server $name was restarted"
    done
}
