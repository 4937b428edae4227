//! The exact texts that the file tool returns.

use memory_core::topic::TopicError;
use memory_core::{Code, ToolError};

use super::super::topic::tool_error;

/// Number of lines that are shown before and after a change.
const CONTEXT_LINES: usize = 2;

pub(super) fn created_text(path: &str) -> String {
    format!("File created successfully at: {path}")
}

pub(super) fn edited_text(path: &str) -> String {
    format!("The file {path} has been edited.")
}

pub(super) fn deleted_text(path: &str) -> String {
    format!("Successfully deleted {path}")
}

pub(super) fn renamed_text(from: &str, to: &str) -> String {
    format!("Successfully renamed {from} to {to}")
}

/// Returns the message after replacing a passage with `new`, which starts on the given line of `text`.
pub(super) fn replaced_text(text: &str, line: usize, new: &str) -> String {
    let last = line + new.matches('\n').count() + CONTEXT_LINES;
    let first = line.saturating_sub(CONTEXT_LINES).max(1);
    let snippet = numbered_lines(text, first, last);
    format!(
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
    )
}

/// Returns a range of lines, each with its number.
pub(super) fn numbered_lines(text: &str, first: usize, last: usize) -> String {
    let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
    let shown = lines
        .skip(first.saturating_sub(1))
        .take((last + 1).saturating_sub(first));
    shown
        .map(|(number, line)| format!("{number:>6}\t{line}"))
        .collect::<Vec<_>>()
        .join("\n")
}

pub(super) fn create_error(path: &str, error: TopicError) -> ToolError {
    match error {
        TopicError::Taken { other: None, .. } | TopicError::IsFolder { .. } => {
            new_error(Code::Conflict, format!("Error: File {path} already exists"))
        }
        error => tool_error(error),
    }
}

pub(super) fn path_error(path: &str, error: TopicError) -> ToolError {
    if is_missing(&error) {
        new_error(
            Code::PathNotFound,
            format!("Error: The path {path} does not exist"),
        )
    } else {
        tool_error(error)
    }
}

pub(super) fn view_error(path: &str) -> ToolError {
    new_error(
        Code::PathNotFound,
        format!("The path {path} does not exist. Please provide a valid path."),
    )
}

pub(super) fn replace_error(path: &str, old: &str, error: TopicError) -> ToolError {
    match error {
        TopicError::Absent { .. } => {
            let message = format!(
                "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            );
            new_error(Code::InvalidInput, message)
        }
        TopicError::Twice { lines, .. } => {
            let lines = lines
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ");
            let message = format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is unique"
            );
            new_error(Code::InvalidInput, message)
        }
        error if is_missing(&error) => new_error(
            Code::PathNotFound,
            format!("Error: The path {path} does not exist. Please provide a valid path."),
        ),
        error => tool_error(error),
    }
}

pub(super) fn rename_error(from: &str, to: &str, error: TopicError) -> ToolError {
    match error {
        TopicError::Taken { other: None, .. } => new_error(
            Code::Conflict,
            format!("Error: The destination {to} already exists"),
        ),
        error => path_error(from, error),
    }
}

pub(super) fn line_error(line: i64, lines: usize) -> ToolError {
    let message = format!(
        "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {lines}]"
    );
    new_error(Code::InvalidInput, message)
}

pub(super) fn range_error([first, last]: [i64; 2], lines: usize) -> ToolError {
    let message = format!(
        "Error: Invalid `view_range` parameter: [{first}, {last}]. It should be within the range of lines of the file: [1, {lines}]"
    );
    new_error(Code::InvalidInput, message)
}

pub(super) fn too_long_error(path: &str) -> ToolError {
    new_error(
        Code::LimitExceeded,
        format!("File {path} exceeds maximum line limit of 999,999 lines."),
    )
}

/// Returns whether there is no file that could be changed; a folder does not count.
fn is_missing(error: &TopicError) -> bool {
    matches!(
        error,
        TopicError::NotFound { .. } | TopicError::IsFolder { .. }
    )
}

fn new_error(code: Code, message: String) -> ToolError {
    ToolError::new(code, message, None)
}
