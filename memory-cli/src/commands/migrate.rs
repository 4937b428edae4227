//! The `memory shared migrate` command.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use memory_core::bank::BankStore;
use memory_core::instance::InstanceName;
use memory_core::{ContentHash, History, MemoryStore};
use memory_store::sealed::Zeroizing;
use memory_store::{FileStoreOptions, TOPIC_FOLDERS};
use serde_json::json;

use super::config::store_setting;
use super::instance::read_argument;
use crate::app::App;
use crate::banks::open_shared;
use crate::config::Settings;
use crate::conversations::open_shared as open_conversations;
use crate::failure::Failure;
use crate::shared_store::{
    PRINCIPALS, StoreAccess, check_name, find_database, open_database, open_replica, open_store,
    seal_access,
};
use crate::topics;
use memory_store::system::{private_folder_builder, sync_file, sync_folder};

/// Copy a home into a database, or a shared home into files
///
/// With --store, it copies the memories of the home FROM with their history and trash, its banks, topics and conversations, into a new
/// database, and makes the new folder TO a home that shares them. Without --store, FROM shares a database, and TO becomes a home with its
/// own files. FROM does not change. All other files, such as settings and instances, are copied from FROM to TO. The command compares all
/// files at the end. After an interruption, run it again. No other program may write to FROM or to the database meanwhile.
///
/// JSON: {operations, files, not_copied}; not_copied lists files that no operation refers to
#[derive(Debug, Args)]
pub(super) struct MigrateArgs {
    /// The home to copy
    from: PathBuf,
    /// The folder of the new home, which must be empty
    to: PathBuf,
    /// Address of an empty database, such as postgres://USER@HOST/DATABASE; @FILE reads a file, - the standard input
    #[arg(long, value_name = "ADDRESS")]
    store: Option<String>,
    /// Name for the address, if this user shares memories in several databases
    #[arg(long, default_value = "memories", requires = "store")]
    name: String,
}

/// The file in an incomplete copy that names the original.
const MARK: &str = ".migrated-from";

/// Files of a home that are not copied: those of its processes and paired devices, derived ones, and the state of a replica.
const EXCLUDED: [&str; 9] = [
    ".daemon.lock",
    "devices",
    "memory.sock",
    "daemon.log",
    "index",
    "replica.json",
    PRINCIPALS,
    "unsynced",
    MARK,
];

/// The folders of a home whose content is in the database.
const SHARED: [&str; 7] = [
    "categories",
    "journal",
    "trash",
    "banks",
    TOPIC_FOLDERS,
    "entries",
    ".conversations/journal",
];

impl MigrateArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let (from, to) = (
            app.environment.absolute_path(&self.from),
            app.environment.absolute_path(&self.to),
        );
        if app.environment.config.is_some() {
            return Err(Failure::usage(
                "MEMORY_CONFIG is set, so both homes would have the same settings",
                "unset it",
            ));
        }
        let settings = Settings::load(Some(&from), app.environment)?;
        if !SHARED.iter().any(|folder| from.join(folder).is_dir()) {
            return Err(Failure::usage(
                format!("{} is not a home", app.output.display_path(&from)),
                "name an existing home",
            ));
        }
        let former = app.root.replace(to.clone());
        let done = match (&self.store, &settings.store.value) {
            (Some(store), None) => self.copy_to_database(store, &from, &to, app),
            (None, Some(_)) => copy_to_files(&settings, &from, &to, app),
            (Some(_), Some(name)) => Err(Failure::usage(
                format!("the home already shares its memories in the database {name}"),
                "without --store, it is copied to files",
            )),
            (None, None) => Err(Failure::usage(
                "neither home is in a database",
                "specify the database with --store",
            )),
        };
        app.root = former;
        done
    }

    fn copy_to_database(
        &self,
        store: &str,
        from: &Path,
        to: &Path,
        app: &mut App,
    ) -> Result<(), Failure> {
        let name: InstanceName = self.name.parse()?;
        let bytes = read_argument(app, store)?;
        let address = str::from_utf8(&bytes)
            .map_err(|_| Failure::usage("the address is not UTF-8", "see `memory help migrate`"))?;
        let access = StoreAccess {
            address: Zeroizing::new(address.trim().to_owned()),
            token: None,
        };
        begin_copy(from, to, app)?;
        copy_files(from, to, &SHARED)?;
        let settings = Settings::load(Some(to), app.environment)?;
        check_name(&settings, &name, &access)?;
        let replica = open_replica(&settings, &access, FileStoreOptions::default())?;
        let database = open_database(&access)?;
        let banks = open_shared(&settings, Arc::clone(&database));
        let operations = {
            let mut bar = app.output.progress_bar("copying operations");
            replica.copy_operations(from, &mut |progress| bar.show(progress))?
        };
        banks.copy_files(&from.join("banks"))?;
        open_conversations(to, open_database(&access)?).copy_files(from)?;
        topics::copy_all(&settings, from, &database)?;
        // This also fetches the conversations.
        replica.refresh()?;
        banks.banks()?;
        seal_access(&settings, &name, &access)?;
        store_setting("storage.store", name.as_str(), app)?;
        finish_copy(operations, from, to, &["journal"], app)
    }
}

/// Copies a shared home to a home with files of its own.
fn copy_to_files(
    settings: &Settings,
    from: &Path,
    to: &Path,
    app: &mut App,
) -> Result<(), Failure> {
    begin_copy(from, to, app)?;
    // The replica is complete after it was refreshed.
    let store = open_store(settings, FileStoreOptions::default())?;
    store.refresh()?;
    let status = store.shared_store_status()?;
    if let Some(trouble) = status.and_then(|status| status.trouble) {
        // The database may be lost, and this machine the only one with its memories.
        app.output.warning(&format!(
            "{trouble}; the copy has the memories, banks, topics and conversations that this machine has"
        ))?;
    } else if let Some(database) = find_database(settings)? {
        topics::fetch_all(settings, &database, store.principal()?.as_ref())?;
        open_shared(settings, database).banks()?;
    }
    copy_files(from, to, &[])?;
    store_setting("storage.store", "", app)?;
    let operations = store.records().count();
    finish_copy(operations, from, to, &[], app)
}

/// Checks that the new home is empty, or contains a part of the same copy.
fn begin_copy(from: &Path, to: &Path, app: &App) -> Result<(), Failure> {
    let told = || Failure::file(format!("create {}", to.display()));
    let mark = to.join(MARK);
    let origin = from.to_string_lossy();
    if fs::read_to_string(&mark).is_ok_and(|found| found == origin) {
        return Ok(());
    }
    let is_used = to.exists() && fs::read_dir(to).map_err(told())?.next().is_some();
    if is_used || to.starts_with(from) {
        let place = app.output.display_path(to);
        return Err(Failure::usage(
            format!("{place} is not an empty folder outside the other home"),
            "name a new folder",
        ));
    }
    create_folder(to).map_err(told())?;
    fs::write(&mark, origin.as_bytes()).map_err(told())
}

/// Compares the homes, reports the result, and marks the copy as complete.
fn finish_copy(
    operations: usize,
    from: &Path,
    to: &Path,
    other: &[&str],
    app: &mut App,
) -> Result<(), Failure> {
    let told = || Failure::file("compare the homes");
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    for folder in SHARED.iter().filter(|folder| !other.contains(folder)) {
        hash_files(from, folder, &mut before).map_err(told())?;
        hash_files(to, folder, &mut after).map_err(told())?;
    }
    let not_copied: Vec<_> = before
        .iter()
        .filter(|(path, hash)| after.get(*path) != Some(hash))
        .map(|(path, _)| path)
        .collect();
    fs::remove_file(to.join(MARK)).map_err(told())?;
    if app.output.is_json() {
        let report =
            json!({ "operations": operations, "files": after.len(), "not_copied": not_copied });
        return app.output.json(&report);
    }
    for path in &not_copied {
        app.output
            .warning(&format!("{path} was not copied: no operation refers to it"))?;
    }
    let same = before.len() - not_copied.len();
    app.output.note(&format!(
        "copied {operations} operations; {same} of {} files are equal",
        before.len()
    ))
}

/// Copies the files of a home, except some folders.
fn copy_files(from: &Path, to: &Path, excluded: &[&str]) -> Result<(), Failure> {
    let is_excluded =
        |path: &str| is_own_file(path) || EXCLUDED.contains(&path) || excluded.contains(&path);
    copy_folder(from, to, "", &is_excluded)
        .map_err(Failure::file(format!("copy {}", from.display())))
}

/// Copies the files of a folder, whose path in the home is `place` with a slash at its end.
fn copy_folder(
    from: &Path,
    to: &Path,
    place: &str,
    is_excluded: &dyn Fn(&str) -> bool,
) -> std::io::Result<()> {
    create_folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let path = format!("{place}{}", name.to_string_lossy());
        if is_excluded(&path) {
            continue;
        }
        let target = to.join(&name);
        if kind.is_dir() {
            copy_folder(&entry.path(), &target, &format!("{path}/"), is_excluded)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
            sync_file(&target)?;
        }
    }
    sync_folder(to)
}

/// Returns whether a path in a home is that of a lock, or of a file of a replica itself.
fn is_own_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with(".lock") || name.starts_with(".replica") || name == ".unsynced"
}

/// Creates a folder that only its owner can read.
fn create_folder(folder: &Path) -> std::io::Result<()> {
    private_folder_builder().recursive(true).create(folder)
}

/// Returns the path of a memory without the scope that its name has in a shared home, such as `@team-web`.
fn without_key(path: &str) -> String {
    let is_memory = path.starts_with("categories/");
    let split = path
        .strip_suffix(".md")
        .and_then(|stem| stem.rsplit_once('@'))
        .filter(|_| is_memory);
    split.map_or_else(|| path.to_owned(), |(stem, _)| format!("{stem}.md"))
}

/// Adds the hashes of the files below a folder of a home, without hidden states and derived files.
fn hash_files(
    home: &Path,
    folder: &str,
    found: &mut BTreeMap<String, ContentHash>,
) -> std::io::Result<()> {
    let place = home.join(folder);
    if !place.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(place)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        if is_own_file(&path)
            || name.starts_with(".new-")
            || name == "_index.json"
            || name == ".uses.json"
        {
            continue;
        }
        if entry.file_type()?.is_dir() {
            hash_files(home, &path, found)?;
        } else {
            found.insert(
                without_key(&path),
                ContentHash::from_bytes(&fs::read(entry.path())?),
            );
        }
    }
    Ok(())
}
