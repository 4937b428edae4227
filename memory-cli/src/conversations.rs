//! Locations of the conversation folders.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::conversation::{ConversationLocation, ConversationStore, JobQueue};
use memory_core::{PrincipalAccess, StoreError};
use memory_store::SharedFolderId;
use memory_store::conversation::{ConversationFolder, GitVersions, JobFile};
use memory_store::postgres::Database;

use crate::config::Settings;
use crate::failure::Failure;
use crate::shared_store::{PULL_INTERVAL, find_database, principal_folder};
use crate::versions;

/// Returns the folders of conversations: `named`, else the home and the folder of the proxy.
///
/// # Errors
/// If the folder `named` does not exist.
pub(crate) fn folders(
    settings: &Settings,
    named: Option<&Path>,
) -> Result<Vec<ConversationFolder>, Failure> {
    let folders = match named {
        Some(named) => {
            let folder = settings.environment.absolute_path(named);
            if !folder.is_dir() {
                let source = io::Error::new(io::ErrorKind::NotFound, "folder not found");
                return Err(Failure::NoConversations { folder, source });
            }
            vec![folder]
        }
        None => default_folders(settings),
    };
    folders
        .into_iter()
        .map(|folder| open(settings, &folder))
        .collect()
}

/// Opens the conversations in a folder. Those in a shared home are shared.
pub(crate) fn open(settings: &Settings, folder: &Path) -> Result<ConversationFolder, Failure> {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let database = if whole(folder) == whole(&settings.root.value) {
        find_database(settings)?
    } else {
        None
    };
    Ok(database.map_or_else(
        || ConversationFolder::new(folder),
        |database| open_shared(folder, database),
    ))
}

/// Opens the conversations in a database, with a replica in the home `root`.
pub(crate) fn open_shared(root: &Path, database: Arc<Database>) -> ConversationFolder {
    ConversationFolder::open_replica(
        root,
        database,
        SharedFolderId::conversations(),
        PULL_INTERVAL,
    )
}

/// Opens the conversations of a principal as a replica of those in the database, on a node that has all rows.
pub(crate) fn open_of_principal(
    settings: &Settings,
    database: &Arc<Database>,
    principal: &PrincipalAccess,
) -> ConversationFolder {
    let folder = SharedFolderId {
        scope: principal.private_scope().to_string(),
        ..SharedFolderId::conversations()
    };
    ConversationFolder::open_replica(
        principal_folder(settings, principal),
        Arc::clone(database),
        folder,
        PULL_INTERVAL,
    )
}

/// Returns the operations of the conversation folders, for `memory undo` and the log; see [`folders`].
///
/// # Errors
/// If the folder `named` does not exist.
pub(crate) fn operation_logs(
    settings: &Settings,
    named: Option<&Path>,
) -> Result<Vec<ConversationLocation>, Failure> {
    let folders = folders(settings, named)?.into_iter();
    Ok(folders
        .map(|folder| ConversationLocation {
            place: folder.location(),
            store: Arc::new(folder),
        })
        .collect())
}

/// Commits a folder of conversations to git after a change, if the settings enable it.
///
/// Returns a warning about a failure, unless the user received it before.
/// Folders other than the home are committed only if they have a repository.
pub(crate) fn commit_versions(settings: &Settings, folder: &Path, message: &str) -> Option<String> {
    if folder == settings.root.value && settings.git.value {
        versions::take_warning(folder, versions::commit_now(folder, message))
    } else if settings.proxy.enable_git_versioning.value && folder.join(".git").exists() {
        versions::take_warning(folder, GitVersions::commit(folder, message))
    } else {
        None
    }
}

/// Returns whether any of the default folders holds a conversation. Unreadable folders count as empty.
pub(crate) fn has_conversations(settings: &Settings) -> bool {
    let has_some =
        |folder: &ConversationFolder| folder.conversations().is_ok_and(|found| !found.is_empty());
    folders(settings, None).is_ok_and(|folders| folders.iter().any(has_some))
}

/// Returns the number of messages that wait for the extraction of facts, in the folders of [`folders()`].
pub(crate) fn waiting_messages(settings: &Settings) -> Result<usize, StoreError> {
    let folders = default_folders(settings);
    let waiting = folders.iter().map(|folder| JobFile::new(folder).pending());
    waiting.map(|pending| Ok(pending?.len())).sum()
}

fn default_folders(settings: &Settings) -> Vec<PathBuf> {
    let home = settings.root.value.clone();
    let of_proxy = settings
        .proxy
        .memory_path
        .value
        .clone()
        .filter(|folder| *folder != home);
    [home].into_iter().chain(of_proxy).collect()
}
