//! [`HostApp`]: a copy of the courses in the tables of a host application, with views over them.

use std::error::Error;
use std::path::PathBuf;

use catalogue_core::AccountId;
use catalogue_core::admin::AdminStorage;
use catalogue_core::storage::{Actor, CourseViews, StorageError};
use catalogue_postgres::{Options, PostgresStorage};
use catalogue_sqlite::SqliteStorage;
use tokio::runtime::Builder;

use crate::data::{Data, Owner, connect, key};

/// Copies the courses into tables with numeric keys. Names in capitals are placeholders: schemas, and conversions of times.
const TABLES: &str = "
    INSERT INTO HOST.teams (name) SELECT id FROM DATA.accounts ORDER BY id;
    INSERT INTO HOST.trainings (team_id, handle, title, tagline, language, made_at, out_at, hidden, access, size)
        SELECT t.id, c.slug, c.title, c.tagline, c.language, MADE, OUT, c.hidden, c.access_mode, c.module_count
        FROM DATA.courses AS c JOIN HOST.teams AS t ON t.name = c.account_id;
    INSERT INTO HOST.lessons (training_id, place, title, summary)
        SELECT r.id, m.number, m.title, m.summary FROM DATA.modules AS m JOIN HOST.teams AS t ON t.name = m.account_id
        JOIN HOST.trainings AS r ON r.team_id = t.id AND r.handle = m.course_slug;";

const VIEWS: &str = "
    CREATE VIEW HOST.catalogue_accounts AS SELECT id FROM teams;
    CREATE VIEW HOST.catalogue_courses AS SELECT team_id AS account_id, handle AS slug, title, tagline, language,
        made_at AS created_at, out_at AS published_at, hidden, access AS access_mode, size AS module_count FROM trainings;
    CREATE VIEW HOST.catalogue_modules AS SELECT t.team_id AS account_id, t.handle AS course_slug,
        l.place AS number, l.title, l.summary FROM lessons AS l JOIN trainings AS t ON t.id = l.training_id;";

const SQLITE: &str = "
    PRAGMA main.journal_mode = wal;
    CREATE TABLE teams (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE trainings (id INTEGER PRIMARY KEY, team_id INTEGER NOT NULL, handle TEXT NOT NULL, title TEXT NOT NULL,
        tagline TEXT NOT NULL, language TEXT NOT NULL, made_at TEXT NOT NULL, out_at TEXT, hidden INTEGER NOT NULL,
        access TEXT, size INTEGER NOT NULL, UNIQUE (team_id, handle));
    CREATE TABLE lessons (id INTEGER PRIMARY KEY, training_id INTEGER NOT NULL, place INTEGER NOT NULL, title TEXT NOT NULL,
        summary TEXT NOT NULL, UNIQUE (training_id, place));";

const POSTGRES: &str = "
    CREATE SCHEMA team;
    SET search_path = team;
    CREATE TABLE teams (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE);
    CREATE TABLE trainings (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, team_id bigint NOT NULL, handle text NOT NULL,
        title text NOT NULL, tagline text NOT NULL, language text NOT NULL, made_at timestamptz NOT NULL, out_at timestamptz,
        hidden boolean NOT NULL, access text, size integer NOT NULL, UNIQUE (team_id, handle));
    CREATE TABLE lessons (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, training_id bigint NOT NULL,
        place integer NOT NULL, title text NOT NULL, summary text NOT NULL, UNIQUE (training_id, place));";

/// Courses of a [`Data`] in the tables of a host application, with the index that `doctor` recommends, and a key of the first
/// account.
#[derive(Debug)]
pub struct HostApp {
    /// The first account.
    pub owner: Owner,
    /// Arguments of `catalogue serve` that select the views.
    pub arguments: Vec<String>,
    /// Paths of the SQLite files with keys and with courses; `None` for PostgreSQL.
    pub files: Option<[PathBuf; 2]>,
}

impl HostApp {
    /// Copies the courses of `data`.
    ///
    /// # Errors
    /// Returns an error if the database cannot be written.
    pub fn copied_from(data: &Data) -> Result<Self, Box<dyn Error>> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async { if data.is_postgres() { in_postgres(data).await } else { in_sqlite(data).await } })
    }
}

async fn in_sqlite(data: &Data) -> Result<HostApp, Box<dyn Error>> {
    let [keys, courses]: [PathBuf; 2] = ["keys.db", "team.db"].map(|name| data.path().with_file_name(name));
    let connection = rusqlite::Connection::open(&courses)?;
    let text = |column| {
        format!("strftime('%Y-%m-%d %H:%M:%S', {column} / 1000000, 'unixepoch') || printf('.%06d', {column} % 1000000)")
    };
    let tables = TABLES.replace("MADE", &text("c.created_at")).replace("OUT", &text("c.published_at"));
    connection.execute("ATTACH ?1 AS ours", [data.path().to_str()])?;
    connection.execute_batch(&[SQLITE, &tables, VIEWS].concat().replace("HOST.", "main.").replace("DATA.", "ours."))?;
    let storage = SqliteStorage::open_and_migrate_views(&keys, &courses)?;
    connection.execute_batch(&index_of_pages(storage.views()).await?)?;
    connection.execute_batch("ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")?;
    let arguments = [
        "--courses".to_owned(),
        "views".to_owned(),
        format!("--database=sqlite:{}", keys.display()),
        format!("--courses-database=sqlite:{}", courses.display()),
    ];
    Ok(HostApp { owner: owner(&storage, data).await?, arguments: arguments.into(), files: Some([keys, courses]) })
}

async fn in_postgres(data: &Data) -> Result<HostApp, Box<dyn Error>> {
    let client = connect(&data.address()).await?;
    let time = |column| format!("timestamptz 'epoch' + {column} * interval '1 microsecond'");
    let tables = TABLES.replace("MADE", &time("c.created_at")).replace("OUT", &time("c.published_at"));
    client
        .batch_execute(&[POSTGRES, &tables, VIEWS].concat().replace("HOST.", "team.").replace("DATA.", "public."))
        .await?;
    client.batch_execute("CREATE INDEX ON trainings (team_id, made_at, handle COLLATE \"C\")").await?;
    let storage = PostgresStorage::open_and_migrate(&Options::parse(&data.address())?.views("team")).await?;
    client.batch_execute("VACUUM (ANALYZE)").await?;
    let arguments = ["--courses", "views", "--courses-schema", "team", "--database", &data.address()];
    Ok(HostApp { owner: owner(&storage, data).await?, arguments: arguments.map(str::to_owned).into(), files: None })
}

/// Returns the index that `doctor` recommends, with these tables' names and, as in `views example`, all columns of a list.
async fn index_of_pages(views: Option<&dyn CourseViews>) -> Result<String, StorageError> {
    let Some(views) = views else { return Ok(String::new()) };
    let page = views.check_plans().await?.into_iter().find(|advice| advice.subject.ends_with("page"));
    let replacements = [
        ("…", "catalogue_list"),
        ("<table behind catalogue_courses>", "trainings"),
        ("<account_id>", "team_id"),
        ("<created_at>", "made_at"),
        ("<slug> COLLATE BINARY)", "handle, title, language, made_at, out_at, hidden, size)"),
    ];
    let template = page.and_then(|advice| advice.fix).unwrap_or_default();
    Ok(replacements.iter().fold(template, |index, (placeholder, name)| index.replace(placeholder, name)))
}

/// Creates a key of the first account, whose number is 1.
async fn owner(storage: &dyn AdminStorage, data: &Data) -> Result<Owner, StorageError> {
    let (owner, credential) = key(AccountId::new("1"), data.accounts()[0].courses);
    storage.create_key(&credential, &Actor::OPERATOR).await?;
    Ok(owner)
}
