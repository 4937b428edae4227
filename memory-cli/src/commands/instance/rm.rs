//! `memory instance rm`

use clap::Args;
use memory_core::instance::InstanceError;
use serde_json::json;

use super::answer::{instance, put};
use crate::app::App;
use crate::failure::Failure;
use crate::instances::{Book, operation};

/// Move the definition of an instance to trash; what the instance holds stays where it is
///
/// JSON: {type, name, removed}
#[derive(Debug, Args)]
pub(super) struct Rm {
    /// The instance
    #[arg(value_name = "TYPE/NAME")]
    instance: String,
}

impl Rm {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if !self.instance.contains('/') {
            return Err(Failure::usage(format!("{:?} is no TYPE/NAME", self.instance), "`memory instance instances` lists them"));
        }
        let (backend, name) = instance(&self.instance)?;
        let settings = app.settings()?;
        let book = Book::open(&settings, app.environment)?;
        if !book.instances.remove(&backend.name.parse()?, &name, &operation())? {
            let instance = self.instance.clone();
            return Err(match name.as_str() {
                "default" => {
                    let hint = "delete removes a session or a key from it";
                    InstanceError::invalid(
                        format!("{instance} is there without a definition, so that there is none to remove"),
                        hint,
                    )
                }
                _ => InstanceError::InstanceNotFound { instance },
            }
            .into());
        }
        put(&mut app.output, &json!({ "type": backend.name, "name": name.as_str(), "removed": true }).to_string())
    }
}
