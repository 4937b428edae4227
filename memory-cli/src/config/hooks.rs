//! Settings of the hooks.

use memory_agent::hook::HookPoint;
use serde_json::Value;

use super::document::SettingsDocument;
use super::setting::or_default;
use super::{ConfigError, Setting, SettingsLayer};

/// The commands that run as hooks of tool calls.
#[derive(Debug, Clone)]
pub(crate) struct HookSettings(Vec<(HookPoint, Setting<Vec<String>>)>);

impl HookSettings {
    /// Takes these settings from the document.
    pub(super) fn take(document: &mut SettingsDocument) -> Result<Self, ConfigError> {
        let points = HookPoint::ALL.into_iter().map(|point| {
            let commands = document.take_list(
                &hook_key(point),
                "a shell command or a list of shell commands",
            )?;
            Ok((point, or_default(commands, Vec::new())))
        });
        points.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the commands with their points, in the order of execution.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (HookPoint, &str)> {
        self.0.iter().flat_map(|(point, commands)| {
            commands
                .value
                .iter()
                .map(|command| (*point, command.as_str()))
        })
    }

    /// Returns every key with its value and layer, in file order.
    pub(super) fn all(&self) -> impl Iterator<Item = (String, (Value, SettingsLayer))> {
        self.0.iter().map(|(point, commands)| {
            let shown = commands.display(|commands| match commands.as_slice() {
                [] => Value::Null,
                [command] => command.as_str().into(),
                several => several.into(),
            });
            (hook_key(*point), shown)
        })
    }
}

fn hook_key(point: HookPoint) -> String {
    format!("hooks.{}", point.as_str())
}
