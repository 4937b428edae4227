//! The conversation files of exports: `conversations.json`, or shards such as `conversations-000.json`.

use std::io::Read;
use std::path::Path;

use memchr::memmem;

use crate::archive::{Archive, ArchiveFile, file_name, is_zip};
use crate::json_elements::{JsonElement, JsonElements};
use crate::program_folder::begins_with_json;

/// Bytes at the start of an export that are searched for its distinctive keys.
const PROBE_BYTES: u64 = 1 << 20;

/// The distinctive keys of the exports of all programs.
const KEYS: [&str; 2] = ["\"mapping\"", "\"chat_messages\""];

/// Iterates over the elements of the selected files of an export, with the position of each for reports.
///
/// The entries that must not be read precede them.
pub(crate) fn conversation_elements<'a>(
    archive: &'a Archive,
    is_selected: &'a dyn Fn(&ArchiveFile) -> bool,
) -> impl Iterator<Item = (String, Result<Vec<u8>, String>)> + 'a {
    let problems = archive
        .problems
        .iter()
        .map(|(path, reason)| (path.clone(), Err(reason.clone())));
    let elements = archive.files.iter().filter(|file| is_selected(file));
    problems.chain(elements.flat_map(|file| file_elements(file, "conversation")))
}

/// Iterates over the elements of a file, which are of the kind `label`, with the position of each for reports.
pub(crate) fn file_elements(
    file: &ArchiveFile,
    label: &str,
) -> impl Iterator<Item = (String, Result<Vec<u8>, String>)> + use<> {
    let path = file.path();
    let (elements, failure) = match file.open() {
        Ok(reader) => (Some(JsonElements::of_list(reader)), None),
        Err(reason) => (None, Some((path.clone(), Err(reason)))),
    };
    let label = label.to_owned();
    let place =
        move |element: JsonElement| (format!("{path}, {label} {}", element.number), element.bytes);
    failure
        .into_iter()
        .chain(elements.into_iter().flatten().map(place))
}

/// Returns whether a file has the name of a file with conversations: `conversations.json` or `conversations-000.json`.
pub(crate) fn is_conversation_file(path: &str) -> bool {
    let stem = file_name(path)
        .strip_suffix(".json")
        .and_then(|stem| stem.strip_prefix("conversations"));
    stem.is_some_and(|rest| {
        rest.bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'_'))
    })
}

/// Returns whether the first conversation file of an export contains `key` near its start.
///
/// `None` is returned for an export without conversations.
pub(crate) fn contains_key(archive: &Archive, key: &str) -> Option<bool> {
    let mut start = Vec::new();
    let mut files = archive.files.iter();
    let file = files
        .find(|file| is_conversation_file(&file.name))
        .or(archive.files.first())?;
    file.open()
        .ok()?
        .take(PROBE_BYTES)
        .read_to_end(&mut start)
        .ok()?;
    let contains = |key: &str| memmem::find(&start, key.as_bytes()).is_some();
    KEYS.iter().any(|key| contains(key)).then(|| contains(key))
}

/// Returns whether `path` is an export whose conversations contain `key`.
///
/// A folder is an export only if the files are in the folder itself.
pub(crate) fn is_export(path: &Path, key: &str) -> bool {
    let has_conversations = ["conversations.json", "conversations-000.json"]
        .iter()
        .any(|name| path.join(name).is_file());
    let is_candidate = has_conversations
        || path.is_file() && (is_zip(path).unwrap_or(false) || begins_with_json(path));
    is_candidate
        && Archive::open(path, &is_conversation_file)
            .is_ok_and(|archive| contains_key(&archive, key) == Some(true))
}
