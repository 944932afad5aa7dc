# shellcheck shell=bash disable=SC2154
# The primary and its standby: creation, failover, and rejoining of the old primary. Their data is below `$work/databases`.

# Prints the folder of PostgreSQL's programs: from the PATH, or Debian's newest.
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

# Runs a command as the user postgres if this script runs as root, which PostgreSQL refuses.
as_postgres() {
    if ((EUID == 0)); then
        setpriv --reuid postgres --regid "$(id -g postgres)" --clear-groups -- "$@"
    else
        "$@"
    fi
}

# Runs a program of PostgreSQL, which reads the passwords from a file.
postgresql() {
    local program=$1
    shift
    # Closes descriptor 3, the pipe for a drill's phases, which a database would otherwise keep open.
    (cd "$work" && PGPASSFILE="$work/databases/passwords" as_postgres "$postgresql/$program" "$@" 3>&-)
}

sql() { postgresql psql -qtA -v ON_ERROR_STOP=1 -h 127.0.0.1 -p "$(port_of "$1")" -U postgres -d "$2" -c "$3"; }

port_of() {
    local name=port_${1/-/_}
    echo "${!name}"
}

other_than() { if [[ $1 == db-one ]]; then echo db-two; else echo db-one; fi; }

start_database() {
    # The output goes to a log file: the database would keep a pipe open.
    postgresql pg_ctl -D "$work/databases/$1" -l "$work/databases/$1.log" -o "-p $(port_of "$1")" -s -w start >/dev/null
}

make_primary() {
    local data=$work/databases/$1
    # The data does not have to survive a power failure.
    postgresql initdb --no-sync -D "$data" -U postgres -A scram-sha-256 --pwfile "$work/databases/password" \
        -E UTF8 --locale C.UTF-8 >/dev/null
    as_postgres sh -c "echo \"include '$work/databases/postgresql.conf'\" >>'$data/postgresql.conf'"
    start_database "$1"
    sql "$1" postgres "CREATE ROLE replicator LOGIN REPLICATION PASSWORD '$password'"
    sql "$1" postgres "CREATE ROLE catalogue LOGIN PASSWORD '$password'"
    sql "$1" postgres "CREATE DATABASE catalogue OWNER catalogue"
}

# Creates $1 as a standby of the primary $2. A replication slot makes the primary retain the WAL that $1 still needs.
make_standby() {
    postgresql pg_basebackup --no-sync -D "$work/databases/$1" -h 127.0.0.1 -p "$(port_of "$2")" -U replicator \
        --write-recovery-conf --create-slot --slot standby --checkpoint fast
    start_database "$1"
    commit_on_both "$2"
}

# Makes commits of the primary $1 wait for the standby too: a revoked key must stay revoked after a failover. The standby lacks
# this setting, so that it accepts writes as soon as it is promoted.
commit_on_both() {
    until_true is_followed "$1"
    sql "$1" postgres "ALTER SYSTEM SET synchronous_standby_names = '*'"
    sql "$1" postgres "SELECT pg_reload_conf()" >/dev/null
}

is_followed() { [[ $(sql "$1" postgres "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'") == 1 ]]; }

failover() {
    local standby
    standby=$(other_than "$primary")
    [[ -e $work/databases/$standby/standby.signal ]] || fail "$standby is not a standby; first run: $0 rejoin $work"
    # Like a power failure: no connection is closed properly.
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
    [[ ! -e $work/databases/$old/postmaster.pid ]] || fail "$old is already running"
    # The old primary may have transactions that the new one lacks. With much data, pg_rewind would copy less.
    rm -rf "${work:?}/databases/$old"
    make_standby "$old" "$primary"
    say "$old follows $primary"
}
