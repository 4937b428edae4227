//! Maps paths of the file tool to paths of topics.

use memory_core::topic::TopicPath;
use memory_core::{Code, ToolError};

use super::super::input::tool_error;

/// The folder that the model sees.
pub(super) const ROOT: &str = "/memories";

/// A path below [`ROOT`], in its original and its parsed form.
#[derive(Debug)]
pub(super) struct FilesPath<'p> {
    pub given: &'p str,
    /// The path relative to [`ROOT`]; `None` for the folder itself.
    pub path: Option<TopicPath>,
}

impl<'p> FilesPath<'p> {
    /// Parses a path.
    pub(super) fn of(given: &'p str) -> Result<Self, ToolError> {
        let below = given.strip_prefix(ROOT).map(|below| below.strip_suffix('/').unwrap_or(below));
        let path = match below {
            Some("") => None,
            Some(below) if below.starts_with('/') => Some(below[1..].parse().map_err(tool_error)?),
            _ => {
                let message = format!("Path must start with {ROOT}, got: {}", memory_core::text::to_one_line(given, 80));
                return Err(ToolError::new(Code::PathRefused, message, None));
            }
        };
        Ok(Self { given, path })
    }

    /// Returns the path of a file or folder to be changed, which cannot be the root folder.
    pub(super) fn file(&self) -> Result<&TopicPath, ToolError> {
        let refused = || ToolError::new(Code::PathRefused, format!("{ROOT} itself cannot be changed"), None);
        self.path.as_ref().ok_or_else(refused)
    }
}
