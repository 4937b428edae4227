//! The context of a command: its flags, its output and its home.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use memory_agent::event::EventKind;
use memory_agent::{Agent, json};
use memory_core::StoredMemory;
use memory_core::instance::NamedInstance;
use memory_store::system::owner_only;
use memory_store::{FileStoreOptions, Freshness, QueueNotices, SystemClock};

use crate::config::{Environment, Settings};
use crate::failure::Failure;
use crate::home::{Home, KEPT};
use crate::instances;
use crate::print::{Output, Streams, memories};
use crate::project::{HomeProjects, confirm_project, find_foreign_project};
use crate::report::ExitCode;
use crate::shared_store::{QUEUED, proposed_notice};
use crate::topics;
use crate::versions;
use crate::zone::UserTimeZone;

/// The context of a command.
pub(crate) struct App<'a> {
    /// The environment variables and folders of the process.
    pub environment: &'a Environment,
    /// The home of the flag `--root`.
    pub root: Option<PathBuf>,
    /// The output of the command.
    pub output: Output,
    /// Runs another command.
    pub run: RunCommand,
    /// The previous name of the command, if it was typed, and the words that replace it.
    pub former_name: Option<(&'static str, &'static [&'static str])>,
    /// Whether every file is checked for changes first.
    is_fresh: bool,
    settings: Option<Arc<Settings>>,
    /// The home that was opened last, if any.
    opened: Option<Home>,
}

/// A function that runs the program with these arguments, the first of which is the program itself.
pub(crate) type RunCommand = fn(Vec<OsString>, &Environment, Streams) -> ExitCode;

/// Minimum interval between two updates of the index page in a long-running process.
const INDEX_PAGE_INTERVAL: Duration = Duration::from_millis(250);

impl<'a> App<'a> {
    /// Creates the context of a command.
    pub(crate) fn new(
        environment: &'a Environment,
        root: Option<PathBuf>,
        is_fresh: bool,
        output: Output,
        run: RunCommand,
    ) -> Self {
        Self {
            environment,
            root,
            output,
            run,
            former_name: None,
            is_fresh,
            settings: None,
            opened: None,
        }
    }

    /// Returns the current time.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.environment.clock().now()
    }

    /// Returns the settings.
    ///
    /// The first call loads them, and warns about a missing file, unknown keys and API keys that other users can read.
    pub(crate) fn settings(&mut self) -> Result<Arc<Settings>, Failure> {
        if let Some(settings) = &self.settings {
            return Ok(Arc::clone(settings));
        }
        let settings = Settings::load(self.root.as_deref(), self.environment)?;
        self.output
            .set_zone(UserTimeZone::of(settings.timezone.value));
        for key in &settings.unknown {
            let file = self.output.display_path(&settings.file);
            self.output.warning(&format!("{file}: unknown key {key}"))?;
        }
        if self.environment.config.is_some() && !settings.file_exists {
            let file = self.output.display_path(&settings.file);
            self.output.warning(&format!(
                "{file}, which MEMORY_CONFIG names, does not exist; the defaults apply"
            ))?;
        }
        if SystemClock::is_wrong() {
            self.output.warning(&format!(
                "{}, so memories are read and not changed",
                SystemClock::WRONG
            ))?;
        }
        if let Some(found) = self
            .environment
            .folder
            .as_deref()
            .and_then(find_foreign_project)
        {
            self.output.warning(&format!(
                "{found}, so the project is not used; if you trust all who can change it, add it to MEMORY_TRUSTED_FOLDERS or to trusted_folders in {}",
                self.output.display_path(&settings.file)
            ))?;
        }
        let keys = [
            ("llm.api_key", settings.llm.key_is_in_the_file()),
            ("proxy.openai_api_key", settings.proxy.key_is_in_the_file()),
        ];
        for (key, _) in keys
            .into_iter()
            .filter(|(_, is_there)| *is_there && is_accessible_to_others(&settings.file))
        {
            let file = self.output.display_path(&settings.file);
            self.output.warning(&format!(
                "{file} contains an API key ({key}) and other users can read it; restrict access with `chmod 600`"
            ))?;
        }
        Ok(Arc::clone(self.settings.insert(Arc::new(settings))))
    }

    /// Asks a yes-no question, and prints the note `otherwise` after a no.
    ///
    /// # Errors
    /// `unasked` if the standard input is no terminal.
    pub(crate) fn confirm(
        &mut self,
        question: &str,
        otherwise: &str,
        unasked: Failure,
    ) -> Result<bool, Failure> {
        if !self.output.input_is_terminal() {
            return Err(unasked);
        }
        let is_confirmed = self.output.confirm(question)?;
        if !is_confirmed {
            self.output.note(otherwise)?;
        }
        Ok(is_confirmed)
    }

    /// Opens the home that the settings specify.
    pub(crate) fn open(&mut self) -> Result<Home, Failure> {
        let home = self.open_with(FileStoreOptions::default())?;
        self.output.start_waiting("reading the memories");
        Ok(home)
    }

    /// Opens the home that the settings specify, with a file cache for a long-running process.
    pub(crate) fn open_long_running(&mut self) -> Result<Home, Failure> {
        self.open_with(FileStoreOptions {
            kept: KEPT,
            ..FileStoreOptions::default()
        })
    }

    /// Opens the home that the settings specify, with the topics in `dir` or of the current project.
    pub(crate) fn open_with_topics(&mut self, dir: Option<&Path>) -> Result<Home, Failure> {
        let mut home = self.open()?;
        home.services.topics = topics::open(&home.settings, dir, "cli")?;
        dir.map_or(Ok(()), |dir| topics::check_exists(&home.settings, dir))?;
        Ok(home)
    }

    fn open_with(&mut self, options: FileStoreOptions) -> Result<Home, Failure> {
        let settings = self.settings()?;
        let freshness = if self.is_fresh {
            Freshness::Fresh
        } else {
            Freshness::Usual
        };
        if let Some(folder) = self
            .environment
            .folder
            .as_deref()
            .filter(|_| self.output.can_ask())
        {
            let projects = HomeProjects::new(&settings);
            if let Err(error) = confirm_project(&projects, folder, &mut self.output) {
                self.output
                    .warning(&format!("the project of this folder is unknown: {error}"))?;
            }
        }
        let home = Home::with_settings(
            settings,
            FileStoreOptions {
                freshness,
                ..options
            },
        )?;
        Ok(self.opened.insert(home).clone())
    }

    /// Updates the page of due reminders and returns whether it exists. A failure is only a warning.
    pub(crate) fn update_pending_page(&mut self, home: &Home) -> Result<bool, Failure> {
        match home.update_pending_page() {
            Ok(is_there) => Ok(is_there),
            Err(error) => {
                self.output
                    .warning(&format!("cannot write pending.md: {error}"))?;
                Ok(false)
            }
        }
    }

    /// Prints a changed memory: as JSON, or its id and path, and a note.
    pub(crate) fn print_changed(
        &mut self,
        home: &Home,
        stored: &StoredMemory,
        note: &str,
    ) -> Result<(), Failure> {
        if self.output.is_json() {
            let shape = json::memory(stored, home.services.inbox_ttl);
            return self.output.json(&shape);
        }
        memories::print_receipt(&mut self.output, stored.memory.id, &stored.path)?;
        self.output.note(note)
    }

    /// Returns the operation logs of all instances with files. Unreachable instances cause a warning.
    pub(crate) fn instance_logs(
        &mut self,
        settings: &Arc<Settings>,
    ) -> Result<Vec<NamedInstance>, Failure> {
        let (logs, warnings) = instances::file_operation_logs(settings)?;
        warnings
            .iter()
            .try_for_each(|warning| self.output.warning(warning))?;
        Ok(logs)
    }

    /// Prints warnings after the result; the output may be closed.
    pub(crate) fn warn_at_end(&mut self, warnings: impl IntoIterator<Item = String>) {
        for warning in warnings {
            let warned = self.output.warning(&warning);
            let _ = warned.and_then(|()| self.output.flush());
        }
    }

    /// Warns about the work without the database of a shared home.
    fn warn_of_connection(&mut self, home: &Home) {
        let QueueNotices {
            is_queued,
            proposed,
        } = home.store.take_queue_notices();
        let queued = is_queued.then(|| QUEUED.to_owned());
        let proposed = (0 < proposed).then(|| proposed_notice(proposed));
        // The warning about a write includes that the machine is offline.
        let lag = if is_queued || self.output.has_warned_of_result() {
            None
        } else {
            home.store.replica_lag()
        };
        self.warn_at_end(queued.into_iter().chain(proposed).chain(lag));
    }

    /// Names the replacement of a previous name of the command to a person at a terminal, once per home.
    fn hint_at_new_name(&mut self) {
        let is_for_person = self.output.can_ask() && self.output.is_drawn();
        let (Some((name, words)), Some(settings), true) =
            (self.former_name.take(), &self.settings, is_for_person)
        else {
            return;
        };
        let place = settings.root.value.join("index/former-names.txt");
        if fs::read_to_string(&place).is_ok_and(|seen| seen.lines().any(|own| own == name)) {
            return;
        }
        // Without the record, as in a home that cannot be written, the hint is repeated.
        let _ = owner_only(File::options().create(true).append(true))
            .open(place)
            .and_then(|mut file| writeln!(file, "{name}"));
        let hint = format!(
            "`memory {name}` is now `memory {}`; the previous name still works",
            words.join(" ")
        );
        let _ = self.output.note(&hint);
    }

    /// Commits the home to git and updates its index page in the background, if a home was opened and has changed.
    ///
    /// The output is already printed, so errors are not reported, except once those of the last commit.
    pub(crate) fn finish(&mut self) {
        self.hint_at_new_name();
        let Some(home) = self.opened.take() else {
            return;
        };
        self.warn_of_connection(&home);
        let root = home.store.root();
        if let (true, Ok(end)) = (home.settings.git.value, home.store.journal_end()) {
            self.warn_at_end(versions::retry_failed_commit(root, &end));
            versions::commit_in_background(root, &end, self.environment.program.as_deref());
        }
        home.update_index_page();
    }

    /// Updates the index page after tool calls, on a thread that ends with the agent.
    pub(crate) fn spawn_index_page_updates(&self, agent: &Agent) {
        let Some(home) = self.opened.clone() else {
            return;
        };
        let happened = agent.subscribe();
        let work = move || {
            let mut last: Option<Instant> = None;
            for event in happened {
                if matches!(event.kind, EventKind::ToolEnd { .. }) {
                    // Calls during this pause are covered by the next update.
                    let rest = last.map_or(Duration::ZERO, |last| {
                        INDEX_PAGE_INTERVAL.saturating_sub(last.elapsed())
                    });
                    std::thread::park_timeout(rest);
                    if home.update_index_page() {
                        last = Some(Instant::now());
                    }
                }
            }
        };
        // Without a thread, the page is updated at the end.
        let _ = std::thread::Builder::new()
            .name("index page".into())
            .spawn(work);
    }
}

/// Returns whether users other than the owner have access to a file.
fn is_accessible_to_others(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|found| memory_store::system::is_accessible_to_others(&found))
}
