# shellcheck shell=bash disable=SC2154
# The primary and its standby: how they are made, how one takes over from the other, how the pair is whole again. Their
# data is below `$work/databases`.

# The programs of PostgreSQL: on the PATH, or the newest of Debian's.
find_postgresql() {
    if command -v initdb >/dev/null; then
        dirname "$(readlink -f "$(command -v initdb)")"
    else
        local found
        found=$(compgen -G '/usr/lib/postgresql/*/bin' | sort -V | tail -n 1) ||
            fail "PostgreSQL is missing: apt-get install postgresql"
        echo "$found"
    fi
}

# PostgreSQL refuses to run as root.
as_postgres() {
    if ((EUID == 0)); then
        setpriv --reuid postgres --regid "$(id -g postgres)" --clear-groups -- "$@"
    else
        "$@"
    fi
}

# A program of PostgreSQL's, which finds the passwords by itself.
postgresql() {
    local program=$1
    shift
    # Without the phases of a drill, which a database would hold open.
    (cd "$work" && PGPASSFILE="$work/databases/passwords" as_postgres "$postgresql/$program" "$@" 3>&-)
}

sql() { postgresql psql -qtA -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$(port_of "$1")" -U postgres -d "$2" -c "$3"; }

port_of() {
    local name=port_${1/-/_}
    echo "${!name}"
}

other_than() { if [[ $1 == db-one ]]; then echo db-two; else echo db-one; fi; }

start_database() {
    # Its output goes into a file of its own: a pipe would be held open.
    postgresql pg_ctl -D "$work/databases/$1" -l "$work/databases/$1.log" -o "-p $(port_of "$1")" -s -w start >/dev/null
}

make_primary() {
    local data=$work/databases/$1
    # Nothing here has to outlive the machine's power.
    postgresql initdb --no-sync -D "$data" -U postgres -A scram-sha-256 --pwfile "$work/databases/password" \
        -E UTF8 --locale C.UTF-8 >/dev/null
    as_postgres sh -c "echo \"include '$work/databases/postgresql.conf'\" >>'$data/postgresql.conf'"
    start_database "$1"
    sql "$1" postgres "CREATE ROLE replicator LOGIN REPLICATION PASSWORD '$password'"
    sql "$1" postgres "CREATE ROLE catalogue LOGIN PASSWORD '$password'"
    sql "$1" postgres "CREATE DATABASE catalogue OWNER catalogue"
}

# Makes a standby of the primary $2. The primary keeps what it has not got yet.
make_standby() {
    postgresql pg_basebackup --no-sync -D "$work/databases/$1" -h 127.0.0.1 -p "$(port_of "$2")" -U replicator \
        --write-recovery-conf --create-slot --slot standby --checkpoint fast
    start_database "$1"
    commit_on_both "$2"
}

# From now on a commit waits for the standby too: a key that was revoked must stay revoked after a failover. The standby
# has no such setting, so that it takes writes as soon as it is promoted.
commit_on_both() {
    until_true is_followed "$1"
    sql "$1" postgres "ALTER SYSTEM SET synchronous_standby_names = '*'"
    sql "$1" postgres "SELECT pg_reload_conf()" >/dev/null
}

is_followed() { [[ $(sql "$1" postgres "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == 1 ]]; }

failover() {
    local standby
    standby=$(other_than "$primary")
    [[ -e $work/databases/$standby/standby.signal ]] || fail "$standby is no standby; first: $0 rejoin $work"
    # As a machine that loses its power: nobody is told.
    postgresql pg_ctl -D "$work/databases/$primary" -s -m immediate -w stop
    say "$primary was stopped"
    postgresql pg_ctl -D "$work/databases/$standby" -s -w promote
    say "$standby was promoted"
    primary=$standby
    sed -i "s/^primary=.*/primary=$primary/" "$work/state"
}

rejoin() {
    local old
    old=$(other_than "$primary")
    [[ ! -e $work/databases/$old/postmaster.pid ]] || fail "$old runs already"
    # It may have what the primary has not. pg_rewind would copy less where there is much.
    rm -rf "${work:?}/databases/$old"
    make_standby "$old" "$primary"
    say "$old follows $primary"
}
