//! The program over a host application's tables, as Django, Rails and Laravel create them, in SQLite and PostgreSQL.

mod app;
mod changes;
mod checks;
mod commands;
mod keys;
mod missing_triggers;
mod names;
mod other_user;
mod readme;
mod recreated_views;
mod rights;
mod rows;
mod same_responses;
mod writers;
