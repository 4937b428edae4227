//! Tests of `memory proxy`.

mod bad_input;
mod clients;
mod extraction;
mod foreground;
mod forwarding;
mod keys;
mod loops;
mod principals;
pub(crate) mod process;
mod recall;
mod repeated_requests;
mod standing;
mod storing;
mod tls;
mod undo;
pub(crate) mod upstream;
mod warnings;

use crate::sandbox::Sandbox;

/// Returns the stored texts of a folder in `mem/entries`, in the order of their files.
///
/// An example of `place` is `default/turns/user`.
fn stored_texts(sandbox: &Sandbox, place: &str) -> Vec<String> {
    let folder = sandbox.path("mem/entries").join(place);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        return Vec::new();
    };
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    // Files with the same timestamp are in random order, so the texts decide.
    let text = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("a file");
        text.splitn(3, "---\n")
            .nth(2)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let mut texts: Vec<(String, String)> = names
        .iter()
        .map(|path| {
            (
                path.file_name()
                    .expect("a name")
                    .to_string_lossy()
                    .chars()
                    .take(26)
                    .collect(),
                text(path),
            )
        })
        .collect();
    texts.sort();
    texts.into_iter().map(|(_, text)| text).collect()
}
