//! The commands of the program, one per file.

mod add;
mod agent;
mod backlinks;
mod bank;
mod completions;
mod config;
mod consolidate;
mod conversations;
mod decay;
mod delete;
mod diff;
mod doctor;
mod done;
mod dream;
mod edit;
mod embed;
mod export;
mod hook;
mod import;
mod ingest;
mod install;
mod instance;
mod link;
mod list;
mod log;
mod man;
mod mcp;
mod model;
mod notify;
mod pin;
mod proxy;
mod read;
mod reindex;
mod remind;
mod reminders;
mod resolve_links;
mod restore;
mod search;
mod serve;
mod snooze;
mod stats;
mod status;
mod tag;
mod topic;
mod tour;
mod trash;
mod undo;
mod uninstall;
mod unlink;
mod unpin;
mod upgrade;
mod usage;
mod when;
mod write;

use clap::Subcommand;

use crate::app::App;
use crate::failure::Failure;

/// One command. Their order is that of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Write(write::Write),
    Add(add::Add),
    Conversations(conversations::ConversationsCommand),
    Read(read::Read),
    List(list::List),
    Search(search::Search),
    Delete(delete::Delete),
    Tag(tag::Tag),
    Edit(edit::Edit),
    Link(link::Link),
    Unlink(unlink::Unlink),
    ResolveLinks(resolve_links::ResolveLinks),
    Backlinks(backlinks::Backlinks),
    Remind(remind::Remind),
    Reminders(reminders::Reminders),
    Notify(notify::Notify),
    Done(done::Done),
    Snooze(snooze::Snooze),
    When(when::When),
    Upgrade(upgrade::Upgrade),
    Dream(dream::Dream),
    Decay(decay::Decay),
    Consolidate(consolidate::Consolidate),
    Pin(pin::Pin),
    Unpin(unpin::Unpin),
    Ingest(ingest::Ingest),
    Export(export::Export),
    Import(import::Import),
    Undo(undo::Undo),
    Restore(restore::Restore),
    Trash(trash::Trash),
    Log(log::Log),
    Diff(diff::Diff),
    Bank(bank::Bank),
    Topic(topic::Topic),
    Instance(instance::Instance),
    Embed(embed::Embed),
    Model(model::Model),
    Agent(agent::Agent),
    Mcp(mcp::Mcp),
    Hook(hook::Hook),
    Install(install::Install),
    Uninstall(uninstall::Uninstall),
    Proxy(proxy::Proxy),
    Serve(serve::Serve),
    Status(status::Status),
    Reindex(reindex::Reindex),
    Doctor(doctor::Doctor),
    Stats(stats::Stats),
    Usage(usage::Usage),
    Config(config::Config),
    Tour(tour::Tour),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    /// Returns whether failures are not reported, since the client would take a message for the output.
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self, Self::Hook(_))
    }

    /// Runs the command.
    pub(crate) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match self {
            Self::Write(command) => command.run(app),
            Self::Add(command) => command.run(app),
            Self::Conversations(command) => command.run(app),
            Self::Read(command) => command.run(app),
            Self::List(command) => command.run(app),
            Self::Search(command) => command.run(app),
            Self::Delete(command) => command.run(app),
            Self::Tag(command) => command.run(app),
            Self::Edit(command) => command.run(app),
            Self::Link(command) => command.run(app),
            Self::Unlink(command) => command.run(app),
            Self::ResolveLinks(command) => command.run(app),
            Self::Backlinks(command) => command.run(app),
            Self::Remind(command) => command.run(app),
            Self::Reminders(command) => command.run(app),
            Self::Notify(command) => command.run(app),
            Self::Done(command) => command.run(app),
            Self::Snooze(command) => command.run(app),
            Self::When(command) => command.run(app),
            Self::Upgrade(command) => command.run(app),
            Self::Dream(command) => command.run(app),
            Self::Decay(command) => command.run(app),
            Self::Consolidate(command) => command.run(app),
            Self::Pin(command) => command.run(app),
            Self::Unpin(command) => command.run(app),
            Self::Ingest(command) => command.run(app),
            Self::Export(command) => command.run(app),
            Self::Import(command) => command.run(app),
            Self::Undo(command) => command.run(app),
            Self::Restore(command) => command.run(app),
            Self::Trash(command) => command.run(app),
            Self::Log(command) => command.run(app),
            Self::Diff(command) => command.run(app),
            Self::Bank(command) => command.run(app),
            Self::Topic(command) => command.run(app),
            Self::Instance(command) => command.run(app),
            Self::Embed(command) => command.run(app),
            Self::Model(command) => command.run(app),
            Self::Agent(command) => command.run(app),
            Self::Mcp(command) => command.run(app),
            Self::Hook(command) => {
                command.run(app);
                Ok(())
            }
            Self::Install(command) => command.run(app),
            Self::Uninstall(command) => command.run(app),
            Self::Proxy(command) => command.run(app),
            Self::Serve(command) => command.run(app),
            Self::Status(command) => command.run(app),
            Self::Reindex(command) => command.run(app),
            Self::Doctor(command) => command.run(app),
            Self::Stats(command) => command.run(app),
            Self::Usage(command) => command.run(app),
            Self::Config(command) => command.run(app),
            Self::Tour(command) => command.run(app),
            Self::Completions(command) => command.run(app),
            Self::Man(command) => command.run(app),
        }
    }
}
