//! File events on Linux.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::inotify::{
    CreateFlags, Event, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch,
};
use rustix::io::Errno;

use super::WatchEvent;
use crate::index::ENTRIES;

/// A watcher of files on its own thread, until dropped.
#[derive(Debug)]
pub(super) struct FolderWatcher {
    end: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// The events to watch.
///
/// `OPEN` and `ACCESS` are excluded: each search reads ten files and would cause a flood of events.
const WATCHED_EVENTS: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::DONT_FOLLOW);

/// Size of the buffer for events, in bytes.
const EVENT_BUFFER_BYTES: usize = 16 * 1024;

impl FolderWatcher {
    /// Watches `folder` and everything below it, and calls `hear` with events on another thread.
    pub(super) fn start(
        folder: &Path,
        hear: impl FnMut(Vec<WatchEvent>) + Send + 'static,
    ) -> io::Result<Self> {
        let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
        let mut folders = WatchedFolders {
            source: init(flags)?,
            root: folder.to_owned(),
            paths: HashMap::new(),
        };
        folders.add(folder)?;
        let end = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let own_end = Arc::clone(&end);
        let thread = Builder::new()
            .name("changed files".into())
            .spawn(move || run_event_loop(&mut folders, &own_end, hear))?;
        Ok(Self {
            end,
            thread: Some(thread),
        })
    }

    /// Returns the name of the method.
    pub(super) const fn name() -> &'static str {
        "inotify"
    }
}

impl Drop for FolderWatcher {
    fn drop(&mut self) {
        let is_told = rustix::io::write(&self.end, &1_u64.to_ne_bytes()).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| is_told) {
            // If the thread panicked, it has ended as well.
            let _ = thread.join();
        }
    }
}

fn run_event_loop(
    folders: &mut WatchedFolders,
    end: &OwnedFd,
    mut hear: impl FnMut(Vec<WatchEvent>),
) {
    let mut room = vec![MaybeUninit::uninit(); EVENT_BUFFER_BYTES];
    loop {
        let mut waited = [
            PollFd::new(&folders.source, PollFlags::IN),
            PollFd::new(end, PollFlags::IN),
        ];
        match poll(&mut waited, None) {
            Ok(_) if !waited[1].revents().is_empty() => return,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return hear(vec![WatchEvent::Lost(error.to_string())]),
        }
        let heard = folders.read_events(&mut room);
        let is_over = heard
            .iter()
            .any(|heard| matches!(heard, WatchEvent::Lost(_)));
        if !heard.is_empty() {
            hear(heard);
        }
        if is_over {
            return;
        }
    }
}

/// The watched folders.
struct WatchedFolders {
    source: OwnedFd,
    root: PathBuf,
    /// The folders by their watch descriptors.
    paths: HashMap<i32, PathBuf>,
}

/// An event: `(watch descriptor, flags, name in the folder)`.
type InotifyEvent = (i32, ReadFlags, Option<PathBuf>);

impl WatchedFolders {
    /// Watches a folder and all below it, except hidden ones. Folders deleted during the call are skipped.
    fn add(&mut self, folder: &Path) -> io::Result<()> {
        let mut left = vec![folder.to_owned()];
        while let Some(folder) = left.pop() {
            match add_watch(&self.source, &folder, WATCHED_EVENTS) {
                Ok(number) => drop(self.paths.insert(number, folder.clone())),
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if folder != self.root => continue,
                Err(error) => return Err(error.into()),
            }
            // Listed after the watch was added, so that a folder created from now on causes an event.
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            let folders = entries
                .flatten()
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            left.extend(
                folders
                    .map(|entry| entry.path())
                    .filter(|path| !self.is_hidden(path)),
            );
        }
        Ok(())
    }

    /// Stops watching a folder that was moved away, and those below it.
    fn unwatch(&mut self, folder: &Path) {
        let source = &self.source;
        self.paths.retain(|number, path| {
            let is_kept = !path.starts_with(folder);
            if !is_kept {
                // The system removes the watch of a deleted folder itself.
                let _ = remove_watch(source, *number);
            }
            is_kept
        });
    }

    /// Reads the available events.
    fn read_events(&mut self, room: &mut [MaybeUninit<u8>]) -> Vec<WatchEvent> {
        let mut told = Vec::new();
        let mut reader = Reader::new(&self.source, room);
        let refusal = loop {
            match reader.next() {
                Ok(event) => told.push(copy_event(&event)),
                Err(Errno::AGAIN) => break None,
                Err(Errno::INTR) => {}
                Err(error) => break Some(WatchEvent::Lost(error.to_string())),
            }
        };
        told.into_iter()
            .filter_map(|told| self.translate_event(told))
            .chain(refusal)
            .collect()
    }

    /// Returns whether a folder is hidden. The folder of a conversation may have a name with a leading dot.
    fn is_hidden(&self, folder: &Path) -> bool {
        let is_conversation = folder.parent() == Some(&self.root) && self.root.ends_with(ENTRIES);
        !is_conversation
            && folder
                .file_name()
                .is_some_and(|name| name.as_bytes().starts_with(b"."))
    }

    fn translate_event(&mut self, (number, what, name): InotifyEvent) -> Option<WatchEvent> {
        if what.contains(ReadFlags::QUEUE_OVERFLOW) {
            return Some(WatchEvent::More);
        }
        let folder = self.paths.get(&number)?;
        if what.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT) {
            let gone = (*folder == self.root)
                .then(|| WatchEvent::Lost(format!("{} was deleted or moved", folder.display())));
            return gone;
        }
        if what.contains(ReadFlags::IGNORED) {
            self.paths.remove(&number);
            return None;
        }
        let name = name?;
        let path = folder.join(&name);
        if !what.contains(ReadFlags::ISDIR) {
            return Some(WatchEvent::File(path));
        }
        if self.is_hidden(&path) {
            return None;
        }
        if what.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM) {
            self.unwatch(&path);
        } else if what.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
            if let Err(error) = self.add(&path) {
                return Some(WatchEvent::Lost(error.to_string()));
            }
        } else {
            return None;
        }
        Some(WatchEvent::Folder(path))
    }
}

fn copy_event(event: &Event<'_>) -> InotifyEvent {
    let name = event
        .file_name()
        .map(|name| PathBuf::from(OsStr::from_bytes(name.to_bytes())));
    (event.wd(), event.events(), name)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};
    use std::time::Duration;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    fn listen(folder: &Path) -> (FolderWatcher, Receiver<WatchEvent>) {
        let (sender, receiver) = channel();
        let hear = move |heard: Vec<WatchEvent>| {
            for heard in heard {
                drop(sender.send(heard));
            }
        };
        (FolderWatcher::start(folder, hear).unwrap(), receiver)
    }

    /// Returns all events before `last`.
    fn hear_until(receiver: &Receiver<WatchEvent>, last: &WatchEvent) -> Vec<WatchEvent> {
        let next = || receiver.recv_timeout(PATIENCE).unwrap();
        std::iter::repeat_with(next)
            .take_while(|heard| heard != last)
            .collect()
    }

    #[test]
    fn reading_a_file_is_not_heard() {
        let home = tempfile::tempdir().unwrap();
        let [read, written] = ["read.md", "written.md"].map(|name| home.path().join(name));
        fs::write(&read, "tea").unwrap();
        let (_ears, heard) = listen(home.path());
        assert_eq!(fs::read(&read).unwrap(), b"tea");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
        fs::write(&written, "tea").unwrap();
        assert_eq!(hear_until(&heard, &WatchEvent::File(written)), []);
    }

    #[test]
    fn folders_are_heard_wherever_they_come_from_and_go_to() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (folder, moved, outside) = (
            home.path().join("a"),
            home.path().join("b"),
            elsewhere.path().join("a"),
        );
        let (_ears, heard) = listen(home.path());
        let write = |folder: &Path| {
            fs::write(folder.join("deep/note.md"), "tea").unwrap();
            WatchEvent::File(folder.join("deep/note.md"))
        };
        fs::create_dir_all(outside.join("deep")).unwrap();
        write(&outside);
        fs::rename(&outside, &folder).unwrap();
        hear_until(&heard, &WatchEvent::Folder(folder.clone()));
        hear_until(&heard, &write(&folder));
        fs::rename(&folder, &moved).unwrap();
        hear_until(&heard, &WatchEvent::Folder(moved.clone()));
        hear_until(&heard, &write(&moved));
        fs::rename(&moved, &outside).unwrap();
        hear_until(&heard, &WatchEvent::Folder(moved));
        write(&outside);
        let last = home.path().join("last.md");
        fs::write(&last, "tea").unwrap();
        assert!(
            hear_until(&heard, &WatchEvent::File(last))
                .iter()
                .all(|heard| *heard == WatchEvent::File(folder.join("deep/note.md")))
        );
    }

    #[test]
    fn the_end_of_the_folder_is_heard_and_no_more_behind_it() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("categories");
        fs::create_dir(&folder).unwrap();
        let (_ears, heard) = listen(&folder);
        fs::remove_dir(&folder).unwrap();
        assert!(
            matches!(heard.recv_timeout(PATIENCE).unwrap(), WatchEvent::Lost(why) if why.ends_with("categories was deleted or moved"))
        );
        heard.recv_timeout(PATIENCE).unwrap_err();
    }
}
