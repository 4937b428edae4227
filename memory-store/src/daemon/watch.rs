//! Hearing of changed files.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memory_core::StoreError;
use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RemoveKind};
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher};

use crate::error::io_error;
use crate::index::CATEGORIES;

/// Of more changed files than this, only the number counts: then all are looked at.
const MOST: usize = 10_000;

/// Hears of files that somebody has changed, until dropped.
///
/// Hearing of them costs nothing while nobody changes any. Systems bound how much may be heard; then [`Watch::begin`] is
/// refused, or [`News::lost`] says so later, and whoever wants to know must look for itself.
#[derive(Debug)]
pub struct Watch {
    _watcher: RecommendedWatcher,
    heard: Arc<Mutex<News>>,
}

/// What has changed since it was last asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct News {
    /// Files that were made, changed, moved or removed, by their paths below the home.
    pub files: BTreeSet<String>,
    /// Whether folders came, went or moved.
    pub folders: bool,
    /// Whether more has changed than could be told.
    pub more: bool,
    /// Why nothing will be heard any more, if so.
    pub lost: Option<String>,
}

impl News {
    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Watch {
    /// Begins to listen for changes of the memories of the home at `root`, and calls `ring` after each, from another thread.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn begin(root: &Path, ring: impl Fn() + Send + 'static) -> Result<Self, StoreError> {
        let folder = root.join(CATEGORIES);
        let refused = |error| io_error(format!("watch {}", folder.display()), std::io::Error::other(error));
        let heard = Arc::new(Mutex::new(News::default()));
        let (own, home, categories) = (Arc::clone(&heard), root.to_owned(), folder.clone());
        let listen = move |event: notify::Result<Event>| {
            if take(&mut locked(&own), event, &home, &categories) {
                ring();
            }
        };
        let mut watcher = RecommendedWatcher::new(listen, Config::default().with_follow_symlinks(false)).map_err(refused)?;
        watcher.watch(&folder, RecursiveMode::Recursive).map_err(refused)?;
        Ok(Self { _watcher: watcher, heard })
    }

    /// Returns how it listens.
    pub const fn name() -> &'static str {
        if cfg!(target_os = "linux") {
            "inotify"
        } else if cfg!(target_os = "macos") {
            "fsevents"
        } else {
            "events"
        }
    }

    /// Returns what was heard since the last call.
    pub fn take(&self) -> News {
        std::mem::take(&mut locked(&self.heard))
    }
}

fn locked(heard: &Mutex<News>) -> MutexGuard<'_, News> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes in what the system says; tells whether it is news.
fn take(news: &mut News, event: notify::Result<Event>, home: &Path, categories: &Path) -> bool {
    let event = match event {
        Ok(event) => event,
        Err(error) => {
            news.lost = Some(error.to_string());
            return true;
        }
    };
    if event.need_rescan() {
        news.more = true;
        return true;
    }
    if matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)))
        && event.paths.iter().any(|path| path == categories)
    {
        news.lost = Some(format!("{} is gone", categories.display()));
        return true;
    }
    // Reading files opens them, and we read what we hear of: to listen to that would never end.
    let is_read = matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write));
    if is_read {
        return false;
    }
    let may_be_folder = matches!(
        event.kind,
        EventKind::Create(CreateKind::Folder | CreateKind::Any)
            | EventKind::Remove(RemoveKind::Folder | RemoveKind::Any)
            | EventKind::Modify(ModifyKind::Name(_))
    );
    let mut is_news = false;
    for path in &event.paths {
        match below(path, home) {
            Some(path) if has_ending(&path, ".md") => {
                is_news = true;
                if news.files.len() < MOST {
                    news.files.insert(path);
                } else {
                    news.more = true;
                }
            }
            Some(path) if may_be_folder && !has_ending(&path, ".tmp") => (is_news, news.folders) = (true, true),
            _ => {}
        }
    }
    is_news
}

/// Tells whether a path ends so; case matters, as it does to whoever lists the folders.
fn has_ending(path: &str, ending: &str) -> bool {
    path.strip_suffix(ending).is_some()
}

/// Returns a path below the home, if it is one of memories.
fn below(path: &Path, home: &Path) -> Option<String> {
    let path = path.strip_prefix(home).ok()?.to_str()?;
    let is_ours = path.split('/').all(|part| !part.starts_with('.'));
    is_ours.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use notify::event::{DataChange, Flag, RenameMode};

    use super::*;

    fn heard(kind: EventKind, paths: &[&str]) -> (bool, News) {
        let mut event = Event::new(kind);
        event.paths = paths.iter().map(|path| Path::new("/home").join(path)).collect();
        let mut news = News::default();
        let is_news = take(&mut news, Ok(event), Path::new("/home"), Path::new("/home/categories"));
        (is_news, news)
    }

    const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    const MOVED: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::To));

    #[test]
    fn files_of_memories_are_news_and_others_are_not() {
        let (is_news, news) = heard(WRITTEN, &["categories/inbox/a.md"]);
        assert!(is_news && news.files.contains("categories/inbox/a.md") && !news.folders);
        for path in ["categories/inbox/a.md.tmp", "categories/.obsidian/a.md", "categories/inbox/.a.md", "categories/x.png"] {
            assert_eq!(heard(WRITTEN, &[path]), (false, News::default()), "{path}");
        }
        assert!(heard(MOVED, &["categories/people"]).1.folders);
        assert!(heard(EventKind::Create(CreateKind::Folder), &["categories/people"]).1.folders);
    }

    #[test]
    fn that_a_file_is_read_is_no_news() {
        for kind in [AccessKind::Open(AccessMode::Any), AccessKind::Read, AccessKind::Close(AccessMode::Read)] {
            assert_eq!(heard(EventKind::Access(kind), &["categories/inbox/a.md"]), (false, News::default()));
        }
        assert!(heard(EventKind::Access(AccessKind::Close(AccessMode::Write)), &["categories/inbox/a.md"]).0);
    }

    #[test]
    fn what_cannot_be_heard_is_told() {
        let mut news = News::default();
        let event = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert!(take(&mut news, Ok(event), Path::new("/home"), Path::new("/home/categories")) && news.more);
        let mut news = News::default();
        assert!(take(&mut news, Err(notify::Error::generic("no")), Path::new("/home"), Path::new("/home/categories")));
        assert!(news.lost.is_some() && heard(EventKind::Remove(RemoveKind::Folder), &["categories"]).1.lost.is_some());
        let mut news = News::default();
        for number in 0..=MOST {
            let mut event = Event::new(WRITTEN);
            event.paths = vec![format!("/home/categories/{number}.md").into()];
            take(&mut news, Ok(event), Path::new("/home"), Path::new("/home/categories"));
        }
        assert!(news.more && news.files.len() == MOST);
    }
}
