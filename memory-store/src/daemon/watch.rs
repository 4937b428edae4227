//! Watches files for changes.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod inotify;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memory_core::StoreError;

#[cfg(not(target_os = "linux"))]
use self::elsewhere::NotifyWatcher as FolderWatcher;
#[cfg(target_os = "linux")]
use self::inotify::FolderWatcher;
use crate::error::io_error;
use crate::index::{CATEGORIES, ENTRIES};
use crate::system::private_folder_builder;

/// Maximum number of changed files to list; with more, all files must be checked.
const MAX_CHANGED_FILES: usize = 10_000;

/// A watcher of files that other programs change, until dropped.
///
/// It costs nothing while no file changes. Systems limit the number of watches. Beyond the limit [`FileWatcher::watch_home`] fails, or [`WatchedChanges::lost`]
/// is set later, and the caller must check the files itself.
#[derive(Debug)]
pub struct FileWatcher {
    _ears: Vec<FolderWatcher>,
    heard: Arc<Mutex<WatchedChanges>>,
}

/// The changes since the last call of [`FileWatcher::take_changes`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchedChanges {
    /// Files that were created, changed, moved or removed, by their paths below the home.
    pub files: BTreeSet<String>,
    /// Whether folders were added, removed or moved.
    pub folders: bool,
    /// Whether there were more changes than listed.
    pub more: bool,
    /// Why no further changes are detected, if that is so.
    pub lost: Option<String>,
}

impl WatchedChanges {
    /// Returns whether there are no changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl FileWatcher {
    /// Starts to watch the memories and conversations of the home at `root`.
    ///
    /// Calls `ring` after each change, on another thread. Creates both folders if they are missing.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn watch_home(
        root: &Path,
        ring: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, StoreError> {
        let place = root.join(CATEGORIES);
        // A missing home is not created: it may have been moved.
        match private_folder_builder().create(&place) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(io_error(format!("watch {}", place.display()), error));
            }
            Ok(()) | Err(_) => {}
        }
        Self::of(&[CATEGORIES, ENTRIES], root, ring)
    }

    /// Starts to watch only the conversations below `root`, like [`FileWatcher::watch_home`].
    ///
    /// # Errors
    /// If the system refuses.
    pub fn watch_conversations(
        root: &Path,
        ring: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, StoreError> {
        Self::of(&[ENTRIES], root, ring)
    }

    fn of(
        folders: &[&str],
        root: &Path,
        ring: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, StoreError> {
        let news = Arc::new(Mutex::new(WatchedChanges::default()));
        let ring: Arc<dyn Fn() + Send + Sync> = Arc::new(ring);
        let mut ears = Vec::new();
        for folder in folders {
            let place = root.join(folder);
            let told = |error| io_error(format!("watch {}", place.display()), error);
            if *folder == ENTRIES {
                private_folder_builder()
                    .recursive(true)
                    .create(&place)
                    .map_err(told)?;
            }
            ears.push(Self::watch_folder(&place, root, &news, &ring).map_err(told)?);
        }
        Ok(Self {
            _ears: ears,
            heard: news,
        })
    }

    fn watch_folder(
        folder: &Path,
        root: &Path,
        news: &Arc<Mutex<WatchedChanges>>,
        ring: &Arc<dyn Fn() + Send + Sync>,
    ) -> io::Result<FolderWatcher> {
        let (own, home, ring) = (Arc::clone(news), root.to_owned(), Arc::clone(ring));
        let hear = move |heard: Vec<WatchEvent>| {
            let mut news = lock_changes(&own);
            // The fold must not stop early: every event has to be recorded.
            let is_news = heard.into_iter().fold(false, |is_news, heard| {
                record_event(&mut news, heard, &home) | is_news
            });
            drop(news);
            if is_news {
                ring();
            }
        };
        FolderWatcher::start(folder, hear)
    }

    /// Returns the name of the method of detecting changes.
    pub const fn name() -> &'static str {
        FolderWatcher::name()
    }

    /// Returns the changes since the last call.
    pub fn take_changes(&self) -> WatchedChanges {
        std::mem::take(&mut lock_changes(&self.heard))
    }
}

fn lock_changes(heard: &Mutex<WatchedChanges>) -> MutexGuard<'_, WatchedChanges> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An event from the system.
#[derive(Debug, Clone, PartialEq, Eq)]
enum WatchEvent {
    /// A file was created, changed, moved or removed at this path.
    File(PathBuf),
    /// A folder was added or removed at this path, or may have been.
    Folder(PathBuf),
    /// Events were lost.
    More,
    /// No further events will follow, for this reason.
    Lost(String),
}

/// Records an event, and returns whether it is relevant.
fn record_event(news: &mut WatchedChanges, heard: WatchEvent, home: &Path) -> bool {
    match heard {
        WatchEvent::Lost(why) => news.lost = Some(why),
        WatchEvent::More => news.more = true,
        WatchEvent::File(path) => {
            match visible_path_below(&path, home).filter(|path| has_ending(path, ".md")) {
                Some(path) if news.files.len() < MAX_CHANGED_FILES => drop(news.files.insert(path)),
                Some(_) => news.more = true,
                None => return false,
            }
        }
        WatchEvent::Folder(path) => match visible_path_below(&path, home) {
            Some(path) if !has_ending(&path, ".tmp") => news.folders = true,
            _ => return false,
        },
    }
    true
}

/// Returns whether a path has this ending; case matters, as in the listing of folders.
fn has_ending(path: &str, ending: &str) -> bool {
    path.strip_suffix(ending).is_some()
}

/// Returns the path below the home, if no hidden name is part of it.
fn visible_path_below(path: &Path, home: &Path) -> Option<String> {
    let path = path.strip_prefix(home).ok()?.to_str()?;
    // The folder of a conversation may have a name with a leading dot.
    let is_conversation = |number: usize| number == 1 && path.split('/').next() == Some(ENTRIES);
    let is_ours = path
        .split('/')
        .enumerate()
        .all(|(number, part)| !part.starts_with('.') || is_conversation(number));
    is_ours.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(heard: &[WatchEvent]) -> (Vec<bool>, WatchedChanges) {
        let mut news = WatchedChanges::default();
        let are_news = heard
            .iter()
            .map(|heard| record_event(&mut news, heard.clone(), Path::new("/home")))
            .collect();
        (are_news, news)
    }

    fn file(path: &str) -> WatchEvent {
        WatchEvent::File(Path::new("/home").join(path))
    }

    fn folder(path: &str) -> WatchEvent {
        WatchEvent::Folder(Path::new("/home").join(path))
    }

    #[test]
    fn files_of_memories_are_news_and_others_are_not() {
        let (are_news, news) = heard(&[file("categories/inbox/a.md")]);
        assert_eq!((are_news, news.folders), (vec![true], false));
        assert_eq!(Vec::from_iter(news.files), ["categories/inbox/a.md"]);
        assert_eq!(
            Vec::from_iter(heard(&[file("entries/.me/facts/1.md")]).1.files),
            ["entries/.me/facts/1.md"]
        );
        let others = [
            "categories/inbox/.a.md",
            "categories/x.png",
            "entries/me/.facts/1.md",
            "entries/me/facts/.1.md",
        ];
        for path in ["categories/inbox/a.md.tmp", "categories/.obsidian/a.md"]
            .into_iter()
            .chain(others)
        {
            assert_eq!(
                heard(&[file(path)]),
                (vec![false], WatchedChanges::default()),
                "{path}"
            );
        }
        assert_eq!(
            heard(&[folder("categories/people")]).1,
            WatchedChanges {
                folders: true,
                ..WatchedChanges::default()
            }
        );
        assert_eq!(
            heard(&[folder("categories/.git")]).1,
            WatchedChanges::default()
        );
    }

    #[test]
    fn what_cannot_be_heard_is_told() {
        assert_eq!(
            heard(&[WatchEvent::More]),
            (
                vec![true],
                WatchedChanges {
                    more: true,
                    ..WatchedChanges::default()
                }
            )
        );
        assert!(heard(&[WatchEvent::Lost("no".into())]).1.lost.is_some());
        let many: Vec<WatchEvent> = (0..=MAX_CHANGED_FILES)
            .map(|number| file(&format!("categories/{number}.md")))
            .collect();
        let news = heard(&many).1;
        assert!(news.more && news.files.len() == MAX_CHANGED_FILES);
    }
}
