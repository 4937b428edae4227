//! The backends with actions that are tools: notes, banks and topics.

use std::sync::{Arc, LazyLock, OnceLock};

use memory_core::Tool;

use super::action::Run;
use super::{Action, Backend, Field, Kind};
use crate::tools;

/// A backend with the tools of one prefix as actions.
struct Shape {
    name: &'static str,
    description: &'static str,
    /// The prefix of the tool names.
    prefix: &'static str,
    /// The description of the field with the folder of an instance.
    folder: &'static str,
}

const SHAPES: [Shape; 3] = [
    Shape {
        name: "notes",
        description: "Memories: notes that are searched, linked and refined",
        prefix: "memory_",
        folder: "The home folder of the memories; default: that of this program",
    },
    Shape {
        name: "bank",
        description: "JSON values under keys, with jq queries",
        prefix: "bank_",
        folder: "The folder of the banks; default: the configured one",
    },
    Shape {
        name: "topic",
        description: "Markdown files by topic, with an index short enough for every prompt",
        prefix: "topic_",
        folder: "The folder of the topics; default: that of the project",
    },
];

/// Returns the backends.
pub(super) fn backends() -> Vec<Backend> {
    SHAPES.iter().map(backend).collect()
}

/// The tools with their schemas, created once.
static TOOLS: LazyLock<Vec<Arc<dyn Tool>>> = LazyLock::new(tools::all);

fn backend(shape: &Shape) -> Backend {
    let dir = Field {
        name: "dir",
        description: shape.folder,
        kind: Kind::Path,
        required: false,
        secret: false,
        default: None,
        shown_when: None,
    };
    let action = |tool: &'static Arc<dyn Tool>| {
        let name = tool.name().strip_prefix(shape.prefix)?;
        let (description, parameters, effect) = (tool.description(), tool.parameters(), tool.effect());
        Some(Action { name, description, parameters, effect, run: Run::Tool(tool.name()) })
    };
    Backend {
        name: shape.name,
        description: shape.description,
        fields: vec![dir],
        actions: TOOLS.iter().filter_map(action).collect(),
        schemas: OnceLock::new(),
    }
}
