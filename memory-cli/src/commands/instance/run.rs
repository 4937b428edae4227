//! The commands on types and actions: `memory instance run`, `backends` and `actions`.

use clap::{Args, Command};
use memory_agent::instance::{ActionCaller, Backend, backend, backends, parse_pairs, render_help};
use memory_agent::json;

use super::common::{parse_instance, read_object, write_json_pieces};
use crate::app::App;
use crate::failure::Failure;
use crate::instances::InstanceRegistry;
use crate::print::{Table, TableColumn};

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
            return app.output.text(&text);
        };
        let (backend, name) = parse_instance(typed)?;
        let action = backend.action(action)?;
        if self.help {
            let text = render_help(backend, action);
            let text = app.output.adapt_commands(&text).into_owned();
            return app.output.text(&text);
        }
        let settings = app.settings()?;
        let book = InstanceRegistry::open(&settings)?;
        let object = self
            .input
            .as_deref()
            .map(|typed| read_object(app, typed))
            .transpose()?;
        let parameters = parse_pairs(&action.parameters, object.as_ref(), &self.params)?;
        let holding = book.open_instance(backend, &name)?;
        let answer = backend.run(action, &holding, &ActionCaller::Person, &parameters)?;
        for warning in &answer.warnings {
            app.output.warn_incomplete(warning)?;
        }
        match answer.more {
            None => app.output.json_answer(&answer.json),
            Some(more) => write_json_pieces(&mut app.output, &answer.json, more),
        }
    }
}

/// List the instance types, or describe one
///
/// JSON: [{type, description, fields, actions}]; with a TYPE only that type, including the schemas of its action parameters
#[derive(Debug, Args)]
pub(super) struct InstanceBackendsArgs {
    /// Instance type to describe
    #[arg(value_name = "TYPE")]
    backend: Option<String>,
}

impl InstanceBackendsArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        if let Some(name) = &self.backend {
            return app
                .output
                .json_answer(&json::backend(backend(name)?).to_string());
        }
        let all = backends();
        if app.output.is_drawn() {
            let mut table = Table::new([
                TableColumn::Whole("TYPE"),
                TableColumn::Text("DESCRIPTION"),
                TableColumn::Text("ACTIONS"),
            ]);
            for backend in all {
                table.push([
                    backend.name,
                    backend.description,
                    &action_names(backend).join(", "),
                ]);
            }
            return app.output.table(&table);
        }
        app.output.json(&json::backends(all))
    }
}

fn action_names(backend: &Backend) -> Vec<&'static str> {
    backend.actions.iter().map(|action| action.name).collect()
}

/// List the actions of an instance type
///
/// `memory instance run TYPE/NAME ACTION --help` shows the fields of an action.
///
/// JSON: [{name, description, parameters}]; parameters is a JSON Schema
#[derive(Debug, Args)]
pub(super) struct InstanceActionsArgs {
    /// The instance type
    #[arg(value_name = "TYPE")]
    backend: String,
}

impl InstanceActionsArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let backend = backend(&self.backend)?;
        if app.output.is_drawn() {
            let mut table = Table::new([
                TableColumn::Whole("ACTION"),
                TableColumn::Text("DESCRIPTION"),
                TableColumn::Text("FIELDS"),
            ]);
            for action in &backend.actions {
                let fields = action.parameters["properties"].as_object();
                let fields: Vec<_> = fields
                    .into_iter()
                    .flatten()
                    .map(|(name, _)| name.as_str())
                    .collect();
                table.push([action.name, action.description, &fields.join(", ")]);
            }
            return app.output.table(&table);
        }
        app.output.json(&json::actions(backend))
    }
}
