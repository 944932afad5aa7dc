# shellcheck shell=bash disable=SC2154
# Three databases that Patroni manages with etcd, and failures of their primary under load.

nodes=(n1 n2 n3)
away=''

is_missing_for_patroni() { ! { command -v patroni && command -v etcd; } >/dev/null; }

start_patroni() {
    cp "$here/patroni.yml" "$work/databases/"
    local name node
    for name in port_etcd port_peer; do free_port && printf -v "$name" %s "$port"; done
    for node in "${nodes[@]}"; do
        for name in "port_$node" "rest_$node"; do free_port && printf -v "$name" %s "$port"; done
    done
    local peer=http://127.0.0.1:$port_peer client=http://127.0.0.1:$port_etcd
    etcd --name etcd --data-dir "$work/etcd" --listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer" \
        --initial-cluster "etcd=$peer" --listen-client-urls "$client" --advertise-client-urls "$client" \
        >"$work/etcd.log" 2>&1 3>&- &
    children+=("$!")
    until_true curl --silent --fail --output /dev/null "$client/health"
    start_node n1
    until_true find_primary >/dev/null
    for node in n2 n3; do start_node "$node"; done
    until_true is_whole
    primary=$(find_primary)
    sql "$primary" postgres "CREATE ROLE catalogue LOGIN PASSWORD '$password'"
    sql "$primary" postgres "CREATE DATABASE catalogue OWNER catalogue"
}

rest_of() { local name=rest_$1 && echo "http://127.0.0.1:${!name}"; }

# Starts the Patroni of node $1, which starts its database.
start_node() {
    local rest
    rest=$(rest_of "$1")
    (
        cd "$work/databases"
        export PATRONI_NAME=$1 PATRONI_ETCD3_HOSTS=127.0.0.1:$port_etcd
        export PATRONI_RESTAPI_LISTEN=${rest#http://} PATRONI_RESTAPI_CONNECT_ADDRESS=${rest#http://}
        PATRONI_POSTGRESQL_LISTEN=127.0.0.1:$(port_of "$1")
        export PATRONI_POSTGRESQL_LISTEN PATRONI_POSTGRESQL_CONNECT_ADDRESS=$PATRONI_POSTGRESQL_LISTEN
        export PATRONI_POSTGRESQL_DATA_DIR=$work/databases/$1 PATRONI_POSTGRESQL_BIN_DIR=$postgresql
        export PATRONI_POSTGRESQL_PGPASS=$work/databases/$1.pgpass
        export PATRONI_SUPERUSER_USERNAME=postgres PATRONI_SUPERUSER_PASSWORD=$password
        export PATRONI_REPLICATION_USERNAME=replicator PATRONI_REPLICATION_PASSWORD=$password
        # The log and the process id remain after Patroni ends.
        as_postgres patroni patroni.yml >>"$work/$1.log" 2>&1 3>&- &
        echo "$!" >"$work/$1.pid"
    )
}

# Prints the processes of a node's machine: Patroni, the database, and their children.
processes_of() {
    local roots
    roots=$(cat "$work/$1.pid"; head -n 1 "$work/databases/$1/postmaster.pid" 2>/dev/null || true)
    while [[ $roots ]]; do
        echo "$roots"
        # shellcheck disable=SC2086
        roots=$(pgrep --parent "$(echo $roots | tr ' ' ,)" || true)
    done
}

signal_node() {
    local processes
    processes=$(processes_of "$2")
    # shellcheck disable=SC2086
    kill "-$1" $processes 2>/dev/null || true
}

end_patroni() {
    local node
    for node in "${nodes[@]}"; do
        [[ ! -e $work/$node.pid ]] || signal_node KILL "$node"
    done
}

find_primary() {
    local node
    for node in "${nodes[@]}"; do
        [[ $node == "$away" ]] || ! curl --silent --fail --max-time 1 --output /dev/null "$(rest_of "$node")/primary" ||
            { echo "$node" && return; }
    done
    return 1
}

# Returns whether there are a primary, a synchronous standby, and a third database.
is_whole() {
    local members
    members=$(curl --silent --max-time 1 "$(rest_of "$(find_primary)")/cluster")
    [[ $members == *sync_standby* && $(grep -oE '"state": "(running|streaming)"' <<<"$members" | wc -l) == 3 ]]
}

# Writes a change to a database that accepts it. The title names the event.
write() {
    local node
    for node in "${nodes[@]}"; do
        [[ $node == "$away" ]] || ! sql_in_time "$node" "UPDATE courses SET title = '$1' WHERE account_id = 'acc_demo'" ||
            return 0
    done
    return 1
}

sql_in_time() { PGOPTIONS='-c statement_timeout=1s' PGCONNECT_TIMEOUT=2 sql "$1" catalogue "$2" 2>/dev/null; }

# Returns whether both servers respond with the change.
is_seen() {
    local name
    for name in one two; do
        curl --silent --max-time 4 --header "Authorization: Bearer $(<"$work/key")" \
            "http://$(address_of "$name")/api/v1/courses" | grep -q "\"title\":\"$1\"" || return 1
    done
}

# Runs an event that affects the primary, and brings the old primary back: NAME COMMAND
happens() {
    local name=$1 from to
    primary=$(find_primary)
    phase "$name"
    from=$(date +%s%N)
    "$2"
    until_true write "$name"
    to=$(date +%s%N)
    phase "$name: writes again"
    until_true is_seen "$name"
    say "$name: $(find_primary) accepts writes $(((to - from) / 1000000)) ms after the event on $primary"
    sleep 5
    is_seen "$name" || fail "$name: a response is stale"
    phase "$name: recovery"
    [[ ! $away ]] || come_back "$2"
    until_true is_whole
    is_seen "$name" || fail "$name: a commit is lost"
}

switchover() {
    away=$primary
    curl --silent --output /dev/null --data "{\"leader\":\"$primary\"}" "$(rest_of "$primary")/switchover" 3>&- &
    children+=("$!")
}

crash() { kill -KILL "$(head -n 1 "$work/databases/$primary/postmaster.pid")"; }

death() {
    away=$primary
    signal_node KILL "$away"
}

silence() {
    away=$primary
    signal_node STOP "$away"
}

# Brings the old primary back. After a switchover it still runs. Otherwise SIGKILL replaces the reset by a watchdog.
come_back() {
    [[ $1 == switchover ]] || { signal_node KILL "$away" && start_node "$away"; }
    away=''
}

patroni_events() {
    phase "baseline"
    sleep 3
    happens "switched over" switchover
    happens killed crash
    happens dead death
    happens silent silence
}

# Fails if a response took longer than 3 s, or a request failed later than 2 s after writes were possible.
patroni_drill() {
    under_load patroni_events --rate 200 --allow 500
    awk '{ long = $(NF - 1) > 3000 } /writes again/ && / to / { late = $(NF - 4) > 2 } long || late { bad = 1; print "too late: " $0 }
        END { exit bad }' "$work/report" >&2 || fail "a response came too late"
}
