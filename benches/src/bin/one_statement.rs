//! Serves a constant response by axum, each time after one prepared statement over a pool: the minimum for a program that
//! queries PostgreSQL for every request. The address is printed on standard output.
#![expect(clippy::print_stdout, reason = "a program that prints its address")]

use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use catalogue_benches::{Failure, read_response};
use clap::Parser;
use deadpool::managed::{Manager, Metrics, Pool, RecycleError, RecycleResult};
use http::Response;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio_postgres::{Client, Error, NoTls, Statement};

/// Number of connections, the same as the server's.
const CONNECTIONS: usize = 10;

#[derive(Parser)]
#[command(name = "one_statement", about = "Serve a constant response, each time after one statement")]
struct Options {
    /// Address of the database
    #[arg(long)]
    database: String,
    /// Statement with one parameter (a text) or two (a text and a number)
    #[arg(long, value_name = "SQL")]
    statement: String,
    /// First parameter of the statement
    #[arg(long)]
    text: String,
    /// File with the response
    #[arg(value_name = "FILE")]
    response: PathBuf,
}

/// Opens connections that have prepared a statement.
struct Connector {
    database: String,
    statement: String,
}

struct Handler {
    pool: Pool<Connector>,
    text: String,
    response: Response<Bytes>,
}

impl Manager for Connector {
    type Type = (Client, Statement);
    type Error = Error;

    async fn create(&self) -> Result<(Client, Statement), Error> {
        let (client, connection) = tokio_postgres::connect(&self.database, NoTls).await?;
        // The next statement returns the connection's error.
        tokio::spawn(connection);
        let statement = client.prepare(&self.statement).await?;
        Ok((client, statement))
    }

    async fn recycle(&self, (client, _): &mut (Client, Statement), _: &Metrics) -> RecycleResult<Error> {
        if client.is_closed() { Err(RecycleError::message("closed")) } else { Ok(()) }
    }
}

impl Handler {
    async fn response(&self) -> Response<Body> {
        let Ok(connection) = self.pool.get().await else { return failed() };
        let (client, statement) = &*connection;
        let rows_result = match statement.params().len() {
            1 => client.query(statement, &[&self.text]).await,
            _ => client.query(statement, &[&self.text, &51_i64]).await,
        };
        match rows_result {
            Ok(rows) if !rows.is_empty() => self.response.clone().map(Body::from),
            _ => failed(),
        }
    }
}

fn failed() -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = http::StatusCode::INTERNAL_SERVER_ERROR;
    response
}

fn main() -> Result<(), Failure> {
    let Options { database, statement, text, response } = Options::parse();
    Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let pool = Pool::builder(Connector { database, statement }).max_size(CONNECTIONS).build()?;
        let handler = Arc::new(Handler { pool, text, response: read_response(&response)? });
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("listening on http://{}", listener.local_addr()?);
        let service = Router::new().fallback(move || {
            let handler = Arc::clone(&handler);
            async move { handler.response().await }
        });
        Ok(axum::serve(listener, service).await?)
    })
}
