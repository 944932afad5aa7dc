//! [`Large`]: a much larger copy of a database, made in SQL.

use std::error::Error;

use tokio::runtime::Builder;

use crate::data::{Data, Owner, connect};

/// Copies all other accounts with their courses, but not their keys. Copies the first account's courses into the same
/// account as older ones, so that it has 10 % of all. The start of its list stays the same.
const COPIES: &str = "
    INSERT INTO courses (account_id, created_at, slug, title, tagline, language, published_at, hidden, module_count)
        WITH RECURSIVE copies (copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < OF_FIRST)
        SELECT account_id, created_at - copy * CAST(86400000000 AS BIGINT), slug || '-' || copy, title, tagline, language,
            published_at, hidden, module_count FROM courses CROSS JOIN copies WHERE account_id = 'FIRST';
    INSERT INTO accounts (id, name)
        WITH RECURSIVE copies (copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < OF_OTHERS)
        SELECT id || '_' || copy, name FROM accounts CROSS JOIN copies WHERE id <> 'FIRST';
    INSERT INTO courses (account_id, created_at, slug, title, tagline, language, published_at, hidden, module_count)
        WITH RECURSIVE copies (copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < OF_OTHERS)
        SELECT account_id || '_' || copy, created_at, slug, title, tagline, language, published_at, hidden, module_count
        FROM courses CROSS JOIN copies WHERE account_id <> 'FIRST';";

/// A copy of a database with many additional courses, which have no modules.
#[derive(Debug)]
pub struct Large {
    /// Address for the program's command line.
    pub address: String,
    /// The first account, with the same key as in the original.
    pub owner: Owner,
}

impl Large {
    /// Creates a copy of `data` with about `courses` additional courses.
    pub fn of(data: &Data, courses: usize) -> Result<Self, Box<dyn Error>> {
        let first = &data.accounts()[0];
        let others: usize = data.accounts()[1..].iter().map(|owner| owner.courses).sum();
        let (of_first, of_others) = (courses / 10 / first.courses, courses / 10 * 9 / others);
        let copies = COPIES.replace("OF_FIRST", &of_first.to_string()).replace("OF_OTHERS", &of_others.to_string());
        let copies = copies.replace("FIRST", first.account.as_str());
        let address = match data.is_postgres() {
            true => {
                let runtime = Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(in_postgres(&data.address(), &copies))?;
                data.address().replace("/postgres?", "/large?")
            }
            false => in_sqlite(data, &copies)?,
        };
        let (account, token) = (first.account.clone(), first.token.clone());
        Ok(Self { address, owner: Owner { account, courses: first.courses * (1 + of_first), token } })
    }
}

fn in_sqlite(data: &Data, copies: &str) -> Result<String, Box<dyn Error>> {
    let path = data.path().with_file_name("large.db");
    rusqlite::Connection::open(data.path())?.execute("VACUUM INTO ?1", [path.to_str()])?;
    let connection = rusqlite::Connection::open(&path)?;
    let triggers = connection
        .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<Vec<(String, String)>, _>>()?;
    // Without the triggers, which would look up the modules of each new course: it has none.
    let drop_triggers: String = triggers.iter().map(|(name, _)| format!("DROP TRIGGER {name};")).collect();
    let create_triggers: String = triggers.iter().map(|(_, sql)| format!("{sql};")).collect();
    let begin = "PRAGMA cache_size = -500000; PRAGMA journal_mode = off; PRAGMA synchronous = off; BEGIN;";
    let end = "COMMIT; PRAGMA journal_mode = wal;";
    connection.execute_batch(&[begin, &drop_triggers, copies, &create_triggers, end].concat())?;
    Ok(format!("sqlite:{}", path.display()))
}

async fn in_postgres(address: &str, copies: &str) -> Result<(), Box<dyn Error>> {
    let template = connect(&address.replace("/postgres?", "/template1?")).await?;
    template.batch_execute("CREATE DATABASE large TEMPLATE postgres").await?;
    let client = connect(&address.replace("/postgres?", "/large?")).await?;
    // Without the triggers, which would look up the account and the modules of each new course.
    client.batch_execute("SET session_replication_role = replica").await?;
    client.batch_execute(copies).await?;
    client.batch_execute("VACUUM (ANALYZE)").await?;
    Ok(())
}
