//! What a project is called.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// How many transcripts, and how many lines of each, are asked.
const TRANSCRIPTS: usize = 5;
const LINES: usize = 200;

/// A longer line is passed over: what we look for stands in short ones too.
const LONGEST_LINE: u64 = 1 << 20;

/// The part of a line of a transcript that we look for.
#[derive(Deserialize)]
struct Line {
    cwd: Option<String>,
}

/// Returns the name of the project whose folder in `projects/` this is.
///
/// The folder's own name is the project's path with everything but letters and digits made `-`, which cannot be undone;
/// but transcripts say where they were made. Without one, the folder's name must do.
pub(super) fn name(folder: &Path) -> String {
    let slug = folder.file_name().unwrap_or_default().to_string_lossy();
    let slug = slug.strip_prefix('-').filter(|rest| rest.contains(char::is_alphanumeric)).unwrap_or(&slug).to_owned();
    transcripts(folder).iter().take(TRANSCRIPTS).find_map(|path| working_folder(path)).map_or(slug, |path| last_part(&path))
}

fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let Ok(listed) = fs::read_dir(folder) else { return Vec::new() };
    let is_transcript = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "jsonl")
            && path.symlink_metadata().is_ok_and(|found| found.is_file())
    };
    let mut paths: Vec<_> = listed.filter_map(|item| Some(item.ok()?.path())).filter(is_transcript).collect();
    paths.sort();
    paths
}

/// Returns the first `cwd` that a transcript tells and that has a name.
fn working_folder(transcript: &Path) -> Option<String> {
    let mut reader = BufReader::new(File::open(transcript).ok()?);
    for _ in 0..LINES {
        let mut line = Vec::new();
        if reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST_LINE {
            reader.skip_until(b'\n').ok()?;
            continue;
        }
        let read: Option<Line> = serde_json::from_slice(&line).ok();
        if let Some(path) = read.and_then(|line| line.cwd).filter(|path| !last_part(path).is_empty()) {
            return Some(path);
        }
    }
    None
}

fn last_part(path: &str) -> String {
    let parts: &[char] = if path.contains('/') { &['/'] } else { &['\\'] };
    let part = path.trim_end_matches(parts).rsplit(parts).next().unwrap_or_default();
    part.replace(char::is_control, " ").trim().to_owned()
}
