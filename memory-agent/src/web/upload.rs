//! Files that a form of the page sends, stored below a folder while they are received.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use hyper::body::Frame;
use memory_core::Code;
use multer::Multipart;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::error::PageError;
use super::guard::CSRF;
use crate::http::allow_upload;

/// The path of the only form that may send files.
pub(super) const UPLOAD_PATH: &str = "/import/files";

/// Maximum total size of the files of a form, in bytes.
const MAX_SIZE: u64 = 4 << 30;

/// Maximum number of files of a form.
const MAX_FILES: usize = 50_000;

/// Maximum depth of the folders of a file.
const MAX_DEPTH: usize = 32;

/// Maximum length of the name of a file or folder, in bytes; most file systems allow 255.
const MAX_NAME: usize = 200;

/// Maximum length of the token at the start of a form, in bytes.
const MAX_TOKEN: usize = 256;

/// Maximum length of the head of a part, or of a part that is not a file, in bytes.
const MAX_HEAD: usize = 1 << 20;

/// A form with files, of which the token was read.
pub(super) struct Upload {
    form: Multipart<'static>,
    /// The number of bytes that were read since the parser returned a part.
    pending: Arc<AtomicUsize>,
}

/// The place of an upload among the extensions of a request, from which the handler takes it.
#[derive(Clone)]
pub(super) struct UploadSlot(Arc<Mutex<Option<Upload>>>);

impl UploadSlot {
    pub(super) fn new(upload: Upload) -> Self {
        Self(Arc::new(Mutex::new(Some(upload))))
    }

    pub(super) fn take(&self) -> Option<Upload> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
    }
}

/// The files that were received.
#[derive(Debug, Default)]
pub(super) struct ReceivedFiles {
    /// Number of files.
    pub(super) count: usize,
    /// The files and folders directly below the folder of the upload.
    pub(super) top: BTreeSet<PathBuf>,
}

/// A step of the reception, which the thread that writes executes.
enum Received {
    File(PathBuf),
    Data(Bytes),
}

impl Upload {
    /// Returns the form in a body, and the token in its first field; `None` if the body is no form with files.
    ///
    /// # Errors
    /// If the first field is not the token.
    pub(super) async fn open(
        parts: &Parts,
        body: Body,
    ) -> Option<Result<(Self, String), PageError>> {
        let kind = parts.headers.get(CONTENT_TYPE)?.to_str().ok()?;
        let boundary = multer::parse_boundary(kind).ok()?;
        allow_upload(&parts.extensions);
        let pending = Arc::new(AtomicUsize::new(0));
        let body = Body::new(PacedBody {
            body,
            is_next: true,
            pending: Arc::clone(&pending),
        });
        let mut form = Multipart::new(body.into_data_stream(), boundary);
        let token = match form.next_field().await {
            Ok(Some(mut field)) if field.name() == Some(CSRF) => {
                let mut token = Vec::new();
                loop {
                    match field.chunk().await {
                        Ok(Some(data)) if token.len() + data.len() <= MAX_TOKEN => {
                            token.extend_from_slice(&data);
                        }
                        Ok(None) => break,
                        Ok(Some(_)) | Err(_) => return Some(Err(broken())),
                    }
                }
                String::from_utf8_lossy(&token).into_owned()
            }
            Ok(_) => String::new(),
            Err(_) => return Some(Err(broken())),
        };
        Some(Ok((Self { form, pending }, token)))
    }

    /// Stores the files below `folder`, each part while it is received.
    ///
    /// # Errors
    /// If the form is cut off or too large, or a file cannot be written.
    pub(super) async fn store(mut self, folder: &Path) -> Result<ReceivedFiles, PageError> {
        let (sender, receiver) = mpsc::channel(8);
        let root = folder.to_owned();
        let writer = spawn_blocking(move || write_files(receiver, &root));
        let count = self.receive(&sender).await;
        drop(sender);
        let written = writer
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error)));
        // If the writer failed, its error is the cause of the other one.
        let top = written.map_err(|error| {
            let message = format!("the files could not be stored: {error}");
            PageError::new(
                Code::Io,
                message,
                "check the space on the disk, and send them again",
            )
        })?;
        Ok(ReceivedFiles { count: count?, top })
    }

    /// Passes the files on, and returns their number.
    async fn receive(&mut self, sender: &mpsc::Sender<Received>) -> Result<usize, PageError> {
        let (mut count, mut size) = (0, 0_u64);
        while let Some(mut field) = self.form.next_field().await.map_err(|_| broken())? {
            let Some(path) = field.file_name().and_then(safe_path) else {
                continue;
            };
            self.pending.store(0, Ordering::Relaxed);
            count += 1;
            if MAX_FILES < count {
                return Err(too_much(&format!("more than {MAX_FILES} files")));
            }
            // A closed channel means that the writer failed, which it reports itself.
            if sender.send(Received::File(path)).await.is_err() {
                return Ok(count);
            }
            while let Some(data) = field.chunk().await.map_err(|_| broken())? {
                self.pending.store(0, Ordering::Relaxed);
                size += data.len() as u64;
                if MAX_SIZE < size {
                    return Err(too_much(&format!("more than {} GB", MAX_SIZE >> 30)));
                }
                if sender.send(Received::Data(data)).await.is_err() {
                    return Ok(count);
                }
            }
        }
        Ok(count)
    }
}

/// A body that is never ready twice in a row.
///
/// The parser of forms reads a body until it is not ready, and holds what it has read in memory. It sets no limit to the head of a
/// part, so the body ends with an error if the parser returns no part for too long.
struct PacedBody {
    body: Body,
    is_next: bool,
    pending: Arc<AtomicUsize>,
}

impl HttpBody for PacedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if !std::mem::replace(&mut self.is_next, true) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let frame = Pin::new(&mut self.body).poll_frame(context);
        self.is_next = frame.is_pending();
        if let Poll::Ready(Some(Ok(part))) = &frame {
            let length = part.data_ref().map_or(0, Bytes::len);
            if MAX_HEAD < self.pending.fetch_add(length, Ordering::Relaxed) + length {
                return Poll::Ready(Some(Err(axum::Error::new(
                    "the head of a part is too long",
                ))));
            }
        }
        frame
    }
}

fn broken() -> PageError {
    PageError::new(
        Code::InvalidInput,
        "the files did not arrive completely, and nothing was imported",
        "send them again",
    )
}

fn too_much(limit: &str) -> PageError {
    PageError::new(
        Code::LimitExceeded,
        format!("these are {limit}, and nothing was imported"),
        "enter the path of the file or folder on this computer instead, which has no limit",
    )
}

/// Writes the files below `root`; returns the files and folders directly below it.
fn write_files(
    mut received: mpsc::Receiver<Received>,
    root: &Path,
) -> io::Result<BTreeSet<PathBuf>> {
    let (mut top, mut file) = (BTreeSet::new(), None::<File>);
    while let Some(step) = received.blocking_recv() {
        match step {
            Received::File(path) => {
                top.extend(path.iter().next().map(|name| root.join(name)));
                file = Some(create_file(root, &path)?);
            }
            Received::Data(data) => {
                if let Some(file) = &mut file {
                    file.write_all(&data)?;
                }
            }
        }
    }
    Ok(top)
}

/// Creates a file; a file with the name of another one gets a number.
fn create_file(root: &Path, path: &Path) -> io::Result<File> {
    let whole = root.join(path);
    if let Some(parent) = whole.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut number = 1;
    let mut place = whole.clone();
    loop {
        match OpenOptions::new().write(true).create_new(true).open(&place) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MAX_FILES => {
                number += 1;
                let part = |part: Option<&std::ffi::OsStr>| {
                    part.unwrap_or_default().to_string_lossy().into_owned()
                };
                let (stem, extension) = (part(whole.file_stem()), part(whole.extension()));
                let dot = if extension.is_empty() { "" } else { "." };
                place = whole.with_file_name(format!("{stem} ({number}){dot}{extension}"));
            }
            opened => return opened,
        }
    }
}

/// Returns the path of a file below the folder of the upload: names only, none of which leads out of it.
fn safe_path(name: &str) -> Option<PathBuf> {
    let names = name.split(['/', '\\']).map(safe_name);
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    // The innermost names tell the most about a file.
    let first = names.len().saturating_sub(MAX_DEPTH);
    (!names.is_empty()).then(|| names[first..].iter().collect())
}

/// Returns the part of a name that a file can have on every system; empty for a name with a meaning of its own.
fn safe_name(name: &str) -> String {
    let is_usual = |letter: &char| !letter.is_control() && !"<>:\"|?*".contains(*letter);
    let mut safe: String = name.chars().filter(is_usual).collect();
    // The extension at the end tells the format.
    safe.drain(..safe.ceil_char_boundary(safe.len().saturating_sub(MAX_NAME)));
    let trimmed = safe.trim().trim_end_matches('.');
    if trimmed.is_empty() {
        String::new()
    } else {
        trimmed.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_path_keeps_its_folders_and_loses_what_leads_elsewhere() {
        for (name, expected) in [
            ("vault/daily/a note.md", Some("vault/daily/a note.md")),
            ("../../etc/passwd", Some("etc/passwd")),
            ("/etc/passwd", Some("etc/passwd")),
            ("C:\\Users\\ada\\notes.zip", Some("C/Users/ada/notes.zip")),
            ("./.obsidian/app.json", Some(".obsidian/app.json")),
            ("a\u{0}b\n.md", Some("ab.md")),
            ("..", None),
            ("", None),
        ] {
            assert_eq!(safe_path(name), expected.map(PathBuf::from), "{name:?}");
        }
    }

    #[test]
    fn a_body_that_is_always_ready_is_read_one_part_at_a_time() {
        let mut body = PacedBody {
            body: Body::from("a file"),
            is_next: true,
            pending: Arc::default(),
        };
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut is_ready = || Pin::new(&mut body).poll_frame(&mut context).is_ready();
        assert_eq!([is_ready(), is_ready(), is_ready()], [true, false, true]);
    }

    #[test]
    fn a_second_file_with_a_name_gets_a_number() {
        let folder = tempfile::tempdir().expect("a folder");
        for expected in ["a.md", "a (2).md", "a (3).md"] {
            create_file(folder.path(), Path::new("a.md")).expect("it is created");
            assert!(folder.path().join(expected).is_file(), "{expected}");
        }
    }

    proptest! {
        #[test]
        fn no_name_leads_out_of_the_folder(name in "[./\\\\a-c:\\x00-\\x1f]{0,40}|.{0,300}") {
            if let Some(path) = safe_path(&name) {
                prop_assert!(path.is_relative());
                prop_assert!(path.components().all(|part| matches!(part, std::path::Component::Normal(_))));
            }
        }
    }
}
