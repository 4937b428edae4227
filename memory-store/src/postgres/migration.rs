//! The creation of the tables.

use memory_core::instance::InstanceError;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::access::denied_error;
use super::connections::run_transaction;
use super::error::DatabaseError;

/// Tables with a version of their own, so that a program which does not know the others can use them.
#[derive(Debug)]
pub(super) struct TableGroup {
    /// The row of the version.
    row: i32,
    /// The migrations, one for each version.
    ///
    /// Some databases cannot roll back such statements, so a migration may have been applied in part. Therefore each
    /// statement has no effect the second time.
    migrations: &'static [&'static str],
    /// Functions that only improve the speed.
    functions: Option<&'static str>,
}

/// The tables of sessions and values.
pub(super) const INSTANCES: TableGroup = TableGroup {
    row: 1,
    migrations: &[include_str!("migrations/0001_history_and_kv.sql")],
    functions: Some(include_str!("migrations/append.sql")),
};

/// The tables of memories.
pub(super) const DOCUMENTS: TableGroup = TableGroup {
    row: 2,
    migrations: &[
        include_str!("migrations/0002_documents.sql"),
        include_str!("migrations/0003_files.sql"),
        include_str!("migrations/0004_access.sql"),
        // The functions are always those of the last version.
        "",
        "",
        concat!(
            include_str!("migrations/0006_principals.sql"),
            "\n",
            include_str!("migrations/functions.sql"),
            "\n",
            include_str!("migrations/privileges.sql")
        ),
    ],
    functions: None,
};

/// Creates the table of the versions. A row contains the number of migrations of a group, and locks them.
const CREATE_VERSION_TABLE: &str = "CREATE TABLE IF NOT EXISTS memory_schema (one integer NOT NULL PRIMARY KEY, version integer NOT NULL)";

const INSERT_VERSION: &str =
    "INSERT INTO memory_schema (one, version) VALUES ($1, 0) ON CONFLICT (one) DO NOTHING";

/// Creates the tables of a group in this version, unless they exist.
///
/// # Errors
/// [`InstanceError::Damaged`] if the tables have a newer version.
pub(super) async fn migrate(client: &Client, group: &TableGroup) -> Result<(), DatabaseError> {
    match read_version(client, group, "").await {
        Ok(Some(found)) if usize::try_from(found) == Ok(group.migrations.len()) => return Ok(()),
        Ok(Some(found))
            if i64::try_from(group.migrations.len()).is_ok_and(|known| known < found) =>
        {
            return Err(newer_version_error(found, group));
        }
        Ok(_) => {}
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => {}
        Err(error) => return Err(error.into()),
    }
    if let Err(error) = client.batch_execute(CREATE_VERSION_TABLE).await {
        // If another client creates the same table at the same time, the statement does not wait but fails with one of
        // these codes.
        let is_there = [
            SqlState::UNIQUE_VIOLATION,
            SqlState::DUPLICATE_TABLE,
            SqlState::DUPLICATE_OBJECT,
        ];
        match error.code() {
            Some(code) if is_there.contains(code) => {
                client.batch_execute(CREATE_VERSION_TABLE).await?;
            }
            _ => return Err(error.into()),
        }
    }
    client
        .execute_typed(INSERT_VERSION, &[(&group.row, Type::INT4)])
        .await?;
    run_transaction(client, async || apply_migrations(client, group).await).await?;
    let Some(functions) = group.functions else {
        return Ok(());
    };
    match client.batch_execute(functions).await {
        // The functions are optional. The server reports an error if it does not support them or if another client
        // creates them.
        Err(error) if error.as_db_error().is_none() => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Returns the number of functions with the rights of the owner that every role may execute, as after a restore without privileges.
const COUNT_OPEN_FUNCTIONS: &str = "
    SELECT count(*) FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
    WHERE nspname = current_schema() AND proname >= 'memory_' AND proname < 'memory`' AND prosecdef
        AND (proacl IS NULL OR EXISTS (SELECT FROM aclexplode(proacl) AS privilege WHERE privilege.grantee = 0))";

/// Takes the functions that have the rights of the owner from all roles other than those of nodes, if every role may execute them.
///
/// # Errors
/// [`Code::PermissionDenied`] if this role is not the owner.
pub(super) async fn close_functions(client: &Client) -> Result<(), DatabaseError> {
    let count: i64 = client
        .query_typed_one(COUNT_OPEN_FUNCTIONS, &[])
        .await?
        .try_get(0)?;
    if count == 0 {
        return Ok(());
    }
    let close = include_str!("migrations/privileges.sql");
    match client.batch_execute(close).await {
        Err(error) if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            let what = "every role of the database may read and change all memories, as after a restore without privileges";
            let hint = "the owner of the database runs `memory doctor`, which takes the rights from the other roles";
            Err(denied_error(what.to_owned(), hint))
        }
        closed => Ok(closed?),
    }
}

/// Checks that the tables of memories exist in this version, on a node that may not create them.
///
/// # Errors
/// [`Code::PermissionDenied`] if they do not exist or are older, [`InstanceError::Damaged`] if they are newer.
pub(super) async fn check_version(client: &Client) -> Result<(), DatabaseError> {
    let missing = [
        SqlState::UNDEFINED_FUNCTION,
        SqlState::INSUFFICIENT_PRIVILEGE,
    ];
    let found = match client
        .query_typed_one("SELECT memory_node_version()::bigint", &[])
        .await
    {
        Err(error) if error.code().is_some_and(|code| missing.contains(code)) => None,
        row => row?.try_get(0)?,
    };
    let known = i64::try_from(DOCUMENTS.migrations.len()).unwrap_or(i64::MAX);
    match found {
        Some(found) if found == known => Ok(()),
        Some(found) if known < found => Err(newer_version_error(found, &DOCUMENTS)),
        _ => {
            let what = "the tables of memories do not exist in this version, or this user has no access to them".to_owned();
            let hint = "the owner of the database runs `memory shared init` and `memory shared principal add`";
            Err(denied_error(what, hint))
        }
    }
}

async fn apply_migrations(client: &Client, group: &TableGroup) -> Result<(), DatabaseError> {
    let done = read_version(client, group, "FOR UPDATE")
        .await?
        .unwrap_or(0);
    let known = i64::try_from(group.migrations.len()).unwrap_or(i64::MAX);
    if known < done {
        return Err(newer_version_error(done, group));
    }
    for step in group
        .migrations
        .iter()
        .skip(usize::try_from(done).unwrap_or(0))
    {
        client.batch_execute(step).await?;
    }
    let update = "UPDATE memory_schema SET version = $1::bigint WHERE one = $2";
    client
        .execute_typed(update, &[(&known, Type::INT8), (&group.row, Type::INT4)])
        .await?;
    Ok(())
}

async fn read_version(
    client: &Client,
    group: &TableGroup,
    lock: &str,
) -> Result<Option<i64>, Error> {
    let question = format!("SELECT version::bigint FROM memory_schema WHERE one = $1 {lock}");
    client
        .query_typed_opt(&question, &[(&group.row, Type::INT4)])
        .await?
        .map(|row| row.try_get(0))
        .transpose()
}

fn newer_version_error(found: i64, group: &TableGroup) -> DatabaseError {
    let known = group.migrations.len();
    let what = format!(
        "its tables were created by a newer version of this program (version {found}; supported: {known})"
    );
    DatabaseError::Other(InstanceError::Damaged {
        place: "the database".into(),
        what,
    })
}
