//! The `memory hook` command.

use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use memory_agent::mcp::{FoundProject, ProjectFinder};
use memory_core::text::{to_one_line, token_count};
use memory_core::{
    AgentName, ClientMoment, RecallInterface, RecallRecord, ShownMemories, View,
    build_client_context, count_received, escape_tags, record_recall,
};
use memory_store::{AlreadyShownFile, FileStoreOptions};

use super::hook_event::ClientHookEvent;
use crate::app::App;
use crate::config::{Environment, Settings};
use crate::failure::Failure;
use crate::home::{self, Home};
use crate::install::DEFAULT_HOOK_AGENT;
use crate::project::HomeProjects;
use crate::shared_store::find_database_within;
use crate::topics;

/// Print memories for an agent, as a hook of its client
///
/// `memory install` adds this command to the settings of clients with hooks. It reads the event as JSON from the standard
/// input, and prints relevant memories, fenced as data, in the format of the client that sent the event: Claude Code, Codex,
/// Gemini CLI or Cursor. It finishes within 300 ms or prints nothing; on any error it prints nothing and exits with 0, so the
/// client never waits for it.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    moment: HookCommand,
    /// Name of the agent
    #[arg(long, value_name = "NAME", default_value = DEFAULT_HOOK_AGENT, global = true)]
    agent: AgentName,
}

/// The event of the client.
#[derive(Debug, Clone, Copy, Subcommand)]
enum HookCommand {
    /// Print standing memories and due reminders at the start of a session
    SessionStart,
    /// Print memories relevant to a prompt
    Prompt,
}

/// Timeout of a hook; the client waits for its result. In a debug build, which the tests run on busy machines, it is longer.
const HOOK_TIMEOUT: Duration =
    Duration::from_millis(if cfg!(debug_assertions) { 10_000 } else { 300 });

/// Maximum time for the identification of the repository.
const PROJECT_PATIENCE: Duration = Duration::from_millis(150);

/// Maximum time to connect to a shared database.
const DATABASE_PATIENCE: Duration = Duration::from_millis(100);

/// Maximum number of characters of the reason that a project is withheld.
const MAX_REASON: usize = 400;

/// Maximum number of bytes read from the client.
const MAX_INPUT_BYTES: u64 = 4 << 20;

impl HookArgs {
    #[expect(clippy::unnecessary_wraps, reason = "all commands run alike")]
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let asked = CliHookRequest {
            moment: self.moment,
            agent: self.agent.clone(),
            environment: app.environment.clone(),
            root: app.root.clone(),
        };
        let input = app.output.take_input();
        let (sender, answer) = sync_channel(1);
        let work = move || {
            // The receiver may have timed out.
            let _ = sender.send(asked.answer(input));
        };
        let spawned = thread::Builder::new().name("hook".into()).spawn(work);
        let answered = spawned
            .ok()
            .and_then(|_| answer.recv_timeout(HOOK_TIMEOUT).ok())
            .flatten();
        if let Some(HookAnswer { text, record }) = answered {
            // The client may have closed the pipe; then it received nothing.
            if app
                .output
                .text(&text)
                .and_then(|()| app.output.flush())
                .is_ok()
            {
                record();
            }
        }
        Ok(())
    }
}

/// The answer to an event of a client.
struct HookAnswer {
    text: String,
    /// Records that the client received the answer.
    record: Box<dyn FnOnce() + Send>,
}

struct CliHookRequest {
    moment: HookCommand,
    agent: AgentName,
    environment: Environment,
    root: Option<PathBuf>,
}

impl CliHookRequest {
    fn answer(&self, input: impl Read) -> Option<HookAnswer> {
        let mut said = String::new();
        input.take(MAX_INPUT_BYTES).read_to_string(&mut said).ok()?;
        let event = ClientHookEvent::parse(&said);
        let settings = Arc::new(Settings::load(self.root.as_deref(), &self.environment).ok()?);
        let root = &settings.root.value;
        if !root.is_dir() {
            return None;
        }
        let folder = event
            .folder
            .clone()
            .or_else(|| self.environment.folder.clone());
        let found = folder.map_or(FoundProject::None, |folder| {
            HomeProjects::new(&settings)
                .patience(PROJECT_PATIENCE)
                .find_project(&folder)
        });
        let withheld = match &found {
            FoundProject::Withheld(why) => {
                escape_tags(&format!("No project: {}.\n", to_one_line(why, MAX_REASON)))
            }
            FoundProject::Named(_) | FoundProject::None => String::new(),
        };
        // The database must not take the time of the hook: without it, the memories of the replica are used.
        let _database = find_database_within(&settings, Some(DATABASE_PATIENCE));
        // The client may have written topics since the last event. A failure is repeated by the next command on topics.
        if let Ok(Some(topics)) = topics::open(&settings, None, self.agent.as_str()) {
            let _ = memory_core::topic::record_external_changes(&topics);
        }
        // The built-in model is there at once; loading another one takes longer than the timeout.
        let Home { services, zone, .. } =
            Home::with_settings(Arc::clone(&settings), FileStoreOptions::default()).ok()?;
        let view = View {
            agent: Some(self.agent.clone()),
            project: found.name(),
            ..View::default()
        };
        let unrestricted = services;
        let services = unrestricted.restrict_to(&view);
        let now = services.clock.now().with_timezone(&zone);
        let file = event
            .session
            .as_deref()
            .map(|session| AlreadyShownFile::of(root, session));
        // A new session has received no memories yet, even if its id was used before.
        let is_first = matches!(self.moment, HookCommand::SessionStart);
        let given = file
            .as_ref()
            .filter(|_| !is_first)
            .map_or_else(ShownMemories::default, AlreadyShownFile::load);
        let (moment, tool) = match self.moment {
            HookCommand::SessionStart => (ClientMoment::SessionStart, "session-start"),
            HookCommand::Prompt => (ClientMoment::Prompt(event.prompt.as_deref()?), "prompt"),
        };
        let known = build_client_context(&unrestricted, &view, moment, &given, &now).ok()?;
        let note = if is_first { withheld } else { String::new() };
        let (answer, recalled) = (format!("{}{note}", known.text), known.recalled);
        let at = now.to_utc();
        let record = RecallRecord {
            at,
            agent: self.agent.to_string(),
            session: event.session.clone(),
            project: view.project.clone(),
            interface: RecallInterface::Hook.as_str().to_owned(),
            tool: tool.to_owned(),
            query: event.prompt.clone(),
            memories: recalled,
            tokens: token_count(&answer) as u64,
        };
        let record = move || {
            count_received(&services, &record.memories);
            if let Some(ledger) = home::recall_ledger(&settings) {
                record_recall(ledger.as_ref(), record);
            }
            if let Some(file) = file {
                // If the file cannot be written, the next call repeats these memories.
                let _ = file.save(&given, SystemTime::from(at));
            }
        };
        Some(HookAnswer {
            text: event.output(answer),
            record: Box::new(record),
        })
    }
}
