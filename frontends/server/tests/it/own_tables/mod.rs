//! The program over the tables of another one, as Django, Rails and Laravel make them, in SQLite and in PostgreSQL.

mod app;
mod changes;
mod checks;
mod commands;
mod freshness;
mod keys;
mod other_user;
mod readme;
mod rebuilt;
mod remade;
mod rights;
mod rows;
mod same_responses;
mod writers;
