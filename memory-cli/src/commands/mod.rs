//! The commands of the program, one subject per file.

mod add;
mod agent;
mod bank;
pub(crate) mod config;
mod conversations;
mod delete;
mod diff;
mod doctor;
mod edit;
mod embed;
pub(crate) mod export;
mod export_folder;
mod export_lines;
mod hook;
mod hook_event;
pub(crate) mod import;
mod inbox;
pub(crate) mod ingest;
mod init;
mod install;
mod instance;
mod link;
mod list;
mod log;
mod man;
mod migrate;
mod model;
mod notify;
mod output_file;
mod pin;
mod plugin;
mod principal;
mod project;
mod proxy;
mod read;
mod recalls;
mod refine;
mod remind;
mod restore;
mod search;
mod serve;
mod service;
pub(crate) mod session_export;
mod shared;
mod shutdown_signal;
mod stats;
mod status;
mod tag;
mod topic;
mod tour;
mod trash;
mod ui;
mod undo;
mod upgrade;
mod usage;
pub(crate) mod welcome;
mod when;
mod write;

use std::path::PathBuf;

use clap::{Args, Command, Parser, Subcommand};

use crate::app::App;
use crate::failure::Failure;
use crate::print::ColorChoice;

/// The memory of all your AI agents, as plain files on your own disk
#[derive(Debug, Parser)]
#[command(
    name = "memory",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: CliCommand,
    #[command(flatten)]
    pub globals: Globals,
}

/// The flags that every command has.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Globals {
    /// Use this home folder for the memories [default: MEMORY_ROOT, else ~/.memory]
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Print output as JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Check every file for changes, and fail if a shared database is unreachable
    #[arg(long, global = true)]
    pub fresh: bool,
    /// Color the output: auto, always or never
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide_possible_values = true
    )]
    pub color: ColorChoice,
    /// Print only the result and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// Defines [`CliCommand`] with a variant for each command.
macro_rules! commands {
    ($($variant:ident($args:ty)),* $(,)?) => {
        /// One command. Their order is that of the help.
        ///
        /// The arguments of a command are defined when it is used: defining those of all commands takes a third of the start.
        #[derive(Debug, Subcommand)]
        #[command(defer = true)]
        pub(crate) enum CliCommand {
            $($variant($args),)*
        }

        impl CliCommand {
            /// Runs the command.
            pub(crate) fn run(&self, app: &mut App) -> Result<(), Failure> {
                match self {
                    $(Self::$variant(command) => command.run(app),)*
                }
            }

            /// Defines the command with this name, with its arguments.
            pub(crate) fn define(name: &str) -> Command {
                // The program parses one command line and ends, so the name may live as long as it.
                let command = Command::new(&*name.to_owned().leak());
                $(if is_name_of(name, stringify!($variant)) {
                    return <$args as Args>::augment_args(command);
                })*
                command
            }
        }
    };
}

commands! {
    Write(write::WriteArgs),
    Conversations(conversations::ConversationsArgs),
    Read(read::ReadArgs),
    List(list::ListArgs),
    Search(search::SearchArgs),
    Delete(delete::DeleteArgs),
    Tag(tag::TagArgs),
    Edit(edit::EditArgs),
    Link(link::LinkArgs),
    Remind(remind::RemindArgs),
    Notify(notify::NotifyArgs),
    When(when::WhenArgs),
    Inbox(inbox::InboxArgs),
    Tidy(refine::TidyArgs),
    Pin(pin::PinArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Undo(undo::UndoArgs),
    Restore(restore::RestoreArgs),
    Trash(trash::TrashArgs),
    Log(log::LogArgs),
    Why(recalls::WhyArgs),
    Bank(bank::BankArgs),
    Topic(topic::TopicArgs),
    Project(project::ProjectArgs),
    Instance(instance::InstanceArgs),
    Embed(embed::EmbedArgs),
    Model(model::ModelArgs),
    Agent(agent::AgentArgs),
    Mcp(agent::McpArgs),
    Hook(hook::HookArgs),
    Install(install::InstallArgs),
    Uninstall(install::UninstallArgs),
    Plugin(plugin::PluginArgs),
    Proxy(proxy::ProxyArgs),
    Daemon(service::DaemonArgs),
    Ui(ui::UiArgs),
    Status(status::StatusArgs),
    Reindex(doctor::ReindexArgs),
    Doctor(doctor::DoctorArgs),
    Stats(stats::StatsArgs),
    Usage(usage::UsageArgs),
    Shared(shared::SharedArgs),
    Config(config::ConfigArgs),
    Tour(tour::TourArgs),
    Completions(man::CompletionsArgs),
    Man(man::ManArgs),
}

impl CliCommand {
    /// Returns whether failures are not reported, since the client would take a message for the output.
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self, Self::Hook(_))
    }
}

/// Prints a note, except in JSON mode.
fn print_note(app: &mut App, note: &str) -> Result<(), Failure> {
    if app.output.is_json() {
        Ok(())
    } else {
        app.output.note(note)
    }
}

/// Returns whether `name`, such as `list`, is that of a variant, such as `List`.
fn is_name_of(name: &str, variant: &str) -> bool {
    name.split('-')
        .flat_map(|word| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|first| first.to_ascii_uppercase())
                .into_iter()
                .chain(letters)
        })
        .eq(variant.chars())
}
