# shellcheck shell=bash disable=SC2154
# The two servers, the proxy before them, and a rolling restart.

# As a service manager does: starts a server again whenever it has ended. NAME ADDRESS
supervise() {
    local server='' ended=''
    trap 'ended=1; [[ ! $server ]] || kill -TERM "$server"' TERM
    set +e
    until [[ $ended ]]; do
        "$catalogue" serve --config "$here/catalogue.toml" --listen "$2" >>"$work/$1.log" 2>&1 &
        server=$!
        echo "$server" >"$work/$1.pid"
        [[ ! $ended ]] || kill -TERM "$server"
        # A signal ends the first wait, and the server its work after that.
        while kill -0 "$server"; do wait "$server"; done 2>/dev/null
        sleep 0.1
    done
}

address_of() { if [[ $1 == one ]]; then echo "$address_one"; else echo "$address_two"; fi; }

answers() { curl --silent --fail --output /dev/null "http://$1/docs/llms.txt"; }

# What the proxy thinks of a server.
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
