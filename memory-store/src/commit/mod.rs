//! Doing what was decided: all of it or nothing, also when the power fails in between.
//!
//! The order is what makes it safe. First the journal line that says which file is about to become what; then the new
//! bytes, under temporary names; then the former files get a second name in the trash; then, and only then, the new
//! files take their places; and where a file has moved, its former name goes last. Each of these is durable before the next begins. Whoever dies on the way leaves a line in the
//! journal whose files are partly before and partly after: the next writer sees that and takes the part back.

mod carry_out;
mod recover;
mod status;

pub(crate) use carry_out::{carry_out, is_leftover};
pub(crate) use recover::{recover, roll_back};

use std::borrow::Cow;

use memory_core::{ContentHash, MemoryId, Operation, OperationId, RecordedChange, RecordedFile};

use crate::disk::Disk;

/// The longest name that file systems take, in bytes.
pub(crate) const LONGEST_NAME: usize = 255;

/// What becomes of one file.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub id: MemoryId,
    /// The file as it is now.
    pub before: Option<Former>,
    /// The file as it shall be.
    pub after: Option<Next>,
}

/// A file that is about to go to trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Former {
    pub path: String,
    pub hash: ContentHash,
}

/// A file that is about to be made.
#[derive(Debug, Clone)]
pub(crate) struct Next {
    pub path: String,
    pub bytes: Vec<u8>,
}

/// Says what the journal will say of `steps`, and so where each former file goes in the trash.
pub(crate) fn record(disk: &dyn Disk, operation: &Operation, steps: &[Step]) -> Vec<RecordedChange> {
    let folder = trash_folder(operation);
    let mut taken = std::collections::HashSet::new();
    let mut trash_path = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let place = |number: u32| {
            let mark = format!("{number}-");
            format!("{folder}/{mark}{}", fitting(name, mark.len()))
        };
        let numbered = std::iter::once(format!("{folder}/{name}")).chain((2..).map(place));
        numbered
            .into_iter()
            .find(|place| !matches!(disk.signature(place), Ok(Some(_))) && taken.insert(place.clone()))
            .unwrap_or_else(|| unreachable!("numbers do not run out"))
    };
    steps
        .iter()
        .map(|step| RecordedChange {
            id: step.id,
            before: step.before.as_ref().map(|former| RecordedFile {
                path: former.path.clone(),
                hash: former.hash,
                trash: Some(trash_path(&former.path)),
            }),
            after: step.after.as_ref().map(|next| RecordedFile {
                path: next.path.clone(),
                hash: ContentHash::of_bytes(&next.bytes),
                trash: None,
            }),
            why: operation.reasons.get(&step.id).cloned(),
        })
        .collect()
}

fn trash_folder(operation: &Operation) -> String {
    format!("trash/{}/{}", operation.at.format("%Y-%m"), operation.id)
}

/// Returns the name under which the bytes of `path` wait until they may take its place.
fn waiting_path(path: &str, operation: &OperationId) -> String {
    let end = format!(".{operation}.tmp");
    match path.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/.{}{end}", fitting(name, 1 + end.len())),
        None => format!(".{}{end}", fitting(path, 1 + end.len())),
    }
}

/// Returns a name to which `more` bytes may be added: a long one ends in what tells it from others.
fn fitting(name: &str, more: usize) -> Cow<'_, str> {
    if name.len() + more <= LONGEST_NAME {
        return Cow::Borrowed(name);
    }
    let mark: String = ContentHash::of(name).to_string().chars().take(16).collect();
    let start = &name[..name.floor_char_boundary(LONGEST_NAME - more - 1 - mark.len())];
    Cow::Owned(format!("{start}-{mark}"))
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
