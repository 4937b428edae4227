//! A log in main memory, and replicas of it, for tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use memory_core::testing::FakeClock;
use memory_core::{
    Code, ContentHash, DatabaseFigures, Draft, MemoryId, MemoryStore, MemoryStoreExt, Patch,
    SecretPolicy, Services, StoreError, proposals, update, write,
};

use tempfile::TempDir;

use crate::disk::{DirEntry, Disk, FileEdit, FileStat, RealDisk};
use crate::file_store::{FileStore, FileStoreOptions};
use crate::log_connection::{LogConnection, NewsSignal};
use crate::shared_log::{
    FileCommitResult, LogAppendResult, LogHead, LogHeads, LogIdentity, LogPage, LoggedOperation,
    NewOperation, SharedFile, SharedFilePage, SharedFolderId, SharedLog,
};

/// Maximum number of operations that are fetched at once.
pub(super) const PAGE: usize = 2;

/// A log in main memory.
#[derive(Debug, Default)]
pub(super) struct MemoryLog {
    pub(super) operations: Vec<LoggedOperation>,
    pub(super) heads: LogHeads,
    /// The path and hash of each current document.
    pub(super) documents: BTreeMap<MemoryId, (String, ContentHash)>,
    /// The ids of documents that no node sees.
    pub(super) hidden: BTreeSet<MemoryId>,
    /// The scopes that nodes may read; `None` for all scopes.
    pub(super) readable: Option<Vec<String>>,
}

/// The connection of a node with a [`MemoryLog`].
#[derive(Debug, Default)]
pub(super) struct MemoryLogConnection {
    pub(super) log: Arc<Mutex<MemoryLog>>,
    pub(super) is_lost: AtomicBool,
    /// Whether the next append happens and its response is lost.
    pub(super) loses_response: AtomicBool,
    pub(super) news: std::sync::OnceLock<Arc<NewsSignal>>,
    /// Number of appends until the connection is lost; negative if it is not.
    pub(super) appends_left: AtomicI64,
}

impl MemoryLogConnection {
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if !self.is_lost.load(Ordering::SeqCst) {
            return Ok(());
        }
        let what = "the database cannot be reached".to_owned();
        Err(StoreError::Database {
            what,
            code: Code::DatabaseUnreachable,
            hint: "",
            source: None,
        })
    }
}

impl SharedLog for MemoryLogConnection {
    fn identity(&self) -> Result<LogIdentity, StoreError> {
        self.check().map(|()| LogIdentity {
            id: "a log".into(),
            principal: None,
        })
    }

    fn figures(&self) -> DatabaseFigures {
        DatabaseFigures::default()
    }

    fn pull(&self, known: &LogHeads) -> Result<LogPage, StoreError> {
        self.check()?;
        let log = self.log.lock().unwrap();
        let is_new = |one: &&LoggedOperation| {
            one.scopes
                .iter()
                .any(|scope| known.get(scope).position < one.position)
        };
        let mut news: Vec<_> = log.operations.iter().filter(is_new).cloned().collect();
        news.sort_by_key(|one| one.position);
        news.truncate(PAGE);
        Ok(LogPage {
            operations: news,
            readable: log.readable.clone(),
            read_only: Vec::new(),
        })
    }

    fn append(
        &self,
        known: &mut LogHeads,
        operation: &NewOperation,
    ) -> Result<LogAppendResult, StoreError> {
        if self.appends_left.fetch_sub(1, Ordering::SeqCst) == 0 {
            self.is_lost.store(true, Ordering::SeqCst);
        }
        self.check()?;
        let mut log = self.log.lock().unwrap();
        let scopes = operation.scopes();
        if scopes
            .iter()
            .any(|scope| log.heads.get(scope) != known.get(scope))
        {
            return Ok(LogAppendResult::Behind);
        }
        let mut documents = log.documents.clone();
        let mut contents = Vec::new();
        for (change, file) in operation.changes() {
            if let Some(former) = &change.before
                && documents.remove(&change.id) != Some((former.path.clone(), former.hash))
            {
                return Ok(LogAppendResult::Refused(former.path.clone()));
            }
            contents.push(file.content.clone());
        }
        for change in &operation.record.subject.changes {
            let Some(after) = &change.after else { continue };
            if log.hidden.contains(&change.id)
                || documents.contains_key(&change.id)
                || documents.values().any(|(path, _)| *path == after.path)
            {
                return Ok(LogAppendResult::Refused(after.path.clone()));
            }
            documents.insert(change.id, (after.path.clone(), after.hash));
        }
        assert!(
            log.operations
                .iter()
                .all(|one| one.token != operation.token),
            "an operation is appended twice"
        );
        let position = known
            .iter()
            .map(|(_, head)| head.position)
            .max()
            .unwrap_or(0)
            + 1;
        let (record, token) = (operation.record.clone(), operation.token);
        log.heads
            .advance(scopes.clone(), LogHead { position, token });
        log.operations.push(LoggedOperation {
            record,
            token,
            position,
            scopes: scopes.into_iter().collect(),
            contents,
        });
        log.documents = documents;
        if self.loses_response.swap(false, Ordering::SeqCst) {
            self.is_lost.store(true, Ordering::SeqCst);
        }
        self.check()?;
        known.advance(operation.scopes(), LogHead { position, token });
        Ok(LogAppendResult::Appended)
    }

    fn purge(&self, _: DateTime<Utc>) -> Result<(), StoreError> {
        self.check()
    }

    fn listen(&self, news: Arc<NewsSignal>) {
        news.set_listening(true);
        self.news.set(news).unwrap();
    }

    fn changed_files(
        &self,
        _: &SharedFolderId,
        _: i64,
        _: Option<&SharedFile>,
    ) -> Result<SharedFilePage, StoreError> {
        unreachable!("the nodes share no folder")
    }

    fn commit_files(
        &self,
        _: &SharedFolderId,
        _: i64,
        _: i64,
        _: &[FileEdit],
    ) -> Result<FileCommitResult, StoreError> {
        unreachable!("the nodes share no folder")
    }
}

/// A disk on which nothing works after some changes.
#[derive(Debug)]
pub(super) struct DyingDisk {
    disk: RealDisk,
    left: AtomicI64,
}

impl DyingDisk {
    pub(super) fn change<T>(
        &self,
        act: impl FnOnce(&RealDisk) -> std::io::Result<T>,
    ) -> std::io::Result<T> {
        self.left.fetch_sub(1, Ordering::SeqCst);
        self.read_only(act)
    }

    pub(super) fn read_only<T>(
        &self,
        act: impl FnOnce(&RealDisk) -> std::io::Result<T>,
    ) -> std::io::Result<T> {
        if self.left.load(Ordering::SeqCst) < 0 {
            Err(std::io::Error::from_raw_os_error(5))
        } else {
            act(&self.disk)
        }
    }
}

impl Disk for DyingDisk {
    fn read(&self, path: &str) -> std::io::Result<Option<(Vec<u8>, FileStat)>> {
        self.read_only(|disk| disk.read(path))
    }
    fn read_part(&self, path: &str, start: u64, length: usize) -> std::io::Result<Vec<u8>> {
        self.read_only(|disk| disk.read_part(path, start, length))
    }
    fn open_lock(&self, path: &str) -> std::io::Result<fs::File> {
        self.disk.open_lock(path)
    }
    fn open(&self, path: &str) -> std::io::Result<Option<fs::File>> {
        self.read_only(|disk| disk.open(path))
    }
    fn stat(&self, path: &str) -> std::io::Result<Option<FileStat>> {
        self.read_only(|disk| disk.stat(path))
    }
    fn list_folder(&self, path: &str) -> std::io::Result<Vec<DirEntry>> {
        self.read_only(|disk| disk.list_folder(path))
    }
    fn write(&self, path: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.change(|disk| disk.write(path, bytes))
    }
    fn append(&self, path: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.change(|disk| disk.append(path, bytes))
    }
    fn append_unsynced(&self, path: &str, bytes: &[u8]) -> std::io::Result<()> {
        self.change(|disk| disk.append_unsynced(path, bytes))
    }
    fn truncate(&self, path: &str, length: u64) -> std::io::Result<()> {
        self.change(|disk| disk.truncate(path, length))
    }
    fn rename(&self, from: &str, to: &str) -> std::io::Result<()> {
        self.change(|disk| disk.rename(from, to))
    }
    fn hard_link(&self, from: &str, to: &str) -> std::io::Result<()> {
        self.change(|disk| disk.hard_link(from, to))
    }
    fn copy_permissions(&self, path: &str, of: &str) -> std::io::Result<()> {
        self.change(|disk| disk.copy_permissions(path, of))
    }
    fn check_writable(&self, path: &str) -> std::io::Result<()> {
        self.read_only(|disk| disk.check_writable(path))
    }
    fn remove(&self, path: &str) -> std::io::Result<()> {
        self.change(|disk| disk.remove(path))
    }
    fn remove_folder(&self, path: &str) -> std::io::Result<()> {
        self.change(|disk| disk.remove_folder(path))
    }
    fn sync_file(&self, path: &str) -> std::io::Result<()> {
        self.change(|disk| disk.sync_file(path))
    }
    fn sync_folder(&self, path: &str) -> std::io::Result<()> {
        self.change(|disk| disk.sync_folder(path))
    }
    fn sync_everything(&self) -> std::io::Result<bool> {
        self.change(RealDisk::sync_everything)
    }
}

/// A replica in a folder of its own.
pub(super) struct MemoryNode {
    pub(super) home: TempDir,
    pub(super) connection: Arc<MemoryLogConnection>,
    pub(super) clock: Arc<FakeClock>,
    pub(super) store: Arc<FileStore>,
    pub(super) services: Services,
}

impl MemoryNode {
    pub(super) fn new(log: &Arc<Mutex<MemoryLog>>) -> Self {
        let connection = MemoryLogConnection {
            log: Arc::clone(log),
            appends_left: (-1).into(),
            ..MemoryLogConnection::default()
        };
        let (home, connection, clock) = (
            tempfile::tempdir().unwrap(),
            Arc::new(connection),
            Arc::new(FakeClock::default()),
        );
        let store = open(home.path(), &connection, FileStoreOptions::default());
        let services = services(&store, &clock);
        Self {
            home,
            connection,
            clock,
            store,
            services,
        }
    }

    /// Opens the folder again, as a new process does.
    pub(super) fn restart(&mut self) {
        self.store = open(
            self.home.path(),
            &self.connection,
            FileStoreOptions::default(),
        );
        self.services = services(&self.store, &self.clock);
    }

    /// Opens the folder again on a disk on which nothing works after some changes.
    pub(super) fn restart_on_dying_disk(&mut self, changes: i64) {
        let disk = DyingDisk {
            disk: RealDisk::open(self.home.path()).unwrap(),
            left: changes.into(),
        };
        let store = FileStore::on_disk(
            Arc::new(disk),
            self.home.path(),
            FileStoreOptions::default(),
        );
        let connection = LogConnection::new(Arc::clone(&self.connection) as _, Duration::ZERO);
        self.store = Arc::new(store.with_log(connection));
        self.services = services(&self.store, &self.clock);
    }

    pub(super) fn disconnect(&self) {
        self.connection.is_lost.store(true, Ordering::SeqCst);
    }

    pub(super) fn connect(&self) {
        self.connection.is_lost.store(false, Ordering::SeqCst);
    }

    /// Connects the node, and transfers all operations.
    pub(super) fn synchronize(&self) {
        self.connection
            .loses_response
            .store(false, Ordering::SeqCst);
        self.connect();
        self.store.refresh().unwrap();
        assert_eq!(self.queued(), 0);
    }

    pub(super) fn queued(&self) -> u64 {
        self.store.shared_store_status().unwrap().unwrap().queued
    }

    pub(super) fn write(&self, text: &str) -> String {
        write(&self.services, Draft::new(text), SecretPolicy::Refuse)
            .unwrap()
            .id
            .to_string()
    }

    pub(super) fn update(&self, id: &str, text: &str) {
        let patch = Patch {
            content: Some(text.to_owned()),
            ..Patch::default()
        };
        update(&self.services, id, &patch, None, SecretPolicy::Refuse).unwrap();
    }

    pub(super) fn content(&self, id: &str) -> Result<String, Code> {
        self.services
            .store
            .get_by(id)
            .map(|stored| stored.memory.content)
            .map_err(|error| error.code())
    }

    /// Returns the action and the text of each proposal.
    pub(super) fn proposals(&self) -> Vec<(&'static str, String)> {
        let waiting = proposals(&self.services).unwrap();
        waiting
            .into_iter()
            .map(|one| (one.proposal.action.as_str(), one.stored.memory.content))
            .collect()
    }

    /// Returns the current memories, the previous versions, and the operations without their order.
    pub(super) fn state(&self) -> (BTreeMap<String, String>, BTreeSet<String>) {
        self.store.refresh().unwrap();
        let mut files = BTreeMap::new();
        for folder in ["categories", "trash"] {
            read_files(self.home.path(), &self.home.path().join(folder), &mut files);
        }
        let operations = self.store.journaled_operations(None).map(|record| {
            let record = record.unwrap();
            format!(
                "{} {:?} {:?}",
                record.operation.id, record.undoes, record.subject
            )
        });
        (files, operations.collect())
    }
}

pub(super) fn open(
    folder: &Path,
    connection: &Arc<MemoryLogConnection>,
    options: FileStoreOptions,
) -> Arc<FileStore> {
    let connection = LogConnection::new(Arc::clone(connection) as _, Duration::ZERO);
    let store = FileStore::open(folder, options).unwrap();
    Arc::new(store.with_log(connection))
}

pub(super) fn services(store: &Arc<FileStore>, clock: &Arc<FakeClock>) -> Services {
    let services = memory_core::testing::services(Arc::clone(store));
    Services {
        clock: Arc::clone(clock) as _,
        ids: Arc::new(crate::RandomIds),
        ..services
    }
}

pub(super) fn read_files(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_files(root, &path, files);
        } else {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            files.insert(path.strip_prefix(root).unwrap().display().to_string(), text);
        }
    }
}

/// Returns two connected nodes.
pub(super) fn two_nodes() -> (MemoryNode, MemoryNode) {
    let log = Arc::default();
    (MemoryNode::new(&log), MemoryNode::new(&log))
}

/// Asserts that all nodes have the same memories, previous versions and operations.
pub(super) fn assert_equal_nodes(nodes: &[&MemoryNode]) {
    // The first node learns of the operations that the others send now.
    nodes
        .iter()
        .chain(nodes)
        .for_each(|node| node.synchronize());
    let new = MemoryNode::new(&nodes[0].connection.log);
    let expected = new.state();
    for node in nodes {
        assert_eq!(node.state(), expected);
        assert!(
            !node.home.path().join("unsynced").exists(),
            "the program edited no file outside of operations"
        );
    }
}
