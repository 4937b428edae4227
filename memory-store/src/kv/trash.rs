//! What values were before.

use memory_core::instance::kv::ValueKey;
use memory_core::instance::{InstanceError, InstanceOperation};
use serde::Serialize;

use crate::disk::{LateDisk, append_line};
use crate::history::{no_folder, refused};

/// The longest value that is kept within a line, in bytes.
const SHORT: usize = 64 * 1024;

/// One change of one value.
#[derive(Debug, Serialize)]
struct Line<'a> {
    at: String,
    operation: &'a str,
    key: &'a str,
    /// What the value was.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    /// The file that holds what it was, if it is long or no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
}

/// Keeps what a value was before it is set or removed, durably.
pub(super) fn keep(trash: &LateDisk, key: &ValueKey, former: &[u8], operation: &InstanceOperation) -> Result<(), InstanceError> {
    let disk = trash.made().map_err(no_folder(trash.root()))?;
    let month = format!("trash/{}", operation.at.format("%Y-%m"));
    let path = format!("{month}.jsonl");
    let file = format!("{month}/{}.value", operation.id);
    let value = str::from_utf8(former).ok().filter(|value| value.len() <= SHORT);
    let kept = if value.is_some() {
        Ok(())
    } else {
        disk.write(&file, former).and_then(|()| disk.sync_file(&file)).and_then(|()| disk.sync_folder(&month))
    };
    kept.map_err(|error| refused(&file, error))?;
    let line = Line {
        at: operation.at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true),
        operation: operation.id.as_str(),
        key: key.as_str(),
        value,
        file: value.is_none().then_some(file.as_str()),
    };
    let line = serde_json::to_vec(&line).expect("strings have a JSON form");
    append_line(disk, &path, &line).map_err(|error| refused(&path, error))
}
