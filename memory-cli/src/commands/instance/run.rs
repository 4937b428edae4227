//! The `memory instance run` command.

use clap::{Args, Command};
use memory_agent::instance::{ActionCaller, parse_pairs, render_help};

use super::common::{parse_instance, read_object, write_json, write_json_pieces};
use crate::app::App;
use crate::failure::Failure;
use crate::instances::InstanceRegistry;

/// Run an action of an instance
///
/// `memory instance run history append -p session=s1 -p role=user -p content=hi` appends a message to a session of
/// history/default, and `memory instance run history read -p session=s1 -p 'role!=summary' -p limit=20 -p tail=true` reads
/// the last messages.
///
/// JSON: the result of the action
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(super) struct InstanceRunArgs {
    /// The instance, as TYPE/NAME; a TYPE alone means TYPE/default
    #[arg(required_unless_present = "help", value_name = "TYPE/NAME")]
    instance: Option<String>,
    /// The action
    #[arg(required_unless_present = "help")]
    action: Option<String>,
    /// Field of the action; repeatable
    ///
    /// Separate list items with commas. FIELD!=VALUE is short for not_FIELD=VALUE.
    #[arg(short, long = "param", value_name = "FIELD=VALUE")]
    params: Vec<String>,
    /// All fields as a JSON object; @FILE reads a file, - the standard input
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// Print help, for an action if specified
    #[arg(short, long)]
    help: bool,
}

impl InstanceRunArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let (Some(typed), Some(action)) = (&self.instance, &self.action) else {
            let command = Self::augment_args(Command::new("run").bin_name("memory instance run"));
            let text = command.clone().render_long_help();
            let text = app.output.adapt_commands(&text.to_string()).into_owned();
            return Ok(app.output.text(&text)?);
        };
        let (backend, name) = parse_instance(typed)?;
        let action = backend.action(action)?;
        if self.help {
            let text = render_help(backend, action);
            let text = app.output.adapt_commands(&text).into_owned();
            return Ok(app.output.text(&text)?);
        }
        let settings = app.settings()?;
        let book = InstanceRegistry::open(&settings)?;
        let object = self.input.as_deref().map(|typed| read_object(app, typed)).transpose()?;
        let parameters = parse_pairs(&action.parameters, object.as_ref(), &self.params)?;
        let holding = book.open_instance(backend, &name)?;
        let answer = backend.run(action, &holding, &ActionCaller::Person, &parameters)?;
        for warning in &answer.warnings {
            app.output.warn_incomplete(warning)?;
        }
        match answer.more {
            None => write_json(&mut app.output, &answer.json),
            Some(more) => write_json_pieces(&mut app.output, &answer.json, more),
        }
    }
}
