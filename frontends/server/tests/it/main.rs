//! Black-box tests of the program: exit status and output of commands, and responses of servers.

mod accounts;
mod admin;
#[cfg(any(target_os = "linux", feature = "redis"))]
mod background;
mod backup;
mod clients;
#[cfg(any(feature = "redis", feature = "otel"))]
mod closed_port;
#[cfg(target_os = "linux")]
mod colors;
mod command_line;
mod config_check;
mod dashboard;
mod databases;
mod demo;
mod developer_settings;
#[cfg(unix)]
mod discarded_output;
#[cfg(unix)]
mod doctor;
#[cfg(unix)]
mod early_hangup;
mod encodings;
#[cfg(unix)]
mod equal_servers;
mod escapes;
mod export;
mod failing_writes;
mod generated;
#[cfg(target_os = "linux")]
mod header_work;
mod health;
mod https;
#[cfg(target_os = "linux")]
mod idle_memory;
mod import;
mod import_report;
#[cfg(target_os = "linux")]
mod inherited_signals;
#[cfg(unix)]
mod interrupts;
#[cfg(all(unix, feature = "oauth"))]
mod issuer;
mod keys;
mod keys_check;
mod keys_find;
mod keys_list;
mod keys_rotate;
mod keys_wait;
#[cfg(unix)]
mod last_use;
mod locked;
mod logs;
mod logs_of_libraries;
mod messages;
mod metrics;
mod migrate;
#[cfg(unix)]
mod never_stale;
mod observed;
mod openapi;
#[cfg(feature = "otel")]
mod otlp;
#[cfg(unix)]
mod own_tables;
#[cfg(unix)]
mod permissions;
#[cfg(target_os = "linux")]
mod pid_1;
#[cfg(unix)]
mod postgres;
mod program;
#[cfg(target_os = "linux")]
mod progress;
#[cfg(target_os = "linux")]
mod proxies;
#[cfg(feature = "redis")]
mod redis;
mod sample_configurations;
mod secrets;
mod serve;
#[cfg(feature = "redis")]
mod shared_rate_limit;
mod skip;
#[cfg(target_os = "linux")]
mod stress;
#[cfg(unix)]
mod systemd;
#[cfg(target_os = "linux")]
mod terminal;
mod tokens;
#[cfg(feature = "oauth")]
mod tokens_revoke;
mod tools;
#[cfg(unix)]
mod upgrade;
#[cfg(not(feature = "otel"))]
mod without_otel;
