//! The shared log of memories in a Postgres database.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use memory_core::instance::InstanceError;
use memory_core::{
    Code, ContentHash, DatabaseFigures, Operation, ParseError, Recorded, RecordedChange,
    RecordedFile, StoreError, add_time,
};
use tokio::sync::OnceCell;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::Database;
use super::access::{PrincipalToken, TokenPrincipal, denied_error, run_as};
use super::conditions::SqlParameter;
use super::document_append::append;
use super::document_files;
use super::error::{DatabaseError, database_error};
use super::listener::ListenerEvent;
use super::migration::{DOCUMENTS, check_version, close_functions, migrate};
use crate::access_key::{is_path_of_key, is_plain_path};
use crate::disk::{FileEdit, LazyDisk};
use crate::journal::{INVALID_CHANGE, JournalPayload};
use crate::log_connection::{LogConnection, NewsSignal};
use crate::shared_log::{
    FileCommitResult, LogAppendResult, LogHead, LogHeads, LogIdentity, LogPage, LoggedOperation,
    NewOperation, SharedFile, SharedFilePage, SharedFolderId, SharedLog,
};
use crate::store_folder::{FolderReplica, StoreFolder};
use crate::{FileStore, FileStoreOptions};

/// Maximum number of operations that are fetched at once.
const OPERATIONS_PER_PAGE: i64 = 500;

const FIND_LOST: &str = "SELECT memory_node_find_lost($1, $2, $3)";

const LIST_OPERATIONS: &str = "
    SELECT operation, token, position, scope, verb, actor, at, at_nanos, undoes, principal FROM memory_node_operations($1, $2, $3)";

const LIST_CHANGES: &str = "
    SELECT operation, token, nth, scope, id, former_path, former_hash, trash, path, hash, why, content
    FROM memory_node_changes($1, $2, $3, $4)";

impl FileStore {
    /// Opens a store of memories in a Postgres database, with a replica of them in a folder.
    ///
    /// Several stores on several machines may use one database. A write is a transaction of the database, and is durable once it
    /// returns. Reads use the replica, which first fetches the operations of the other stores, at most once in each `interval`. If
    /// the database cannot be reached, results come from the replica and report that in `degraded`, and
    /// writes wait in a queue in the folder.
    ///
    /// The replica is a home that is derived from the database, and may be deleted at any time. Files that other programs change
    /// in it are not transferred to the database.
    ///
    /// ```no_run
    /// use std::path::Path;
    /// use std::sync::Arc;
    /// use std::time::Duration;
    ///
    /// use memory_core::Memories;
    /// use memory_store::postgres::{Database, DatabaseLimits};
    /// use memory_store::{FileStore, FileStoreOptions};
    ///
    /// let database = Arc::new(Database::new("postgres://memory@db.example/team", DatabaseLimits::default())?);
    /// let interval = Duration::from_millis(200);
    /// let store = FileStore::open_replica(Path::new("/var/cache/memory"), FileStoreOptions::default(), database, interval)?;
    /// let memories = Memories::builder(store).build();
    /// memories.write("The team deploys on Tuesdays")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the folder cannot be opened. The database is not used before the first call.
    pub fn open_replica(
        folder: &Path,
        options: FileStoreOptions,
        database: Arc<Database>,
        interval: Duration,
    ) -> Result<Self, StoreError> {
        let log = Arc::new(PostgresDocumentLog::new(database));
        let connection = LogConnection::new(Arc::clone(&log) as _, interval);
        let store = Self::open(folder, options)?.with_log(connection);
        let (place, folder) = (
            LazyDisk::new(store.root().to_owned()),
            SharedFolderId::conversations(),
        );
        let connection = LogConnection::new(log, interval);
        let replica = FolderReplica::new(connection, folder, crate::conversation::REPLICA);
        Ok(store.with_conversations(StoreFolder::shared(place, replica)))
    }
}

/// The shared log and the shared files in a database.
#[derive(Debug)]
pub(super) struct PostgresDocumentLog {
    database: Arc<Database>,
    is_ready: OnceCell<()>,
    /// The replicas of one process have the same log.
    identity: OnceLock<LogIdentity>,
    /// Whether the database supports notifications, as far as is known.
    can_notify: AtomicBool,
}

impl PostgresDocumentLog {
    pub(super) fn new(database: Arc<Database>) -> Self {
        Self {
            database,
            is_ready: OnceCell::new(),
            identity: OnceLock::new(),
            can_notify: AtomicBool::new(true),
        }
    }

    /// Runs `work`, a transaction that notifies other nodes with the number of this one, and without it if the database has no
    /// notifications.
    pub(super) async fn run_with_notifier<T>(
        &self,
        work: impl AsyncFn(Option<i64>) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let notifier =
            Some(self.database.number()).filter(|_| self.can_notify.load(Ordering::Relaxed));
        match work(notifier).await {
            Err(DatabaseError::Postgres(error))
                if error.code() == Some(&SqlState::UNDEFINED_FUNCTION) && notifier.is_some() =>
            {
                self.can_notify.store(false, Ordering::Relaxed);
                work(None).await
            }
            done => done,
        }
    }

    /// Returns the token of the node, if it has one.
    pub(super) fn token(&self) -> Option<&PrincipalToken> {
        self.database.token()
    }

    /// Runs `work` in a transaction with the token of the node, as [`PostgresDocumentLog::run`] does.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass closures")]
    pub(super) fn run_as<T>(
        &self,
        work: impl AsyncFn(&Client, Option<&TokenPrincipal>) -> Result<T, DatabaseError>,
    ) -> Result<T, StoreError> {
        self.run(&async |client| {
            run_as(client, self.token(), async |principal| {
                work(client, principal).await
            })
            .await
        })
    }

    /// Runs `work` on a connection, after the tables were created. Only a node without a token creates them.
    pub(super) fn run<T>(
        &self,
        work: &impl AsyncFn(&Client) -> Result<T, DatabaseError>,
    ) -> Result<T, StoreError> {
        let done = self.database.run_without_instances(async |client| {
            let prepare = async || {
                if self.database.token().is_none() {
                    migrate(client, &DOCUMENTS).await?;
                    return close_functions(client).await;
                }
                let (version, closed) =
                    tokio::join!(biased; check_version(client), close_functions(client));
                version.and(closed)
            };
            let done = async {
                self.is_ready.get_or_try_init(prepare).await?;
                work(client).await
            };
            done.await.map_err(|error| match error {
                DatabaseError::Postgres(error)
                    if error.code() == Some(&SqlState::INSUFFICIENT_PRIVILEGE) && self.database.token().is_none() =>
                {
                    let what = "the user of the database does not own the tables, and this home has no token".to_owned();
                    denied_error(what, "use the address of the owner, or pass the token of a principal to `memory shared init --token`")
                }
                error => error,
            })
        });
        done.map_err(to_store_error)
    }
}

impl SharedLog for PostgresDocumentLog {
    fn identity(&self) -> Result<LogIdentity, StoreError> {
        if let Some(known) = self.identity.get() {
            return Ok(known.clone());
        }
        let identity = self.run_as(async |client, principal| {
            let row = client
                .query_typed_one("SELECT memory_node_log_id()", &[])
                .await?;
            Ok(LogIdentity {
                id: row.try_get(0)?,
                principal: principal.map(|principal| principal.name.clone()),
            })
        })?;
        Ok(self.identity.get_or_init(|| identity).clone())
    }

    fn pull(&self, known: &LogHeads) -> Result<LogPage, StoreError> {
        let pull = async |client: &Client, principal: Option<&TokenPrincipal>| {
            Ok(LogPage {
                operations: pull_operations(client, known, principal).await?,
                readable: principal.map(|principal| principal.scopes.clone()),
                read_only: principal.map_or_else(Vec::new, |principal| principal.read_only.clone()),
            })
        };
        match self.database.token() {
            None => self.run(&async |client| pull(client, None).await),
            Some(_) => self.run_as(pull),
        }
    }

    fn append(
        &self,
        known: &mut LogHeads,
        operation: &NewOperation,
    ) -> Result<LogAppendResult, StoreError> {
        let append = async |client: &Client| {
            self.run_with_notifier(async |notifier| {
                append(client, self.token(), known, operation, notifier).await
            })
            .await
        };
        match self.run(&append) {
            Ok(Some(position)) => {
                let token = operation.token;
                known.advance(operation.scopes(), LogHead { position, token });
                Ok(LogAppendResult::Appended)
            }
            Ok(None) => Ok(LogAppendResult::Behind),
            Err(StoreError::Conflict { what }) => Ok(LogAppendResult::Refused(what)),
            Err(error) => Err(error),
        }
    }

    fn purge(&self, before: DateTime<Utc>) -> Result<(), StoreError> {
        self.run_as(async |client, _| {
            let values = [(&before as _, Type::TIMESTAMPTZ)];
            client
                .execute_typed("SELECT memory_node_purge($1)", &values)
                .await?;
            Ok(())
        })
    }

    fn figures(&self) -> DatabaseFigures {
        self.database.figures()
    }

    fn listen(&self, news: Arc<NewsSignal>) {
        let own = self.database.number();
        // Without a listener, nodes only fetch operations at intervals.
        let _ = self.database.listen(
            own,
            Arc::new(move |event| match event {
                ListenerEvent::Lost => news.set_listening(false),
                // An own notification only shows that notifications arrive.
                ListenerEvent::Notified(sender) => {
                    let was_listening = news.is_listening();
                    news.set_listening(true);
                    if sender != own || !was_listening {
                        news.notify();
                    }
                }
            }),
        );
    }

    fn changed_files(
        &self,
        folder: &SharedFolderId,
        known: i64,
        last: Option<&SharedFile>,
    ) -> Result<SharedFilePage, StoreError> {
        self.run_as(async |client, principal| {
            let scope = document_files::scope_of(folder, principal);
            document_files::list(client, &scope, &folder.name, known, last).await
        })
    }

    fn commit_files(
        &self,
        folder: &SharedFolderId,
        known: i64,
        token: i64,
        edits: &[FileEdit],
    ) -> Result<FileCommitResult, StoreError> {
        let committed = self.run(&async |client| {
            let commit = async |notifier: Option<i64>| {
                run_as(client, self.token(), async |principal| {
                    let scope = document_files::scope_of(folder, principal);
                    let positions = (known, token, notifier);
                    document_files::commit(client, &scope, &folder.name, positions, edits).await
                })
                .await
            };
            self.run_with_notifier(commit).await
        });
        match committed {
            Err(StoreError::Conflict { .. }) => Ok(FileCommitResult::Diverged),
            committed => committed,
        }
    }
}

/// Returns the operations after `known` in the scopes that the principal may read.
async fn pull_operations(
    client: &Client,
    known: &LogHeads,
    principal: Option<&TokenPrincipal>,
) -> Result<Vec<LoggedOperation>, DatabaseError> {
    // The head of a scope that the principal may no longer read is not lost, but hidden.
    let is_readable = |scope: &str| {
        principal.is_none_or(|principal| principal.scopes.iter().any(|own| own == scope))
    };
    let (scopes, heads): (Vec<&str>, Vec<LogHead>) =
        known.iter().filter(|(scope, _)| is_readable(scope)).unzip();
    let (positions, tokens): (Vec<i64>, Vec<i64>) =
        heads.iter().map(|head| (head.position, head.token)).unzip();
    let known: [SqlParameter; 3] = [
        (&scopes, Type::TEXT_ARRAY),
        (&positions, Type::INT8_ARRAY),
        (&tokens, Type::INT8_ARRAY),
    ];
    let next: [SqlParameter; 3] = [
        (&scopes, Type::TEXT_ARRAY),
        (&positions, Type::INT8_ARRAY),
        (&OPERATIONS_PER_PAGE, Type::INT8),
    ];
    let (lost, rows) = tokio::join!(biased; client.query_typed_one(FIND_LOST, &known), client.query_typed(LIST_OPERATIONS, &next));
    if let Some(lost) = lost?.try_get(0)? {
        return Err(older_error(lost));
    }
    let mut logged = parse_operations(&rows?, principal.map(|principal| principal.name.as_str()))?;
    if !logged.is_empty() {
        fetch_changes(client, &mut logged).await?;
    }
    Ok(logged)
}

/// Parses rows of [`LIST_OPERATIONS`] for a node of a principal, without the changes.
fn parse_operations(
    rows: &[Row],
    reader: Option<&str>,
) -> Result<Vec<LoggedOperation>, DatabaseError> {
    let mut logged: Vec<LoggedOperation> = Vec::with_capacity(rows.len());
    for row in rows {
        let (id, token, scope): (String, i64, String) =
            (row.try_get(0)?, row.try_get(1)?, row.try_get(3)?);
        let (verb, undoes): (String, Option<String>) = (row.try_get(4)?, row.try_get(8)?);
        let (at, nanos): (DateTime<Utc>, i16) = (row.try_get(6)?, row.try_get(7)?);
        if let Some(last) = logged
            .last_mut()
            .filter(|last| last.record.operation.id.as_str() == id && last.token == token)
        {
            last.scopes.push(scope);
            // An operation that reverts another one may do so in some of its scopes only.
            if last.record.undoes.is_none() {
                last.record.undoes = undoes.as_deref().map(parse).transpose()?;
            }
            continue;
        }
        let operation = Operation {
            id: parse(&id)?,
            verb: parse(&verb)?,
            by: actor_for(reader, row.try_get(9)?, row.try_get(5)?),
            at: add_time(at, TimeDelta::nanoseconds(i64::from(nanos))),
        };
        let undoes = undoes.as_deref().map(parse).transpose()?;
        let author: Option<&str> = row.try_get(9)?;
        let record = Recorded {
            operation,
            subject: JournalPayload {
                changes: Vec::new(),
                by_other: author != reader,
            },
            undoes,
            undone_by: None,
        };
        logged.push(LoggedOperation {
            record,
            token,
            position: row.try_get(2)?,
            scopes: vec![scope],
            contents: Vec::new(),
        });
    }
    Ok(logged)
}

/// Returns the actor of an operation of `principal` for a node of `reader`: `ada`, or `ada/claude-code` for an agent.
fn actor_for(reader: Option<&str>, principal: Option<&str>, actor: &str) -> String {
    match principal.filter(|_| principal != reader) {
        None => actor.to_owned(),
        Some(principal) if actor == "cli" => principal.to_owned(),
        Some(principal) => format!("{principal}/{actor}"),
    }
}

/// Fetches the changes of operations.
async fn fetch_changes(
    client: &Client,
    logged: &mut [LoggedOperation],
) -> Result<(), DatabaseError> {
    let (mut scopes, mut positions, mut operations, mut tokens) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut numbers = BTreeMap::new();
    for (number, one) in logged.iter().enumerate() {
        let id = one.record.operation.id.as_str().to_owned();
        for scope in &one.scopes {
            scopes.push(scope.clone());
            positions.push(one.position);
            operations.push(id.clone());
            tokens.push(one.token);
        }
        numbers.insert((id, one.token), number);
    }
    let wanted: [SqlParameter; 4] = [
        (&scopes, Type::TEXT_ARRAY),
        (&positions, Type::INT8_ARRAY),
        (&operations, Type::TEXT_ARRAY),
        (&tokens, Type::INT8_ARRAY),
    ];
    let mut last = None;
    for row in client.query_typed(LIST_CHANGES, &wanted).await? {
        let operation = (row.try_get(0)?, row.try_get(1)?);
        let Some(one) = numbers
            .get(&operation)
            .and_then(|number| logged.get_mut(*number))
        else {
            continue;
        };
        // One invalid change must not prevent all others; the log and `memory doctor` show it.
        let (before, after, invalid) = match parse_files(&row)? {
            Ok((before, after)) => (before, after, None),
            Err(what) => (None, None, Some(format!("{INVALID_CHANGE}{what}"))),
        };
        let content: Option<Vec<u8>> = match invalid {
            Some(_) => None,
            None => row.try_get(11)?,
        };
        let this = (operation, row.try_get::<_, i32>(2)?);
        if last.as_ref() == Some(&this)
            && let Some(change) = one.record.subject.changes.last_mut()
            && let Some(former) = one.contents.last_mut()
        {
            // The other half of a change from one scope into another.
            change.before = change.before.take().or(before);
            change.after = change.after.take().or(after);
            *former = former.take().or(content);
            continue;
        }
        last = Some(this);
        one.contents.push(content);
        let why = invalid.map_or_else(|| row.try_get(10), |invalid| Ok(Some(invalid)))?;
        one.record.subject.changes.push(RecordedChange {
            id: parse(row.try_get(4)?)?,
            before,
            after,
            why,
        });
    }
    Ok(())
}

/// The previous and the new file of a change, or the reason why they are invalid.
type ParsedFiles = Result<(Option<RecordedFile>, Option<RecordedFile>), String>;

/// Parses the previous and the new file of a row of [`LIST_CHANGES`].
///
/// A path that is no path of a memory in this scope is invalid, because any program may write into the database.
fn parse_files(row: &Row) -> Result<ParsedFiles, DatabaseError> {
    let scope: &str = row.try_get(3)?;
    let file = |path: usize,
                hash: usize,
                trash: Option<String>|
     -> Result<Result<Option<RecordedFile>, String>, DatabaseError> {
        let Some(path) = row.try_get::<_, Option<String>>(path)? else {
            return Ok(Ok(None));
        };
        let Ok(hash) = <[u8; 32]>::try_from(row.try_get::<_, &[u8]>(hash)?) else {
            return Ok(Err(format!(
                "{path} in {scope} has a hash of another length"
            )));
        };
        let is_plain = trash
            .as_ref()
            .is_none_or(|trash| is_plain_path(trash, "trash/"));
        if !is_plain || !is_path_of_key(&path, scope) {
            return Ok(Err(format!("{path} is no file of {scope}")));
        }
        Ok(Ok(Some(RecordedFile {
            path,
            hash: ContentHash::from(hash),
            trash,
        })))
    };
    let (former, next) = (file(5, 6, row.try_get(7)?)?, file(8, 9, None)?);
    Ok(former.and_then(|former| Ok((former, next?))))
}

fn parse<T: std::str::FromStr<Err = ParseError>>(text: &str) -> Result<T, DatabaseError> {
    text.parse()
        .map_err(|error: ParseError| damaged(&error.to_string()))
}

fn damaged(what: &str) -> DatabaseError {
    DatabaseError::Other(damaged_error(what.to_owned()).into())
}

/// Returns the error of a call that uses no instance.
pub(super) fn to_store_error(error: InstanceError) -> StoreError {
    match error {
        InstanceError::Store(error) => *error,
        error => damaged_error(error.to_string()),
    }
}

fn damaged_error(what: String) -> StoreError {
    let hint = "restore the tables memory_document* from a backup";
    StoreError::Database {
        what: "the memories in the database are damaged".into(),
        code: Code::FileDamaged,
        hint,
        source: Some(what.into()),
    }
}

fn older_error(scope: &str) -> DatabaseError {
    let hint = "it may have been restored from a backup; `memory shared init --store ADDRESS --replace-replica` fetches the memories of the database, and \
                writes those to it again that it lacks";
    let what = format!("the database lacks operations on {scope} that the replica has");
    DatabaseError::Other(database_error(what, Code::FileDamaged, hint, None))
}
