//! The names of projects.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// Maximum number of transcripts, and of lines of each, that are searched.
const MAX_TRANSCRIPTS: usize = 5;
const MAX_LINES: usize = 200;

/// Maximum length of a line in bytes. A longer line is skipped, since `cwd` is in short lines too.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The part of a transcript line that is read.
#[derive(Deserialize)]
struct TranscriptLine {
    cwd: Option<String>,
}

/// Returns the name of the project of this folder in `projects/`.
///
/// The name of the folder is the path of the project with every character except letters and digits replaced by `-`,
/// which cannot be reversed. Transcripts contain the original path. Without a transcript the name of the folder is
/// used.
pub(super) fn name(folder: &Path) -> String {
    let slug = folder.file_name().unwrap_or_default().to_string_lossy();
    let slug = slug.strip_prefix('-').filter(|rest| rest.contains(char::is_alphanumeric)).unwrap_or(&slug).to_owned();
    list_transcripts(folder)
        .iter()
        .take(MAX_TRANSCRIPTS)
        .find_map(|path| working_folder(path))
        .map_or(slug, |path| last_component(&path))
}

fn list_transcripts(folder: &Path) -> Vec<PathBuf> {
    let Ok(listed) = fs::read_dir(folder) else { return Vec::new() };
    let is_transcript = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "jsonl")
            && path.symlink_metadata().is_ok_and(|found| found.is_file())
    };
    let mut paths: Vec<_> = listed.filter_map(|item| Some(item.ok()?.path())).filter(is_transcript).collect();
    paths.sort();
    paths
}

/// Returns the first `cwd` of a transcript that ends in a name.
fn working_folder(transcript: &Path) -> Option<String> {
    let mut reader = BufReader::new(File::open(transcript).ok()?);
    for _ in 0..MAX_LINES {
        let mut line = Vec::new();
        if reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == MAX_LINE_BYTES {
            reader.skip_until(b'\n').ok()?;
            continue;
        }
        let read: Option<TranscriptLine> = serde_json::from_slice(&line).ok();
        if let Some(path) = read.and_then(|line| line.cwd).filter(|path| !last_component(path).is_empty()) {
            return Some(path);
        }
    }
    None
}

fn last_component(path: &str) -> String {
    let parts: &[char] = if path.contains('/') { &['/'] } else { &['\\'] };
    let part = path.trim_end_matches(parts).rsplit(parts).next().unwrap_or_default();
    part.replace(char::is_control, " ").trim().to_owned()
}
