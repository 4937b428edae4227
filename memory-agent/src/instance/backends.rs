//! All types of instances: `history`, `kv`, and those whose actions are the tools of notes, banks and topics.

use std::sync::{Arc, LazyLock};

use memory_core::Tool;
use memory_core::instance::InstanceError;
use memory_core::text::to_one_line;

use super::action::ActionHandler;
use super::{Action, Backend, Field, FieldKind, history, kv};
use crate::tools;

/// Returns all types of instances.
pub fn backends() -> &'static [Backend] {
    static BACKENDS: LazyLock<Vec<Backend>> = LazyLock::new(|| {
        [history::backend(), kv::backend()]
            .into_iter()
            .chain(TOOL_BACKENDS.iter().map(tool_backend))
            .collect()
    });
    &BACKENDS
}

/// Returns the type with this name.
///
/// # Errors
/// [`InstanceError::BackendNotFound`].
pub fn backend(name: &str) -> Result<&'static Backend, InstanceError> {
    let found = backends().iter().find(|backend| backend.name == name);
    found.ok_or_else(|| InstanceError::BackendNotFound {
        name: to_one_line(name, 80),
    })
}

/// A backend with the tools of one prefix as actions.
struct ToolBackend {
    name: &'static str,
    description: &'static str,
    /// The prefix of the tool names.
    prefix: &'static str,
    /// The description of the field with the folder of an instance.
    folder: &'static str,
}

const TOOL_BACKENDS: [ToolBackend; 3] = [
    ToolBackend {
        name: "notes",
        description: "Memories: notes that are searched, linked and refined",
        prefix: "memory_",
        folder: "The home folder of the memories; default: that of this program",
    },
    ToolBackend {
        name: "bank",
        description: "JSON values under keys, with jq queries",
        prefix: "bank_",
        folder: "The folder of the banks; default: the configured one",
    },
    ToolBackend {
        name: "topic",
        description: "Markdown files by topic, with an index short enough for every prompt",
        prefix: "topic_",
        folder: "The folder of the topics; default: that of the project",
    },
];

/// The tools with their schemas, created once.
static TOOLS: LazyLock<Vec<Arc<dyn Tool>>> = LazyLock::new(tools::all);

fn tool_backend(shape: &ToolBackend) -> Backend {
    let dir = Field {
        name: "dir",
        description: shape.folder,
        kind: FieldKind::Path,
        required: false,
        secret: false,
        default: None,
        shown_when: None,
    };
    let action = |tool: &'static Arc<dyn Tool>| {
        let name = tool.name().strip_prefix(shape.prefix)?;
        let (description, parameters, effect) =
            (tool.description(), tool.parameters(), tool.effect());
        Some(Action {
            name,
            description,
            parameters,
            effect,
            run: ActionHandler::Tool(tool.name()),
        })
    };
    Backend {
        name: shape.name,
        description: shape.description,
        fields: vec![dir],
        actions: TOOLS.iter().filter_map(action).collect(),
    }
}
