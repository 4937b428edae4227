//! Locations of the conversation folders.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::conversation::{ConversationLocation, ConversationStore};
use memory_store::conversation::{ConversationFolder, GitVersions};

use crate::config::Settings;
use crate::failure::Failure;
use crate::versions;

/// Returns the folders of conversations: `named`, else the home and the folder of the proxy.
///
/// # Errors
/// If the folder `named` does not exist.
pub(crate) fn folders(settings: &Settings, named: Option<&Path>) -> Result<Vec<ConversationFolder>, Failure> {
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
    Ok(folders.into_iter().map(ConversationFolder::new).collect())
}

/// Returns the operations of the conversation folders, for `memory undo` and the log; see [`folders`].
///
/// # Errors
/// If the folder `named` does not exist.
pub(crate) fn operation_logs(settings: &Settings, named: Option<&Path>) -> Result<Vec<ConversationLocation>, Failure> {
    let folders = folders(settings, named)?.into_iter();
    Ok(folders.map(|folder| ConversationLocation { place: folder.location(), store: Arc::new(folder) }).collect())
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
    let has_some = |folder: PathBuf| ConversationFolder::new(folder).conversations().is_ok_and(|found| !found.is_empty());
    default_folders(settings).into_iter().any(has_some)
}

fn default_folders(settings: &Settings) -> Vec<PathBuf> {
    let home = settings.root.value.clone();
    let of_proxy = settings.proxy.memory_path.value.clone().filter(|folder| *folder != home);
    [home].into_iter().chain(of_proxy).collect()
}
