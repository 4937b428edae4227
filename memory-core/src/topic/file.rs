//! Operations on any file in a folder of topics, for programs that work with files and not with topics.
//!
//! A Markdown file at the top level of the folder is a topic, no matter which program created it. All other files get
//! the same path checks, trash and undo, but they are not listed in the index.

use super::update::{match_line_breaks, replace_once};
use super::write::{check_text, refuse_new_secrets};
use super::{PathEntry, TopicChange, TopicError, TopicName, TopicPath, TopicText, Topics};
use crate::secret::Checked;
use crate::{SecretPolicy, Verb};

/// Returns the text of a file, or `None` if it does not exist. Reading a topic counts as a use.
///
/// # Errors
/// If the file cannot be read as text.
pub fn read(topics: &Topics, path: &TopicPath) -> Result<Option<String>, TopicError> {
    let found = topics.store.text(path)?;
    if let (Some(_), Some(name)) = (&found, TopicName::from_path(path)) {
        topics.store.count_use(&name, topics.clock.now());
    }
    Ok(found.map(|found| found.text))
}

/// Returns all files and folders below `folder` that are not hidden, or `None` if it does not exist.
///
/// Without `folder` it lists the whole folder of topics.
///
/// # Errors
/// If the folder cannot be read.
pub fn entries(
    topics: &Topics,
    folder: Option<&TopicPath>,
) -> Result<Option<Vec<PathEntry>>, TopicError> {
    topics.store.entries(folder)
}

/// Creates a file with this text.
///
/// # Errors
/// [`TopicError::Taken`] if the file exists; if the text contains a credential; or a disk error.
pub fn create(
    topics: &Topics,
    path: &TopicPath,
    text: &str,
    secrets: SecretPolicy,
) -> Result<(), TopicError> {
    path.refuse_index()?;
    check_text(text)?;
    let text = Checked::new(text.to_owned(), [path.as_str()], secrets)?;
    let mut decide = |former: Option<&TopicText>| match former {
        Some(_) => Err(TopicError::Taken {
            name: path.to_string(),
            other: None,
        }),
        None => Ok(TopicChange::Text(text.clone())),
    };
    topics
        .store
        .change(path, &topics.begin(Verb::Write)?, &mut decide)
        .map(drop)
}

/// Replaces `old` by `new` in a file; `old` must occur exactly once.
///
/// Returns the new text, and the line in which the new passage starts, counted from 1.
///
/// # Errors
/// [`TopicError::NotFound`], [`TopicError::Absent`], [`TopicError::Twice`]; if `new` adds a credential; or a disk
/// error.
pub fn replace(
    topics: &Topics,
    path: &TopicPath,
    old: &str,
    new: &str,
    secrets: SecretPolicy,
) -> Result<(String, usize), TopicError> {
    path.refuse_index()?;
    let mut done = (String::new(), 1);
    let mut decide = |former: Option<&TopicText>| {
        let former = former.ok_or_else(|| TopicError::not_found(path.as_str()))?;
        let (next, line) = replace_once(path, &former.text, old, new)?;
        let next = refuse_new_secrets(&former.text, next, secrets)?;
        done = (next.to_string(), line);
        Ok(if *next == former.text {
            TopicChange::Keep
        } else {
            TopicChange::Text(next)
        })
    };
    topics
        .store
        .change(path, &topics.begin(Verb::Update)?, &mut decide)?;
    Ok(done)
}

/// Inserts `text` after the first `behind` lines of a file, with the line breaks of the file.
///
/// The inner error is the number of lines of the file if that is less than `behind`; the file is then unchanged.
///
/// # Errors
/// [`TopicError::NotFound`]; if the text adds a credential; or a disk error.
pub fn insert(
    topics: &Topics,
    path: &TopicPath,
    behind: usize,
    text: &str,
    secrets: SecretPolicy,
) -> Result<Result<(), usize>, TopicError> {
    path.refuse_index()?;
    let mut too_few = None;
    let mut decide = |former: Option<&TopicText>| {
        let former = &former
            .ok_or_else(|| TopicError::not_found(path.as_str()))?
            .text;
        too_few = None;
        let Some(next) = insert_lines(former, behind, text) else {
            too_few = Some(former.lines().count());
            return Ok(TopicChange::Keep);
        };
        check_text(&next)?;
        let next = refuse_new_secrets(former, next, secrets)?;
        Ok(if *next == *former {
            TopicChange::Keep
        } else {
            TopicChange::Text(next)
        })
    };
    topics
        .store
        .change(path, &topics.begin(Verb::Update)?, &mut decide)?;
    Ok(too_few.map_or(Ok(()), Err))
}

/// Returns `text` with `more` inserted as separate lines after its first `behind` lines.
///
/// Returns `None` if `text` has fewer lines.
fn insert_lines(text: &str, behind: usize, more: &str) -> Option<String> {
    let (lines, more): (Vec<&str>, _) = (
        text.split_inclusive('\n').collect(),
        match_line_breaks(text, more),
    );
    let newline = match_line_breaks(text, "\n");
    if lines.len() < behind {
        return None;
    }
    let (before, after) = lines.split_at(behind);
    let mut next = before.concat();
    if !next.is_empty() && !next.ends_with('\n') {
        next.push_str(&newline);
    }
    next.push_str(&more);
    if !after.is_empty() && !more.is_empty() && !more.ends_with('\n') {
        next.push_str(&newline);
    }
    Some(next + &after.concat())
}

/// Moves a file, or a folder with its contents, to a path that does not exist yet. Undo moves it back.
///
/// # Errors
/// [`TopicError::NotFound`], [`TopicError::Taken`]; if the new name is a credential; or a disk error.
pub fn rename(topics: &Topics, from: &TopicPath, to: &TopicPath) -> Result<(), TopicError> {
    from.refuse_index()?;
    to.refuse_index()?;
    if from != to && from.contains(to) {
        return Err(TopicError::invalid(
            format!("{to} is inside {from}"),
            "choose another target",
        ));
    }
    let to = Checked::new(to, [], SecretPolicy::Refuse)?;
    topics
        .store
        .relocate(from, Some(to), &topics.begin(Verb::Rename)?)
}

/// Moves a file, or a folder with its contents, to the trash. Undo restores it.
///
/// An empty folder is removed without an operation in the history, because there is no content to restore.
///
/// # Errors
/// [`TopicError::NotFound`], or a disk error.
pub fn delete(topics: &Topics, path: &TopicPath) -> Result<(), TopicError> {
    path.refuse_index()?;
    topics
        .store
        .relocate(path, None, &topics.begin(Verb::Delete)?)
}

#[cfg(test)]
mod tests {
    use super::insert_lines;

    #[test]
    fn lines_are_inserted_behind_as_many_as_there_are_and_no_more() {
        assert_eq!(insert_lines("a\nb\n", 0, "x\n").unwrap(), "x\na\nb\n");
        assert_eq!(insert_lines("a\nb\n", 1, "x").unwrap(), "a\nx\nb\n");
        assert_eq!(insert_lines("a\nb", 2, "x").unwrap(), "a\nb\nx");
        assert_eq!(insert_lines("", 0, "x").unwrap(), "x");
        assert_eq!(insert_lines("a\n", 2, "x"), None);
        assert_eq!(
            insert_lines("a\r\nb", 1, "x\ny").unwrap(),
            "a\r\nx\r\ny\r\nb",
            "line breaks are those of the file"
        );
        assert_eq!(insert_lines("a\r\nb", 2, "x").unwrap(), "a\r\nb\r\nx");
    }
}
