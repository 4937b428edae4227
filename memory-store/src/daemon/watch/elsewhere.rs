//! File events on systems other than Linux.

use std::io;
use std::path::{Path, PathBuf};

use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RemoveKind};
use notify::{Config, Event, RecommendedWatcher, RecursiveMode, Watcher};

use super::WatchEvent;

/// A watcher of files on its own thread, until dropped.
#[derive(Debug)]
pub(super) struct NotifyWatcher {
    _watcher: RecommendedWatcher,
}

impl NotifyWatcher {
    /// Watches `folder` and everything below it, and calls `hear` with events on another thread.
    pub(super) fn start(
        folder: &Path,
        mut hear: impl FnMut(Vec<WatchEvent>) + Send + 'static,
    ) -> io::Result<Self> {
        let root = folder.to_owned();
        let listen = move |event: notify::Result<Event>| {
            let heard = understand(event, &root);
            if !heard.is_empty() {
                hear(heard);
            }
        };
        let config = Config::default().with_follow_symlinks(false);
        let mut watcher = RecommendedWatcher::new(listen, config).map_err(io::Error::other)?;
        watcher
            .watch(folder, RecursiveMode::Recursive)
            .map_err(io::Error::other)?;
        Ok(Self { _watcher: watcher })
    }

    /// Returns the name of the method.
    pub(super) const fn name() -> &'static str {
        if cfg!(target_os = "macos") {
            "fsevents"
        } else {
            "events"
        }
    }
}

fn understand(event: notify::Result<Event>, root: &Path) -> Vec<WatchEvent> {
    let event = match event {
        Ok(event) => event,
        Err(error) => return vec![WatchEvent::Lost(error.to_string())],
    };
    if event.need_rescan() {
        return vec![WatchEvent::More];
    }
    let is_move = matches!(event.kind, EventKind::Modify(ModifyKind::Name(_)));
    if (is_move || matches!(event.kind, EventKind::Remove(_)))
        && event.paths.iter().any(|path| path == root)
    {
        return vec![WatchEvent::Lost(format!(
            "{} was deleted or moved",
            root.display()
        ))];
    }
    // Reads open files too, and each event causes a read: to watch them would never end.
    if matches!(event.kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write))
    {
        return Vec::new();
    }
    let may_be_folder = is_move
        || matches!(
            event.kind,
            EventKind::Create(CreateKind::Folder | CreateKind::Any)
                | EventKind::Remove(RemoveKind::Folder | RemoveKind::Any)
        );
    let heard = |path: PathBuf| {
        // Some systems do not report whether a path is a file or a folder.
        let is_folder = may_be_folder && path.extension().is_none_or(|extension| extension != "md");
        if is_folder {
            WatchEvent::Folder(path)
        } else {
            WatchEvent::File(path)
        }
    };
    event.paths.into_iter().map(heard).collect()
}
