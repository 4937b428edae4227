//! Which commands are asked when agents call tools.

use memory_agent::hook::Point;
use serde_json::Value;

use super::document::Document;
use super::settings::or_plain;
use super::{ConfigError, Layer, Setting};

/// Which commands are asked when agents call tools.
#[derive(Debug, Clone)]
pub(crate) struct Hooks(Vec<(Point, Setting<Vec<String>>)>);

impl Hooks {
    /// Takes them out of the file.
    pub(super) fn take(document: &mut Document) -> Result<Self, ConfigError> {
        let points = Point::ALL.into_iter().map(|point| {
            let commands = document.take_list(&key(point), "a command of the shell, or a list of them")?;
            Ok((point, or_plain(commands, Vec::new())))
        });
        points.collect::<Result<_, _>>().map(Self)
    }

    /// Iterates over the commands, each with the point at which it is asked, in the order in which they are.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (Point, &str)> {
        self.0.iter().flat_map(|(point, commands)| commands.value.iter().map(|command| (*point, command.as_str())))
    }

    /// Returns every key with its value and where that comes from, in the order of the file.
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
