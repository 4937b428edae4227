//! Opens replicas of shared folders.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::Database;
use super::document_log::PostgresDocumentLog;
use crate::disk::LazyDisk;
use crate::log_connection::LogConnection;
use crate::shared_log::SharedFolderId;
use crate::store_folder::{FolderReplica, ReplicaLayout, StoreFolder};

impl crate::bank::BankFolder {
    /// Opens a folder of banks in a Postgres database, with a replica of it in the folder `root`.
    ///
    /// A change is a transaction of the database, and is durable once it returns. Reads use the replica, which first fetches the changes of
    /// other nodes, at most once in each `interval`. The database is not used before the first call.
    pub fn open_replica(
        root: impl Into<PathBuf>,
        options: crate::bank::BankOptions,
        database: Arc<Database>,
        folder: SharedFolderId,
        interval: Duration,
    ) -> Self {
        Self {
            place: open(
                root.into(),
                database,
                folder,
                ReplicaLayout {
                    is_shared: crate::bank::is_shared,
                    prefix: "",
                },
                interval,
            ),
            options,
            is_refused: false,
        }
    }
}

impl crate::topic::TopicFolder {
    /// Opens a folder of topics in a Postgres database, with a replica of it in the folder `root`.
    ///
    /// It works as [`BankFolder::open_replica`](crate::bank::BankFolder::open_replica).
    pub fn open_replica(
        root: impl Into<PathBuf>,
        database: Arc<Database>,
        folder: SharedFolderId,
        interval: Duration,
    ) -> Self {
        Self::in_folder(open(
            root.into(),
            database,
            folder,
            ReplicaLayout {
                is_shared: crate::topic::is_shared,
                prefix: "",
            },
            interval,
        ))
    }
}

impl crate::conversation::ConversationFolder {
    /// Opens the conversations in a Postgres database, with a replica of them in the folder `root`, such as a home.
    ///
    /// It works as [`BankFolder::open_replica`](crate::bank::BankFolder::open_replica). Jobs and vectors belong to the machine, and
    /// [`user_turns_since`](memory_core::conversation::ConversationStore::user_turns_since) returns only the turns that it has stored.
    pub fn open_replica(
        root: impl Into<PathBuf>,
        database: Arc<Database>,
        folder: SharedFolderId,
        interval: Duration,
    ) -> Self {
        Self::in_folder(open(
            root.into(),
            database,
            folder,
            crate::conversation::REPLICA,
            interval,
        ))
    }
}

fn open(
    root: PathBuf,
    database: Arc<Database>,
    folder: SharedFolderId,
    layout: ReplicaLayout,
    interval: Duration,
) -> StoreFolder {
    let connection = LogConnection::new(Arc::new(PostgresDocumentLog::new(database)), interval);
    StoreFolder::shared(
        LazyDisk::new(root),
        FolderReplica::new(connection, folder, layout),
    )
}
