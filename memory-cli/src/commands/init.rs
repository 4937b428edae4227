//! The `memory shared init` command.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use clap::Args;
use memory_agent::json::add_field;
use memory_core::bank::BankStore;
use memory_core::instance::InstanceName;
use memory_core::secret::Checked;
use memory_core::{
    Change, ChangeSet, ContentHash, Filter, HomeSection, MemoryId, MemoryStore, Operation,
    PRINCIPAL_TOKEN_PREFIX, PageRequest, Scope, StoreError, Verb,
};
use memory_store::markdown::decode;
use memory_store::sealed::Zeroizing;
use memory_store::{FileStore, FileStoreOptions, Freshness, RandomIds, SystemClock};
use serde_json::json;

use super::config::store_setting;
use super::instance::read_argument;
use crate::app::App;
use crate::banks::open_shared;
use crate::failure::Failure;
use crate::print::counted;
use crate::shared_store::{
    StoreAccess, check_name, open_database, open_replica, read_token, seal_access,
};

/// Share the memories of this home with other machines, in a Postgres database
///
/// The home must have no memories, or share them in this database already; then its address changes. It becomes a replica of the database: every command uses it as before, and writes to the
/// database. The command creates the missing tables, encrypts the address under the key of the instances, and sets
/// storage.store. Other users can see arguments, so pass an address with a password as @FILE or -.
///
/// With --token, the home is that of a principal (`memory shared principal add`): it contains only memories that the principal may read, and new
/// memories have the scope private:NAME. A later `init` without --token retains the token.
///
/// JSON: {store, memories, principal?}; memories is the number of memories in the database that this home may read
#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Address of the database, such as postgres://USER@HOST/DATABASE; @FILE reads a file, - the standard input
    #[arg(long, value_name = "ADDRESS", required_unless_present = "invitation")]
    store: Option<String>,
    /// Token of the principal who uses this home; @FILE reads a file
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,
    /// Address and token that `memory shared principal invite` printed; @FILE reads a file, - the standard input
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["store", "token"])]
    invitation: Option<String>,
    /// Fetch all memories again, also if the database lacks some that this home has, as after the restore of a backup; those are written
    /// to it again, and what cannot be written moves to unsynced/ in the home
    #[arg(long)]
    replace_replica: bool,
    /// Name for the address, if this user shares memories in several databases [default: that of this home, else memories]
    #[arg(long)]
    name: Option<String>,
}

impl InitArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let name: InstanceName = match (&self.name, &settings.store.value) {
            (Some(name), _) => name.parse()?,
            (None, Some(own)) => own.clone(),
            (None, None) => "memories".parse()?,
        };
        let read = |argument: &Option<String>, what: &str, app: &mut App| {
            let text = argument.as_ref().map(|text| read_text(app, text, what));
            text.transpose()
        };
        let (address, token) = if let Some(text) = read(&self.invitation, "the invitation", app)? {
            let Invitation { address, token } = Invitation::from_text(&text)?;
            (address, Some(token))
        } else {
            let address = read(&self.store, "the address", app)?;
            (
                address.unwrap_or_default(),
                read(&self.token, "the token", app)?,
            )
        };
        if let Some(other) = settings
            .store
            .value
            .as_ref()
            .filter(|other| **other != name)
        {
            let why = format!("this home shares its memories in the database {other}");
            return Err(Failure::usage(why, "choose another home with --root"));
        }
        if settings.store.value.is_none() {
            check_name(
                &settings,
                &name,
                &StoreAccess {
                    address: address.clone(),
                    token: token.clone(),
                },
            )?;
        }
        let former = if settings.store.value.is_some() {
            read_token(&settings, &name)?
        } else {
            None
        };
        let access = StoreAccess {
            address,
            token: token.or(former),
        };
        // The settings change after the database and the folder were found to be usable, and before the first memory arrives. After an
        // interruption the next command fetches the rest.
        let options = FileStoreOptions {
            freshness: Freshness::Fresh,
            ..FileStoreOptions::default()
        };
        let store = open_replica(&settings, &access, options)?;
        store.check_joinable()?;
        let set_aside = set_aside_folders(store.root());
        let mut former = None;
        if self.replace_replica {
            former = Some(store.journaled_versions()?);
            store.replace_replica()?;
        }
        seal_access(&settings, &name, &access)?;
        store_setting("storage.store", name.as_str(), app)?;
        // This also fetches the conversations.
        store.refresh()?;
        let mut new = set_aside_folders(store.root());
        new.retain(|folder| !set_aside.contains(folder));
        let rewritten = former
            .map(|former| write_again(&store, &new, &former, app))
            .transpose()?;
        open_shared(&settings, open_database(&access)?).banks()?;
        let count = PageRequest {
            limit: Some(0),
            ..PageRequest::default()
        };
        let notes = Filter {
            place: Some(HomeSection::Notes),
            ..Filter::all()
        };
        let memories = store.list(&notes, &count, app.now())?.total;
        let principal = store.principal()?.map(|principal| principal.name);
        if app.output.is_json() {
            let mut fields = json!({ "store": name.as_str(), "memories": memories });
            add_field(&mut fields, "principal", principal);
            add_field(&mut fields, "rewritten", rewritten);
            return app.output.json(&fields);
        }
        app.output.fields(&[name.as_str()])?;
        if let Some(count) = rewritten.filter(|count| 0 < *count) {
            app.output.note(&format!(
                "{} that the database lacked {} written to it again; `memory log` lists the operations",
                counted(count as u64, "memory"),
                if count == 1 { "was" } else { "were" }
            ))?;
        }
        match principal {
            Some(principal) => app.output.note(&format!(
                "{principal} may read {memories} memories in the database"
            )),
            None => app
                .output
                .note(&format!("the database contains {memories} memories")),
        }
    }
}

/// Returns the folders in `unsynced/`, each with the files of one replacement of the replica.
fn set_aside_folders(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join("unsynced"));
    entries.map_or_else(
        |_| Vec::new(),
        |entries| entries.flatten().map(|entry| entry.path()).collect(),
    )
}

/// The hashes of the versions of each memory in a journal.
type VersionHashes = HashMap<MemoryId, HashSet<ContentHash>>;

/// Writes the memories that were set aside to the database, and returns their number. Their files are deleted.
///
/// The other files stay, and a warning names their folder. `former` are the versions in the journal of the former replica.
fn write_again(
    store: &FileStore,
    folders: &[PathBuf],
    former: &VersionHashes,
    app: &mut App,
) -> Result<usize, Failure> {
    let logged = store.journaled_versions()?;
    let mut sets: BTreeMap<Scope, Vec<(Change, PathBuf)>> = BTreeMap::new();
    let mut remaining = 0_u64;
    for folder in folders {
        for path in list_files(folder).map_err(Failure::file("read unsynced/"))? {
            let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy();
            match change_of(store, &path, &name, [former, &logged], app)? {
                Some((scope, change)) => sets.entry(scope).or_default().push((change, path)),
                None => remaining += 1,
            }
        }
    }
    let mut written = 0;
    for changes in sets.into_values() {
        if commit_again(store, &changes).is_ok() {
            written += changes.len();
            continue;
        }
        // One of them is refused; it does not keep the others from the database.
        for change in changes.chunks(1) {
            match commit_again(store, change) {
                Ok(()) => written += 1,
                Err(error) => {
                    remaining += 1;
                    app.output.warning(&error.to_string())?;
                }
            }
        }
    }
    if 0 < remaining {
        let place = app.output.display_path(&store.root().join("unsynced"));
        let files = counted(remaining, "file");
        app.output.warning(&format!(
            "{files} in {place} are not in the database; `memory doctor` lists them"
        ))?;
    }
    Ok(written)
}

/// Writes some changes in one operation, and deletes their files.
fn commit_again(store: &FileStore, changes: &[(Change, PathBuf)]) -> Result<(), StoreError> {
    let mut set = ChangeSet::new(Operation::new(
        Verb::Restore,
        "cli",
        &SystemClock,
        &RandomIds,
    ));
    set.changes
        .extend(changes.iter().map(|(change, _)| change.clone()));
    store.commit(Checked::allowed(&set))?;
    for (_, path) in changes {
        // The database has the memory.
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// Returns the change that writes the memory of a file that was set aside.
///
/// A memory is written if the database has never had it, or has only versions of it that this home had before its own.
fn change_of(
    store: &FileStore,
    path: &Path,
    name: &str,
    [former, logged]: [&VersionHashes; 2],
    app: &App,
) -> Result<Option<(Scope, Change)>, Failure> {
    if !name.starts_with("categories/") {
        return Ok(None);
    }
    let bytes = fs::read(path).map_err(Failure::file("read unsynced/"))?;
    let decoded = decode(name, &bytes, app.now());
    // A file with defects, or with fields of other programs, is not written as it is.
    if decoded.problem.is_some() || !decoded.other_fields.is_empty() {
        return Ok(None);
    }
    let memory = Box::new(decoded.memory);
    let (id, scope) = (memory.id, memory.scope.clone());
    // The owner does not know to whom a note of an agent belongs.
    let is_of_agent = matches!(scope, Scope::Agent(_) | Scope::Conversation(_));
    if is_of_agent && store.principal()?.is_none() {
        return Ok(None);
    }
    let (none, own) = (HashSet::new(), former.get(&id));
    let is_outdated = own
        .unwrap_or(&none)
        .is_superset(logged.get(&id).unwrap_or(&none));
    let change = match store.get(&id) {
        Ok(known) => is_outdated.then_some(Change::Replace {
            expected: known.stamp,
            memory,
        }),
        // Another machine may have deleted it since.
        Err(StoreError::NotFound { .. }) => (!logged.contains_key(&id)).then_some(Change::Create {
            memory,
            front_matter: String::new(),
        }),
        Err(error) => return Err(error.into()),
    };
    Ok(change.map(|change| (scope, change)))
}

/// Returns the files below a folder.
fn list_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(list_files(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

/// The address of a shared database and the token of a principal, as one word.
pub(super) struct Invitation {
    pub(super) address: Zeroizing<String>,
    pub(super) token: Zeroizing<String>,
}

impl Invitation {
    /// Returns the invitation as text without characters that a shell changes.
    pub(super) fn to_text(&self) -> String {
        let text = Zeroizing::new(format!("{} {}", *self.token, *self.address));
        BASE64_URL_SAFE_NO_PAD.encode(text.as_bytes())
    }

    fn from_text(text: &str) -> Result<Self, Failure> {
        let decoded = BASE64_URL_SAFE_NO_PAD
            .decode(text.trim())
            .map(Zeroizing::new);
        let text = decoded
            .as_ref()
            .ok()
            .and_then(|bytes| str::from_utf8(bytes).ok());
        match text.and_then(|text| text.split_once(' ')) {
            Some((token, address)) if token.starts_with(PRINCIPAL_TOKEN_PREFIX) => Ok(Self {
                address: Zeroizing::new(address.to_owned()),
                token: Zeroizing::new(token.to_owned()),
            }),
            _ => Err(Failure::usage(
                "the invitation is incomplete",
                "copy the whole line that `memory shared principal invite` printed",
            )),
        }
    }
}

/// Reads an argument that is a text, a file or the standard input.
pub(super) fn read_text(
    app: &mut App,
    argument: &str,
    what: &str,
) -> Result<Zeroizing<String>, Failure> {
    let bytes = read_argument(app, argument)?;
    let text = str::from_utf8(&bytes).map_err(|_| {
        Failure::usage(
            format!("{what} is not UTF-8"),
            "see `memory help shared init`",
        )
    })?;
    Ok(Zeroizing::new(text.trim().to_owned()))
}
