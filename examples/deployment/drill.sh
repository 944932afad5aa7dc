# shellcheck shell=bash disable=SC2154
# Continuous requests through the proxy, while the servers and databases behind it are restarted or killed.

load() {
    TOKEN=$(<"$work/key") "$availability" "$address_proxy" "$@"
}

# Runs a part of the drill under load: COMMAND [OPTION…]. The command starts phases with `phase`.
under_load() {
    local part=$1
    shift
    say "" "$part"
    mkfifo "$work/phases"
    load "$@" <"$work/phases" >"$work/report" &
    local client=$! good=1
    exec 3>"$work/phases"
    rm "$work/phases"
    "$part"
    exec 3>&-
    wait "$client" || good=''
    cat "$work/report"
    say "retried by the proxy since its start: $(sent_again)"
    [[ $good ]] || fail "$part: a request failed in an unexpected way"
}

# Prints the number of retries by the proxy, on the same server or on the other one.
sent_again() {
    curl --silent "http://$address_status/;csv" | awk -F , '$1 == "catalogue" && $2 == "BACKEND" { print $16 + $17 }'
}

phase() { echo "$1" >&3; }

rolling_restarts() {
    local round
    phase "baseline"
    sleep 3
    for round in first second; do
        phase "$round rolling restart"
        restart
    done
    phase "after the restarts"
    sleep 3
}

failovers() {
    local round
    for round in first second; do
        phase "baseline"
        sleep 3
        phase "$round failover"
        failover
        phase "$primary is the primary"
        sleep 5
        phase "the old primary rejoins"
        rejoin
        sleep 2
    done
}

drill() {
    under_load rolling_restarts
    under_load failovers --rate 500 --allow 500
}
