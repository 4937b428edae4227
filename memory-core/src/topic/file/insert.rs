//! Inserts lines into a file.

use crate::topic::update::match_line_breaks;
use crate::topic::write::{check_text, refuse_new_secrets};
use crate::topic::{TopicChange, TopicError, TopicPath, TopicText, Topics};
use crate::{SecretPolicy, Verb};

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
        let former = &former.ok_or_else(|| TopicError::not_found(path.as_str()))?.text;
        too_few = None;
        let Some(next) = insert_lines(former, behind, text) else {
            too_few = Some(former.lines().count());
            return Ok(TopicChange::Keep);
        };
        check_text(&next)?;
        let next = refuse_new_secrets(former, next, secrets)?;
        Ok(if *next == *former { TopicChange::Keep } else { TopicChange::Text(next) })
    };
    topics.store.change(path, &topics.operation(Verb::Update), &mut decide)?;
    Ok(too_few.map_or(Ok(()), Err))
}

/// Returns `text` with `more` inserted as separate lines after its first `behind` lines.
///
/// Returns `None` if `text` has fewer lines.
fn insert_lines(text: &str, behind: usize, more: &str) -> Option<String> {
    let (lines, more): (Vec<&str>, _) = (text.split_inclusive('\n').collect(), match_line_breaks(text, more));
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
        assert_eq!(insert_lines("a\r\nb", 1, "x\ny").unwrap(), "a\r\nx\r\ny\r\nb", "line breaks are those of the file");
        assert_eq!(insert_lines("a\r\nb", 2, "x").unwrap(), "a\r\nb\r\nx");
    }
}
