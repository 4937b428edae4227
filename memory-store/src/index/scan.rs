//! Lists the folders of the home without opening a file.

use std::ffi::CString;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::{io, thread};

use memory_core::HomeSection;

use super::lookup_key::{hash_bytes, mix};
use crate::disk::FileStat;
use crate::system::{EntryType, OpenFolder, is_symlink_error};

/// The folder that holds all memories.
pub(crate) const CATEGORIES: &str = "categories";

/// The folder of conversations. Their parts are indexed like memories.
pub(crate) const ENTRIES: &str = HomeSection::CONVERSATIONS;

/// The folders that are indexed, each with all its subfolders.
pub(super) const ROOTS: [&str; 2] = [ENTRIES, CATEGORIES];

/// Subfolders of a conversation that are not indexed: deleted entries and summaries.
const EXCLUDED_FOLDERS: [&[u8]; 2] = [b"deleted", b"summaries"];

/// Maximum number of files per batch; with fewer files a second thread costs more than it saves.
const FILES_PER_BATCH: usize = 512;

/// Seed of the hashes of names.
const NAME_SEED: u64 = 0x6e61_6d65;

/// A folder of memories on disk.
#[derive(Debug)]
pub(super) struct ScannedFolder {
    /// The path below the home.
    pub(super) path: String,
    /// The modification time in nanoseconds, read before the folder was listed.
    pub(super) modified_ns: i64,
    /// The files in the folder.
    pub(super) files: Vec<ScannedFile>,
    /// The paths of its subfolders.
    pub(super) folders: Vec<String>,
    /// The sums over its files; the sum of the signatures is valid only if they were read.
    pub(super) sums: FolderSums,
}

/// A file on disk.
#[derive(Debug)]
pub(super) struct ScannedFile {
    pub(super) name: CString,
    /// Contains only the inode unless the signature was read.
    pub(super) signature: FileStat,
    /// Whether it is a regular file with a name in UTF-8, not a symlink or a socket.
    pub(super) regular: bool,
}

impl ScannedFile {
    /// Returns the name, with invalid UTF-8 replaced.
    pub(super) fn name(&self) -> std::borrow::Cow<'_, str> {
        self.name.to_string_lossy()
    }
}

/// Returns the modification time of a folder in nanoseconds, or `None` if it does not exist.
pub(super) fn modified_ns(root: &Path, path: &str) -> io::Result<Option<i64>> {
    let Some(folder) = open(root, path)? else {
        return Ok(None);
    };
    folder.modified_ns().map(Some)
}

/// Lists the folder at `path` with names and inodes only, or returns `None` if it does not exist.
pub(super) fn list(root: &Path, path: &str) -> io::Result<Option<ScannedFolder>> {
    let Some(opened) = open(root, path)? else {
        return Ok(None);
    };
    let mut folder = ScannedFolder::empty(path, &opened)?;
    let mut files = Vec::new();
    list_into(&opened, path, &mut folder.folders, &mut |file| {
        files.push(file);
    })?;
    folder.add_files(files);
    Ok(Some(folder))
}

/// Returns every folder of memories, with the names and inodes of its files.
pub(super) fn walk(root: &Path) -> io::Result<Vec<ScannedFolder>> {
    let (mut left, mut walked) = (ROOTS.map(str::to_owned).to_vec(), Vec::new());
    while let Some(path) = left.pop() {
        let Some(folder) = list(root, &path)? else {
            continue;
        };
        left.extend(folder.folders.iter().cloned());
        walked.push(folder);
    }
    Ok(walked)
}

/// Returns every folder of memories, with the signatures of its files.
///
/// One thread lists the folders while another reads the signatures of the listed files; then both read signatures.
pub(super) fn walk_files(root: &Path) -> io::Result<Vec<ScannedFolder>> {
    let looking = StatQueue::default();
    let (mut walked, mut lots) = thread::scope(|scope| {
        let _end = looking.end_on_drop();
        let mut helper = None;
        let (mut left, mut walked) = (ROOTS.map(str::to_owned).to_vec(), Vec::new());
        while let Some(path) = left.pop() {
            let Some(opened) = open(root, &path)? else {
                continue;
            };
            let mut folder = ScannedFolder::empty(&path, &opened)?;
            let opened = Arc::new(opened);
            let mut files = Vec::new();
            list_into(&opened, &path, &mut folder.folders, &mut |file| {
                files.push(file);
                if FILES_PER_BATCH <= files.len() {
                    let files = std::mem::take(&mut files);
                    looking.add(FileBatch {
                        number: walked.len(),
                        folder: Arc::clone(&opened),
                        files,
                    });
                    helper.get_or_insert_with(|| scope.spawn(|| looking.stat_batches()));
                }
            })?;
            looking.add(FileBatch {
                number: walked.len(),
                folder: opened,
                files,
            });
            left.extend(folder.folders.iter().cloned());
            walked.push(folder);
        }
        looking.end();
        let mut lots = looking.stat_batches()?;
        if let Some(helper) = helper {
            lots.extend(helper.join().expect("looking at files does not panic")?);
        }
        Ok::<_, io::Error>((walked, lots))
    })?;
    lots.sort_by_key(|lot| lot.number);
    for lot in lots {
        walked[lot.number].add_files(lot.files);
    }
    Ok(walked)
}

impl ScannedFolder {
    fn empty(path: &str, opened: &OpenFolder) -> io::Result<Self> {
        let modified_ns = opened.modified_ns()?;
        let (files, folders, sums) = (Vec::new(), Vec::new(), FolderSums::default());
        Ok(Self {
            path: path.to_owned(),
            modified_ns,
            files,
            folders,
            sums,
        })
    }

    fn add_files(&mut self, mut files: Vec<ScannedFile>) {
        for file in &files {
            // Entries that are not regular files count with the replaced name, which may differ from the name on disk.
            if file.regular {
                self.sums.add(file.name.to_bytes(), &file.signature);
            } else {
                self.sums.add(file.name().as_bytes(), &file.signature);
            }
        }
        self.files.append(&mut files);
    }
}

/// A batch of files of one folder.
#[derive(Debug)]
struct FileBatch {
    number: usize,
    folder: Arc<OpenFolder>,
    files: Vec<ScannedFile>,
}

/// The queue of batches for which signatures are to be read.
#[derive(Debug, Default)]
struct StatQueue {
    waiting: Mutex<(Vec<FileBatch>, bool)>,
    news: Condvar,
}

impl StatQueue {
    fn add(&self, lot: FileBatch) {
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .push(lot);
        self.news.notify_one();
    }

    /// Marks the queue as complete.
    fn end(&self) {
        self.waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .1 = true;
        self.news.notify_all();
    }

    fn end_on_drop(&self) -> impl Drop + '_ {
        struct StatQueueGuard<'l>(&'l StatQueue);
        impl Drop for StatQueueGuard<'_> {
            fn drop(&mut self) {
                self.0.end();
            }
        }
        StatQueueGuard(self)
    }

    /// Reads the signatures of batches until the queue is complete and empty, and returns these batches.
    fn stat_batches(&self) -> io::Result<Vec<FileBatch>> {
        let mut looked = Vec::new();
        while let Some(mut lot) = self.next() {
            stat_files(&lot.folder, &mut lot.files)?;
            looked.push(lot);
        }
        Ok(looked)
    }

    fn next(&self) -> Option<FileBatch> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waiting = self
            .news
            .wait_while(waiting, |(lots, ended)| lots.is_empty() && !*ended)
            .unwrap_or_else(PoisonError::into_inner);
        waiting.0.pop()
    }
}

/// Calls `each` with every file of memories in a folder, and adds its subfolders to `folders`.
fn list_into(
    opened: &OpenFolder,
    path: &str,
    folders: &mut Vec<String>,
    each: &mut dyn FnMut(ScannedFile),
) -> io::Result<()> {
    opened.each_entry(&mut |name, kind, inode| {
        // The folder of a conversation may have a name with a leading dot.
        let is_hidden = name.to_bytes().starts_with(b".") && path != ENTRIES;
        if is_hidden
            || [b".".as_slice(), b".."].contains(&name.to_bytes())
            || is_excluded(path, name.to_bytes())
        {
            return;
        }
        // A symlink to a folder is never followed, but it must not be treated like an empty folder.
        let leads_to_folder = kind == EntryType::Symlink && opened.leads_to_folder(name);
        if kind == EntryType::Folder {
            folders.extend(name.to_str().ok().map(|name| format!("{path}/{name}")));
        } else if leads_to_folder || name.to_bytes().ends_with(b".md") {
            let signature = FileStat {
                size: 0,
                modified_ns: 0,
                changed_ns: 0,
                inode,
                is_folder: false,
            };
            let regular = kind == EntryType::File && name.to_str().is_ok();
            each(ScannedFile {
                name: name.to_owned(),
                signature,
                regular,
            });
        }
    })
}

/// Returns whether an entry of a conversation is excluded from the index.
fn is_excluded(path: &str, name: &[u8]) -> bool {
    let is_conversation = path
        .strip_prefix(ENTRIES)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    is_conversation && path.matches('/').count() < 2 && EXCLUDED_FOLDERS.contains(&name)
}

/// The wrapping sums of hashes over the files of a folder, or a change of them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct FolderSums {
    /// The sum over the names and inodes.
    pub(super) names: u64,
    /// The sum over the names and signatures.
    pub(super) signatures: u64,
}

impl FolderSums {
    /// Adds a file.
    pub(super) fn add(&mut self, name: &[u8], signature: &FileStat) {
        let bits = name_hash(name, signature.inode);
        self.names = self.names.wrapping_add(bits);
        self.signatures = self.signatures.wrapping_add(stat_hash(bits, signature));
    }

    pub(super) fn subtract(&mut self, name: &[u8], signature: &FileStat) {
        let bits = name_hash(name, signature.inode);
        self.names = self.names.wrapping_sub(bits);
        self.signatures = self.signatures.wrapping_sub(stat_hash(bits, signature));
    }
}

/// Returns the summand of a file in the sum of the names of its folder.
fn name_hash(name: &[u8], inode: u64) -> u64 {
    mix(hash_bytes(NAME_SEED, name) ^ inode)
}

/// Returns the summand of a file in the sum of the signatures of its folder.
fn stat_hash(name_bits: u64, signature: &FileStat) -> u64 {
    let state = mix(name_bits ^ signature.size);
    let state = mix(state ^ signature.modified_ns.cast_unsigned());
    mix(state ^ signature.changed_ns.cast_unsigned())
}

/// Opens a folder without following symlinks below the home.
fn open(root: &Path, path: &str) -> io::Result<Option<OpenFolder>> {
    let error = match OpenFolder::open(root, path) {
        Ok(folder) => return Ok(Some(folder)),
        Err(error) => error,
    };
    match error.kind() {
        io::ErrorKind::NotFound => Ok(None),
        kind if kind == io::ErrorKind::NotADirectory || is_symlink_error(&error) => {
            // The listing of the parent folder reports an entry that is not a folder; `categories` has no listed parent.
            if path != CATEGORIES {
                return Ok(None);
            }
            Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                format!("{path} is not a folder, or is a symlink"),
            ))
        }
        kind => Err(io::Error::new(kind, format!("{path}: {error}"))),
    }
}

fn stat_files(folder: &OpenFolder, files: &mut [ScannedFile]) -> io::Result<()> {
    for file in files.iter_mut().filter(|file| file.regular) {
        // A file that was deleted after the listing has a signature with only the inode, which matches no file.
        if let Some(found) = folder.stat(&file.name)? {
            file.signature = found;
        }
    }
    Ok(())
}
