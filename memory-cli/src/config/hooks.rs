//! Settings of the hooks.

use memory_agent::hook::Point;
use serde_json::Value;

use super::document::Document;
use super::settings::or_plain;
use super::{ConfigError, Layer, Setting};

/// The commands that run as hooks of tool calls.
#[derive(Debug, Clone)]
pub(crate) struct Hooks(Vec<(Point, Setting<Vec<String>>)>);

impl Hooks {
    /// Takes these settings from the document.
    pub(super) fn take(document: &mut Document) -> Result<Self, ConfigError> {
        let points = Point::ALL.into_iter().map(|point| {
            let commands = document.take_list(&key(point), "a shell command or a list of shell commands")?;
            Ok((point, or_plain(commands, Vec::new())))
        });
        points.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the commands with their points, in the order of execution.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (Point, &str)> {
        self.0.iter().flat_map(|(point, commands)| commands.value.iter().map(|command| (*point, command.as_str())))
    }

    /// Returns every key with its value and layer, in file order.
    pub(super) fn all(&self) -> impl Iterator<Item = (String, (Value, Layer))> {
        self.0.iter().map(|(point, commands)| {
            let shown = commands.show(|commands| match commands.as_slice() {
                [] => Value::Null,
                [command] => command.as_str().into(),
                several => several.into(),
            });
            (key(*point), shown)
        })
    }
}

fn key(point: Point) -> String {
    format!("hooks.{}", point.as_str())
}
