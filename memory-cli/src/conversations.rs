//! Where conversations are kept.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::conversation::{ConversationStore, KeptConversations};
use memory_store::conversation::{ConversationFolder, Versions};

use crate::config::{Environment, Settings};
use crate::failure::Failure;
use crate::print::Output;
use crate::versions;

/// Returns the folders of conversations: the one of `--memory-path`, or else the home and that of the proxy in the settings.
///
/// # Errors
/// When the named folder is not there.
pub(crate) fn folders(
    settings: &Settings,
    environment: &Environment,
    named: Option<&Path>,
) -> Result<Vec<ConversationFolder>, Failure> {
    let folders = match named {
        Some(named) => {
            let folder = environment.whole(named);
            if !folder.is_dir() {
                let source = io::Error::new(io::ErrorKind::NotFound, "there is no such folder");
                return Err(Failure::NoConversations { folder, source });
            }
            vec![folder]
        }
        None => usual(settings),
    };
    Ok(folders.into_iter().map(ConversationFolder::new).collect())
}

/// Returns the way back of the folders of conversations: see [`folders`].
///
/// # Errors
/// When the named folder is not there.
pub(crate) fn kept(
    settings: &Settings,
    environment: &Environment,
    named: Option<&Path>,
) -> Result<Vec<KeptConversations>, Failure> {
    let folders = folders(settings, environment, named)?.into_iter();
    Ok(folders.map(|folder| KeptConversations { place: folder.place(), store: Arc::new(folder) }).collect())
}

/// Commits a folder of conversations with git after a change, if it has a repository and the settings keep versions.
pub(crate) fn keep_versions(settings: &Settings, folder: &Path, message: &str, output: &mut Output) {
    if folder == settings.root.value && settings.git.value {
        versions::tell(folder, versions::keep_now(folder, message), output);
    } else if settings.proxy.enable_git_versioning.value && folder.join(".git").exists() {
        versions::tell(folder, Versions::commit(folder, message), output);
    }
}

/// Returns whether any of the usual folders holds a conversation. What cannot be read counts as none.
pub(crate) fn has_any(settings: &Settings) -> bool {
    let has_some = |folder: PathBuf| ConversationFolder::new(folder).conversations().is_ok_and(|found| !found.is_empty());
    usual(settings).into_iter().any(has_some)
}

fn usual(settings: &Settings) -> Vec<PathBuf> {
    let home = settings.root.value.clone();
    let of_proxy = settings.proxy.memory_path.value.clone().filter(|folder| *folder != home);
    [home].into_iter().chain(of_proxy).collect()
}
