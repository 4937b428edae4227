//! The log of a daemon.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::text::to_one_line;

use crate::system::{identity_of_file, identity_of_path, owner_only};

/// Maximum size of a log file, in bytes.
const MAX_LOG_BYTES: u64 = 1024 * 1024;

/// Number of rotated files to keep: `daemon.log.1` is the newest.
const MAX_ROTATED_FILES: usize = 3;

/// Maximum length of an event, in characters.
const MAX_EVENT_CHARS: usize = 2000;

/// A log of events, one line each, with time, level and text.
///
/// Write errors are ignored: a daemon must not fail because its log is unavailable.
pub struct EventLog {
    sink: Mutex<Box<dyn Write + Send>>,
}

impl EventLog {
    /// Returns a log that writes to `sink`. Each line is one write.
    pub fn new(sink: Box<dyn Write + Send>) -> Self {
        Self {
            sink: Mutex::new(sink),
        }
    }

    /// Logs an event.
    pub fn info(&self, at: DateTime<Utc>, what: &str) {
        self.write_line(at, "info", what);
    }

    /// Logs a problem.
    pub fn warning(&self, at: DateTime<Utc>, what: &str) {
        self.write_line(at, "warning", what);
    }

    fn write_line(&self, at: DateTime<Utc>, level: &str, what: &str) {
        let what = to_one_line(&redact_file_names(what), MAX_EVENT_CHARS);
        let line = format!(
            "{} {level:<7} {what}\n",
            at.to_rfc3339_opts(SecondsFormat::Secs, true)
        );
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = sink.write_all(line.as_bytes()).and_then(|()| sink.flush());
    }
}

impl std::fmt::Debug for EventLog {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Log").finish_non_exhaustive()
    }
}

/// Removes the names of memory files from a text, because they contain the first words of memories.
///
/// For example, `categories/people/anna-moved-550e8400.md` becomes `categories/people/…`.
fn redact_file_names(text: &str) -> String {
    const END: &str = ".md";
    let mut left = text;
    let mut cleared = String::with_capacity(text.len());
    while let Some(at) = ["categories/", "trash/"]
        .iter()
        .filter_map(|folder| left.find(folder))
        .min()
    {
        let Some(end) = left[at..].find(END).map(|end| at + end) else {
            break;
        };
        let folder = left[at..end].rfind('/').map_or(at, |slash| at + slash + 1);
        cleared.push_str(&left[..folder]);
        cleared.push('…');
        left = &left[end + END.len()..];
    }
    cleared.push_str(left);
    cleared
}

/// A rotated log file: a full file is renamed, and the oldest one is deleted.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    length: u64,
    largest: u64,
}

impl LogFile {
    /// Opens the file at `path` for appending.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_with_limit(path, MAX_LOG_BYTES)
    }

    fn open_with_limit(path: &Path, largest: u64) -> io::Result<Self> {
        let (file, length) = open(path)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            length,
            largest,
        })
    }

    fn rotate(&mut self) -> io::Result<()> {
        for number in (0..MAX_ROTATED_FILES).rev() {
            match fs::rename(self.numbered_path(number), self.numbered_path(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.reopen()
    }

    fn reopen(&mut self) -> io::Result<()> {
        (self.file, self.length) = open(&self.path)?;
        Ok(())
    }

    fn numbered_path(&self, number: usize) -> PathBuf {
        if number == 0 {
            return self.path.clone();
        }
        let mut path = self.path.clone().into_os_string();
        path.push(format!(".{number}"));
        path.into()
    }

    /// Returns whether the file was moved or deleted by another process.
    fn is_gone(&self) -> bool {
        identity_of_path(&self.path).ok() != identity_of_file(&self.file).ok()
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_gone() {
            self.reopen()?;
        }
        if 0 < self.length && self.largest < self.length + bytes.len() as u64 {
            self.rotate()?;
        }
        let written = self.file.write(bytes)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    // A symlink would lead the lines elsewhere, and a named pipe is waited for.
    let is_device = path.parent() == Some(Path::new("/dev"));
    if !is_device && path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
        return Err(io::Error::other("it is no regular file"));
    }
    let file = owner_only(OpenOptions::new().append(true).create(true)).open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_symlink_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (
            folder.path().join("daemon.log"),
            folder.path().join("other"),
        );
        fs::write(&other, "mine").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(LogFile::open(&path).is_err());
        assert_eq!(fs::read(&other).unwrap(), b"mine");
    }

    #[test]
    fn a_log_is_bounded_and_ends_with_what_came_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        let log = EventLog::new(Box::new(LogFile::open_with_limit(&path, 1000).unwrap()));
        for number in 0..1000 {
            log.info(DateTime::UNIX_EPOCH, &format!("event {number}"));
        }
        assert_eq!(
            names(folder.path()),
            ["daemon.log", "daemon.log.1", "daemon.log.2", "daemon.log.3"]
        );
        let mut all = String::new();
        for name in names(folder.path()).iter().rev() {
            let found = fs::metadata(folder.path().join(name)).unwrap();
            assert!(found.len() <= 1000);
            // The portable implementation sets no modes.
            assert!(cfg!(portable_system) || found.permissions().mode() & 0o777 == 0o600);
            all.push_str(&fs::read_to_string(folder.path().join(name)).unwrap());
        }
        let events: Vec<_> = all
            .lines()
            .map(|line| line.rsplit(' ').next().unwrap().parse::<u32>().unwrap())
            .collect();
        assert!(
            events.is_sorted() && events.last() == Some(&999) && 50 < events.len(),
            "{events:?}"
        );
    }

    #[test]
    fn a_log_goes_on_where_it_ended_and_begins_anew_where_it_was_moved_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        for event in ["one", "two"] {
            EventLog::new(Box::new(LogFile::open(&path).unwrap()))
                .info(DateTime::UNIX_EPOCH, event);
        }
        let log = EventLog::new(Box::new(LogFile::open(&path).unwrap()));
        fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        log.warning(DateTime::UNIX_EPOCH, "three");
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(
            text("elsewhere"),
            "1970-01-01T00:00:00Z info    one\n1970-01-01T00:00:00Z info    two\n"
        );
        assert_eq!(text("daemon.log"), "1970-01-01T00:00:00Z warning three\n");
    }

    #[test]
    fn a_line_holds_neither_control_characters_nor_the_names_of_memories() {
        assert_eq!(
            redact_file_names("cannot read categories/people/anna moved-550e8400.md: no"),
            "cannot read categories/people/…: no"
        );
        assert_eq!(
            redact_file_names("categories/a/x.md and trash/2026-05/0a/y.md"),
            "categories/a/… and trash/2026-05/0a/…"
        );
        assert_eq!(
            redact_file_names("cannot list categories/people"),
            "cannot list categories/people"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        EventLog::new(Box::new(LogFile::open(&path).unwrap()))
            .info(DateTime::UNIX_EPOCH, "a\nb\u{1b}[31m");
        assert_eq!(
            fs::read_to_string(path).unwrap(),
            "1970-01-01T00:00:00Z info    a b[31m\n"
        );
    }
}
