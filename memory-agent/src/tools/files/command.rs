//! Parses the commands of the file tool.

use memory_core::ToolError;
use serde::Deserialize;

use super::super::input::invalid;

/// A command with its arguments.
#[derive(Debug)]
pub(super) enum FilesCommand {
    View {
        path: String,
        range: Option<[i64; 2]>,
    },
    Create {
        path: String,
        text: String,
    },
    Replace {
        path: String,
        old: String,
        new: String,
    },
    Insert {
        path: String,
        line: i64,
        text: String,
    },
    Delete {
        path: String,
    },
    Rename {
        from: String,
        to: String,
    },
}

/// The parameters of all commands.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilesInput {
    command: String,
    path: Option<String>,
    view_range: Option<[i64; 2]>,
    file_text: Option<String>,
    old_str: Option<String>,
    new_str: Option<String>,
    insert_line: Option<i64>,
    insert_text: Option<String>,
    old_path: Option<String>,
    new_path: Option<String>,
}

impl FilesInput {
    /// Returns the command if all of its fields are present.
    pub(super) fn parse_command(self) -> Result<FilesCommand, ToolError> {
        let name = self.command.as_str();
        let needed = |field: &str| invalid(format!("the command {name} needs the field {field}"));
        let path = self.path.ok_or_else(|| needed("path"));
        match name {
            "view" => Ok(FilesCommand::View {
                path: path?,
                range: self.view_range,
            }),
            "create" => Ok(FilesCommand::Create {
                path: path?,
                text: self.file_text.ok_or_else(|| needed("file_text"))?,
            }),
            "str_replace" => Ok(FilesCommand::Replace {
                path: path?,
                old: self.old_str.ok_or_else(|| needed("old_str"))?,
                // A missing `new_str` deletes the text.
                new: self.new_str.unwrap_or_default(),
            }),
            "insert" => Ok(FilesCommand::Insert {
                path: path?,
                line: self.insert_line.ok_or_else(|| needed("insert_line"))?,
                text: self.insert_text.ok_or_else(|| needed("insert_text"))?,
            }),
            "delete" => Ok(FilesCommand::Delete { path: path? }),
            "rename" => Ok(FilesCommand::Rename {
                from: self.old_path.ok_or_else(|| needed("old_path"))?,
                to: self.new_path.ok_or_else(|| needed("new_path"))?,
            }),
            other => Err(invalid(format!("unknown command {other}"))),
        }
    }
}
