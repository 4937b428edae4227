//! A disk whose changes stay in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{
    DirEntry, DirEntryKind, Disk, FileStat, MAX_FILE, check_path, file_name, now_ns, parent_folder,
};

/// The file of the other disk through which a changed file is opened; it is deleted at once.
const OPENED: &str = ".opened.tmp";

/// The inode number of the first new file, higher than those of file systems.
const FIRST_INODE: u64 = 1 << 63;

/// A disk that reads another one, and keeps its own changes in memory.
///
/// Syncs have no effect, and permissions are not copied. [`OverlayDisk::changes`] returns the changes of files.
#[derive(Debug)]
pub(crate) struct OverlayDisk<'a> {
    base: &'a dyn Disk,
    changed: Mutex<ChangedPaths>,
    next_inode: AtomicU64,
}

/// The paths that differ from the other disk.
#[derive(Debug, Default)]
struct ChangedPaths {
    /// The changed files; `None` for a file that does not exist.
    files: BTreeMap<String, Option<OverlayFile>>,
    made_folders: BTreeSet<String>,
    removed_folders: BTreeSet<String>,
}

/// A file that begins with a part of a file of the other disk.
#[derive(Debug, Clone)]
struct OverlayFile {
    /// The path of the other file, and the number of its bytes.
    start: Option<(String, u64)>,
    /// The bytes after them.
    rest: Vec<u8>,
    stat: FileStat,
}

/// A change of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileEdit {
    pub path: String,
    pub content: NewFileContent,
}

/// The content of a changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NewFileContent {
    /// The file no longer exists.
    Removed,
    /// All bytes of the file.
    Whole(Vec<u8>),
    /// The bytes after the first `start` bytes, which have not changed.
    Appended { start: u64, bytes: Vec<u8> },
}

impl OverlayFile {
    fn size(&self) -> u64 {
        self.start.as_ref().map_or(0, |(_, length)| *length) + self.rest.len() as u64
    }
}

impl<'a> OverlayDisk<'a> {
    /// Returns a disk that reads `base`.
    pub(crate) fn new(base: &'a dyn Disk) -> Self {
        Self {
            base,
            changed: Mutex::default(),
            next_inode: AtomicU64::new(FIRST_INODE),
        }
    }

    /// Returns the changes of files in the order of their paths, without those that had no effect.
    ///
    /// # Errors
    /// If the other disk cannot be read.
    pub(crate) fn changes(&self) -> io::Result<Vec<FileEdit>> {
        let changed = self.lock();
        let mut edits = Vec::new();
        for (path, file) in &changed.files {
            let before = self.base.stat(path)?.filter(|found| !found.is_folder);
            let content = match (file, before) {
                (None, None) => continue,
                (None, Some(_)) => NewFileContent::Removed,
                (
                    Some(OverlayFile {
                        start: Some((from, length)),
                        rest,
                        ..
                    }),
                    Some(before),
                ) if from == path && *length == before.size => {
                    if rest.is_empty() {
                        continue;
                    }
                    NewFileContent::Appended {
                        start: *length,
                        bytes: rest.clone(),
                    }
                }
                (Some(file), _) => NewFileContent::Whole(self.content(file, 0, usize::MAX)?),
            };
            edits.push(FileEdit {
                path: path.clone(),
                content,
            });
        }
        Ok(edits)
    }

    /// Returns the folders that were removed, each after its subfolders.
    pub(crate) fn removed_folders(&self) -> Vec<String> {
        self.lock().removed_folders.iter().rev().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, ChangedPaths> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a changed or unchanged file, or `None` if it does not exist or is a folder.
    fn find(&self, changed: &ChangedPaths, path: &str) -> io::Result<Option<OverlayFile>> {
        check_path(path)?;
        if let Some(file) = changed.files.get(path) {
            return Ok(file.clone());
        }
        let found = self.base.stat(path)?.filter(|found| !found.is_folder);
        Ok(found.map(|stat| OverlayFile {
            start: Some((path.to_owned(), stat.size)),
            rest: Vec::new(),
            stat,
        }))
    }

    fn content(&self, file: &OverlayFile, from: u64, length: usize) -> io::Result<Vec<u8>> {
        let kept = file.start.as_ref().map_or(0, |(_, kept)| *kept);
        let mut bytes = Vec::new();
        if let Some((path, _)) = &file.start
            && from < kept
        {
            let wanted = usize::try_from(kept - from)
                .unwrap_or(usize::MAX)
                .min(length);
            bytes = self.base.read_part(path, from, wanted)?;
            if bytes.len() < wanted {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    format!("{path} was changed meanwhile"),
                ));
            }
        }
        let skipped = usize::try_from(from.saturating_sub(kept))
            .unwrap_or(usize::MAX)
            .min(file.rest.len());
        let more = length
            .saturating_sub(bytes.len())
            .min(file.rest.len() - skipped);
        bytes.extend_from_slice(&file.rest[skipped..skipped + more]);
        Ok(bytes)
    }

    fn stat_of_new_file(&self) -> FileStat {
        let (now, inode) = (now_ns(), self.next_inode.fetch_add(1, Ordering::Relaxed));
        FileStat {
            size: 0,
            modified_ns: now,
            changed_ns: now,
            inode,
            is_folder: false,
        }
    }

    /// Stores a file, and creates its missing parents.
    fn put(&self, changed: &mut ChangedPaths, path: &str, mut file: OverlayFile) -> io::Result<()> {
        if self.is_folder(changed, path)? {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        file.stat.size = file.size();
        self.make_parents(changed, path)?;
        changed.files.insert(path.to_owned(), Some(file));
        Ok(())
    }

    fn make_parents(&self, changed: &mut ChangedPaths, path: &str) -> io::Result<()> {
        let mut folder = parent_folder(path);
        while !folder.is_empty() {
            if !self.is_folder(changed, folder)? {
                if self.find(changed, folder)?.is_some() {
                    return Err(io::ErrorKind::NotADirectory.into());
                }
                changed.made_folders.insert(folder.to_owned());
                changed.removed_folders.remove(folder);
            }
            folder = parent_folder(folder);
        }
        Ok(())
    }

    fn is_folder(&self, changed: &ChangedPaths, path: &str) -> io::Result<bool> {
        if path.is_empty() || changed.made_folders.contains(path) {
            return Ok(true);
        }
        Ok(!changed.removed_folders.contains(path)
            && self.base.stat(path)?.is_some_and(|found| found.is_folder))
    }

    fn change(&self, path: &str, work: impl FnOnce(&mut OverlayFile)) -> io::Result<()> {
        let mut changed = self.lock();
        let mut file = self.find(&changed, path)?.ok_or(io::ErrorKind::NotFound)?;
        work(&mut file);
        (file.stat.modified_ns, file.stat.changed_ns) = (now_ns(), now_ns());
        self.put(&mut changed, path, file)
    }

    fn list(&self, changed: &ChangedPaths, path: &str) -> io::Result<Vec<DirEntry>> {
        let is_in = |other: &str| parent_folder(other) == path;
        let below = |entry: &DirEntry| {
            if path.is_empty() {
                entry.name.clone()
            } else {
                format!("{path}/{}", entry.name)
            }
        };
        let mut entries: BTreeMap<String, DirEntry> = BTreeMap::new();
        for entry in self.base.list_folder(path)? {
            let is_removed = match entry.kind {
                DirEntryKind::Folder => changed.removed_folders.contains(&below(&entry)),
                DirEntryKind::File | DirEntryKind::Other => {
                    changed.files.contains_key(&below(&entry))
                }
            };
            if !is_removed {
                entries.insert(entry.name.clone(), entry);
            }
        }
        for folder in changed.made_folders.iter().filter(|folder| is_in(folder)) {
            let name = file_name(folder).to_owned();
            entries.entry(name.clone()).or_insert(DirEntry {
                name,
                inode: FIRST_INODE,
                kind: DirEntryKind::Folder,
            });
        }
        for (file, content) in changed.files.iter().filter(|(file, _)| is_in(file)) {
            if let Some(content) = content {
                let name = file_name(file).to_owned();
                entries.insert(
                    name.clone(),
                    DirEntry {
                        name,
                        inode: content.stat.inode,
                        kind: DirEntryKind::File,
                    },
                );
            }
        }
        Ok(entries.into_values().collect())
    }
}

impl Disk for OverlayDisk<'_> {
    fn read(&self, path: &str) -> io::Result<Option<(Vec<u8>, FileStat)>> {
        check_path(path)?;
        let file = match self.lock().files.get(path) {
            None => return self.base.read(path),
            Some(None) => return Ok(None),
            Some(Some(file)) => file.clone(),
        };
        if MAX_FILE < file.size() {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("{} bytes", file.size()),
            ));
        }
        Ok(Some((self.content(&file, 0, usize::MAX)?, file.stat)))
    }

    fn read_part(&self, path: &str, start: u64, length: usize) -> io::Result<Vec<u8>> {
        check_path(path)?;
        let file = match self.lock().files.get(path) {
            None => return self.base.read_part(path, start, length),
            Some(None) => return Ok(Vec::new()),
            Some(Some(file)) => file.clone(),
        };
        self.content(&file, start, length)
    }

    fn open(&self, path: &str) -> io::Result<Option<File>> {
        check_path(path)?;
        let file = match self.lock().files.get(path) {
            None => return self.base.open(path),
            Some(None) => return Ok(None),
            Some(Some(file)) => file.clone(),
        };
        self.base
            .write(OPENED, &self.content(&file, 0, usize::MAX)?)?;
        let opened = self.base.open(OPENED);
        self.base.remove(OPENED)?;
        opened
    }

    fn stat(&self, path: &str) -> io::Result<Option<FileStat>> {
        check_path(path)?;
        let changed = self.lock();
        if let Some(Some(file)) = changed.files.get(path) {
            return Ok(Some(file.stat));
        }
        if changed.made_folders.contains(path) {
            return Ok(Some(FileStat {
                is_folder: true,
                ..self.stat_of_new_file()
            }));
        }
        if changed.removed_folders.contains(path) || changed.files.contains_key(path) {
            return Ok(None);
        }
        self.base.stat(path)
    }

    fn list_folder(&self, path: &str) -> io::Result<Vec<DirEntry>> {
        if !path.is_empty() {
            check_path(path)?;
        }
        self.list(&self.lock(), path)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        let mut changed = self.lock();
        let stat = self
            .find(&changed, path)?
            .map_or_else(|| self.stat_of_new_file(), |file| file.stat);
        let stat = FileStat {
            modified_ns: now_ns(),
            changed_ns: now_ns(),
            ..stat
        };
        self.put(
            &mut changed,
            path,
            OverlayFile {
                start: None,
                rest: bytes.to_vec(),
                stat,
            },
        )
    }

    fn append(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        if self.stat(path)?.is_none() {
            return self.write(path, bytes);
        }
        self.change(path, |file| file.rest.extend_from_slice(bytes))
    }

    fn append_unsynced(&self, path: &str, bytes: &[u8]) -> io::Result<()> {
        self.append(path, bytes)
    }

    fn open_lock(&self, path: &str) -> io::Result<File> {
        self.base.open_lock(path)
    }

    fn truncate(&self, path: &str, length: u64) -> io::Result<()> {
        self.change(path, |file| {
            let kept = file.start.as_ref().map_or(0, |(_, kept)| *kept);
            if let Some((_, kept)) = &mut file.start {
                *kept = length.min(*kept);
            }
            file.rest.resize(
                usize::try_from(length.saturating_sub(kept)).unwrap_or(usize::MAX),
                0,
            );
        })
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        check_path(to)?;
        let mut changed = self.lock();
        let file = self.find(&changed, from)?.ok_or(io::ErrorKind::NotFound)?;
        if from == to {
            return Ok(());
        }
        self.put(
            &mut changed,
            to,
            OverlayFile {
                stat: FileStat {
                    changed_ns: now_ns(),
                    ..file.stat
                },
                ..file
            },
        )?;
        changed.files.insert(from.to_owned(), None);
        Ok(())
    }

    fn hard_link(&self, from: &str, to: &str) -> io::Result<()> {
        check_path(to)?;
        let mut changed = self.lock();
        self.make_parents(&mut changed, to)?;
        let file = self.find(&changed, from)?.ok_or(io::ErrorKind::NotFound)?;
        // As on the machine's disk, an existing file gets the content.
        self.put(&mut changed, to, file)
    }

    fn copy_permissions(&self, path: &str, of: &str) -> io::Result<()> {
        let changed = self.lock();
        match (self.find(&changed, path)?, self.find(&changed, of)?) {
            (Some(_), Some(_)) => Ok(()),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn check_writable(&self, path: &str) -> io::Result<()> {
        let is_changed = self.lock().files.contains_key(path);
        if is_changed {
            Ok(())
        } else {
            self.base.check_writable(path)
        }
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        let mut changed = self.lock();
        if self.is_folder(&changed, path)? {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if self.find(&changed, path)?.is_some() {
            changed.files.insert(path.to_owned(), None);
        }
        Ok(())
    }

    fn remove_folder(&self, path: &str) -> io::Result<()> {
        check_path(path)?;
        let mut changed = self.lock();
        if self.is_folder(&changed, path)? && self.list(&changed, path)?.is_empty() {
            changed.made_folders.remove(path);
            changed.removed_folders.insert(path.to_owned());
        }
        Ok(())
    }

    fn sync_file(&self, path: &str) -> io::Result<()> {
        self.stat(path)?
            .map(drop)
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_folder(&self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn sync_everything(&self) -> io::Result<bool> {
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use proptest::prelude::*;

    use super::super::{RealDisk, parent_folder};
    use super::*;

    const PATHS: [&str; 6] = ["a", "b", "log/1", "log/2", "deep/er/x", "deep/y"];

    #[derive(Debug, Clone)]
    enum DiskCall {
        Write(&'static str, Vec<u8>),
        Append(&'static str, Vec<u8>),
        Truncate(&'static str, u64),
        Rename(&'static str, &'static str),
        /// A link to a file, which then is replaced as by a store.
        Link(&'static str, &'static str),
        Remove(&'static str),
        RemoveFolder(&'static str),
    }

    fn calls() -> impl Strategy<Value = Vec<DiskCall>> {
        let path = || proptest::sample::select(&PATHS[..]);
        let bytes = || proptest::collection::vec(b'a'..=b'z', 0..6);
        let call = prop_oneof![
            (path(), bytes()).prop_map(|(path, bytes)| DiskCall::Write(path, bytes)),
            (path(), bytes()).prop_map(|(path, bytes)| DiskCall::Append(path, bytes)),
            (path(), 0..8_u64).prop_map(|(path, length)| DiskCall::Truncate(path, length)),
            (path(), path()).prop_map(|(from, to)| DiskCall::Rename(from, to)),
            (path(), path())
                .prop_filter("two paths", |(from, to)| from != to)
                .prop_map(|(from, to)| DiskCall::Link(from, to)),
            path().prop_map(DiskCall::Remove),
            path().prop_map(|path| DiskCall::RemoveFolder(parent_folder(path))),
        ];
        proptest::collection::vec(call, 0..24)
    }

    fn run(disk: &dyn Disk, call: &DiskCall) -> Result<(), io::ErrorKind> {
        let done = match call {
            DiskCall::Write(path, bytes) => disk.write(path, bytes),
            DiskCall::Append(path, bytes) => disk.append(path, bytes),
            DiskCall::Truncate(path, length) => disk.truncate(path, *length),
            DiskCall::Rename(from, to) => disk.rename(from, to),
            DiskCall::Link(from, to) => disk.hard_link(from, to).and_then(|()| {
                disk.write("next", b"replaced")?;
                disk.rename("next", from)
            }),
            DiskCall::Remove(path) => disk.remove(path),
            DiskCall::RemoveFolder("") => Ok(()),
            DiskCall::RemoveFolder(path) => disk.remove_folder(path),
        };
        done.map_err(|error| error.kind())
    }

    /// Returns the folders, and the files with their contents, as each way to read them returns them.
    fn tree(disk: &dyn Disk, folder: &str, found: &mut BTreeMap<String, Option<Vec<u8>>>) {
        for entry in disk.list_folder(folder).unwrap() {
            let path = if folder.is_empty() {
                entry.name
            } else {
                format!("{folder}/{}", entry.name)
            };
            let stat = disk.stat(&path).unwrap().unwrap();
            assert_eq!(stat.is_folder, entry.kind == DirEntryKind::Folder);
            if stat.is_folder {
                tree(disk, &path, found);
                found.insert(path, None);
                continue;
            }
            let (bytes, own) = disk.read(&path).unwrap().unwrap();
            assert_eq!((own, stat.size), (stat, bytes.len() as u64));
            assert_eq!(
                disk.read_part(&path, 1, 2).unwrap(),
                bytes.iter().copied().skip(1).take(2).collect::<Vec<_>>()
            );
            let mut opened = Vec::new();
            disk.open(&path)
                .unwrap()
                .unwrap()
                .read_to_end(&mut opened)
                .unwrap();
            assert_eq!(opened, bytes);
            found.insert(path, Some(bytes));
        }
    }

    fn read_tree(disk: &dyn Disk) -> BTreeMap<String, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        tree(disk, "", &mut found);
        found
    }

    fn apply(disk: &dyn Disk, edits: &[FileEdit]) {
        for FileEdit { path, content } in edits {
            match content {
                NewFileContent::Removed => disk.remove(path).unwrap(),
                NewFileContent::Whole(bytes) => disk.write(path, bytes).unwrap(),
                NewFileContent::Appended { start, bytes } => {
                    assert_eq!(disk.stat(path).unwrap().unwrap().size, *start);
                    disk.append(path, bytes).unwrap();
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_disk_in_memory_behaves_as_a_real_one_and_its_changes_make_the_real_one_equal(before in calls(), after in calls()) {
            let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
            let [real, base] = [0, 1].map(|number: usize| RealDisk::open(folders[number].path()).unwrap());
            for call in &before {
                prop_assert_eq!(run(&real, call), run(&base, call));
            }
            let (start, overlay) = (read_tree(&base), OverlayDisk::new(&base));
            for call in &after {
                prop_assert_eq!(run(&real, call).is_ok(), run(&overlay, call).is_ok(), "{:?}", call);
                prop_assert_eq!(read_tree(&real), read_tree(&overlay), "{:?}", call);
            }
            prop_assert_eq!(read_tree(&base), start, "the other disk does not change");
            apply(&base, &overlay.changes().unwrap());
            let files = |disk: &dyn Disk| read_tree(disk).into_iter().filter(|(_, bytes)| bytes.is_some()).collect::<Vec<_>>();
            prop_assert_eq!(files(&real), files(&base));
        }
    }

    #[test]
    fn an_append_is_transferred_without_the_bytes_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = RealDisk::open(folder.path()).unwrap();
        base.write("log", b"first\n").unwrap();
        let overlay = OverlayDisk::new(&base);
        overlay.append("log", b"second\n").unwrap();
        overlay.write("waiting", b"x").unwrap();
        overlay.remove("waiting").unwrap();
        let content = NewFileContent::Appended {
            start: 6,
            bytes: b"second\n".to_vec(),
        };
        assert_eq!(
            overlay.changes().unwrap(),
            [FileEdit {
                path: "log".into(),
                content
            }]
        );
    }
}
