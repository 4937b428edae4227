//! Parses the commands of the file tool.

use memory_core::ToolError;
use schemars::JsonSchema;
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
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::tools) struct FilesInput {
    #[schemars(extend("enum" = ["view", "create", "str_replace", "insert", "delete", "rename"]))]
    command: String,
    /// all commands but rename: /memories, or a file or folder below it
    path: Option<String>,
    /// view: the first and last line, from 1; -1 is the end
    view_range: Option<[i64; 2]>,
    /// create: the content of the file
    file_text: Option<String>,
    #[schemars(description = "str_replace: text that occurs exactly once in the file")]
    old_str: Option<String>,
    #[schemars(description = "str_replace: the replacement")]
    new_str: Option<String>,
    /// insert: number of the line after which the text is inserted; 0 is the start
    insert_line: Option<i64>,
    /// insert: the text to insert
    insert_text: Option<String>,
    /// rename: the current path
    old_path: Option<String>,
    /// rename: the new path
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
