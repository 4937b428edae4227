//! The `memory serve` command.

mod signals;

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use memory_core::{Code, StoreError};
use memory_dream::schedule::{CancellationToken, ChoreStatus, Schedule, ScheduleHistory, ScheduleRules};
use memory_store::disk::DirHandle;
use memory_store::{DaemonLock, EventLog, FileStore, FileStoreOptions, Freshness, LogFile};
use serde_json::{Value, json};

use self::signals::StopSignals;
use crate::app::App;
use crate::args::TokenArgs;
use crate::config::Settings;
use crate::daemon::{
    ChoreReport, DaemonLog, DaemonServers, FileListener, ForeignWriteFlag, HomeChores, error_text, run_chores, run_once,
};
use crate::datetime::parse_duration;
use crate::failure::Failure;
use crate::home::{Home, KEPT};
use crate::http::{ListenAddress, parse_address};
use crate::print::{Table, TableColumn};
use crate::wake_signal::WakeSignal;

/// Run the daemon, which maintains the memories in the background
///
/// At every interval it shows due reminders, moves expired memories to the trash, files memories that are read often,
/// merges duplicates, and computes vectors for new memories if an embedding model is configured. 5 minutes, 30 minutes and
/// 2 hours after the last write, it dreams, one level deeper each time. Once a day it purges files from the trash that are
/// older than storage.trash_retention. Changes by other programs are found within two seconds, at any size of the store.
///
/// A missing home is created. Agents use the tools through memory.sock in the home: JSON-RPC, one line per message
/// (`tools/list`, `tools/call`, or the name of a tool as the method). Only programs of the same user have access. --http
/// serves the same and more over HTTP; its instances topic/default and bank/default use the project in which the daemon is
/// started, if any.
///
/// Only one daemon runs per home; `memory status` shows its last results, and daemon.log in the home its log. SIGINT
/// (Ctrl-C) or SIGTERM stops it within 5 seconds (30 with pending HTTP requests), a second signal at once; nothing is lost
/// in either case. `memory undo` undoes its changes.
///
/// JSON: {pid, home, log, http?, warning?} at startup; with --once {chores: [{name, ending, said?}]}, where `ending` is
/// done, nothing, left_out, stopped or failed
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Interval of the maintenance [default: daemon.interval in the settings]
    #[arg(long, value_parser = parse_duration, value_name = "SPAN")]
    interval: Option<Duration>,
    /// Run the due chores once and exit; for cron
    #[arg(long)]
    once: bool,
    /// Write the log to this file instead of daemon.log in the home; - is the standard error
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Also serve tools, instances and MCP (at /mcp) over HTTP; /openapi.json describes the API
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8717", value_parser = parse_address)]
    #[arg(conflicts_with = "once")]
    http: Option<ListenAddress>,
    #[command(flatten)]
    token: TokenArgs,
}

impl ServeArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let root = &settings.root.value;
        if !root.is_dir() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(root);
            made.map_err(Failure::file(format!("create the home {}", root.display())))?;
        }
        let mut home = app.open()?;
        let pid = std::process::id();
        let _lock = DaemonLock::acquire(home.store.root(), pid)?;
        let (log, log_place) = self.open_log(home.store.root())?;
        if !self.once {
            home.watch_files()?;
        }
        let anchor = DirHandle::of(home.store.root());
        let (diary, past) = DaemonLog::open(&home.store, log, pid)?;
        let schedule = self.build_schedule(&settings, &past);
        let chores = HomeChores::of(&home);
        let signals = StopSignals::install().map_err(Failure::file("listen for signals"))?;
        diary.info(&format!("memory {} started, process {pid}", env!("CARGO_PKG_VERSION")));
        let (stop, woken) = (CancellationToken::default(), ForeignWriteFlag::default());
        let [bell, ear, end] = [(); 3].map(|()| Arc::new(WakeSignal::default()));
        let token = self.token.token(app.environment)?;
        let open = || DaemonServers::open(&home, self.http.as_ref().map(|address| (address, token)), &diary);
        let fronts = (!self.once).then(open).transpose()?;
        let http = fronts.as_ref().and_then(DaemonServers::address).map(|address| format!("http://{address}"));
        let serving = fronts.as_ref().map(DaemonServers::serving_flag).unwrap_or_default();
        if !self.once {
            let place = app.output.display_path(root);
            if app.output.is_json() {
                let mut shape = json!({ "pid": pid, "home": place, "log": log_place });
                if let Some(http) = http {
                    shape["http"] = http.into();
                }
                if let Some(why) = fronts.as_ref().and_then(|fronts| fronts.no_socket.as_ref()) {
                    shape["warning"] = format!("cannot open the socket for agents: {why}").into();
                }
                app.output.json(&shape)?;
            } else {
                if let Some(http) = http {
                    app.output.note(&format!("serving HTTP at {http}, MCP at {http}/mcp"))?;
                }
                if let Some(why) = fronts.as_ref().and_then(|fronts| fronts.no_socket.as_ref()) {
                    app.output.warning(&format!(
                        "cannot open the socket for agents: {why}; if its path is too long, use a shorter --root or MEMORY_ROOT"
                    ))?;
                }
                app.output.note(&format!("daemon for {place} running as process {pid}; press Ctrl-C to stop"))?;
            }
            app.output.flush()?;
        }
        let written = || chores.update_index_page().and(chores.commit_in_background());
        let kept = thread::scope(|scope| {
            let _end = signals.stop_guard(&stop, [&bell, &ear, &end]);
            let told = &diary;
            let (own_stop, bells) = (stop.clone(), [&bell, &ear, &end].map(Arc::clone));
            scope.spawn(move || signals.wait(&own_stop, &bells, told, &serving));
            if self.once {
                return Ok(run_once(schedule, &chores, &diary, &stop));
            }
            let listener = FileListener {
                store: &home.store,
                diary: &diary,
                bell: Arc::clone(&ear),
                woken: (&woken, &bell),
                written: &written,
                stop: stop.clone(),
            };
            scope.spawn(move || listener.run());
            if let Some(fronts) = fronts {
                let end = &end;
                scope.spawn(move || fronts.serve(end, told));
            }
            run_chores(schedule, &chores, &diary, (&bell, &woken), &stop, anchor.as_ref()).map(|()| Vec::new())
        });
        if let Err(why) = &kept {
            diary.info(&format!("{why}: restart `memory serve` at the new location of the home"));
        }
        diary.info("memory stopped");
        diary.record_end();
        let reports = kept.map_err(Failure::file("run the daemon for the home"))?;
        if self.once { print_reports(&reports, app) } else { Ok(()) }
    }

    fn open_log(&self, root: &Path) -> Result<(EventLog, Option<String>), Failure> {
        let place = match &self.log {
            Some(place) if place == Path::new("-") => return Ok((EventLog::new(Box::new(io::stderr())), None)),
            Some(place) => place.clone(),
            None => root.join("daemon.log"),
        };
        let shown = place.display().to_string();
        let file = LogFile::open(&place).map_err(Failure::file(format!("write to {shown}")))?;
        Ok((EventLog::new(Box::new(file)), Some(shown)))
    }

    fn build_schedule(&self, settings: &Settings, past: &ScheduleHistory) -> Schedule {
        let embedding = &settings.embedding;
        let rules = ScheduleRules {
            interval: self.interval.unwrap_or(settings.interval.value),
            embeds: embedding.model.value.is_some() || embedding.base_url.value.is_some(),
            purges: settings.trash_retention.value.is_some(),
        };
        Schedule::new(rules, past)
    }
}

impl Home {
    /// Reopens the store for a process that watches the files.
    ///
    /// The store then relies on notifications to detect edits in place.
    fn watch_files(&mut self) -> Result<(), Failure> {
        let options = FileStoreOptions { freshness: Freshness::Heard, kept: KEPT, ..FileStoreOptions::default() };
        let store = Arc::new(FileStore::open(self.store.root(), options)?);
        self.services.store = store.clone();
        self.services.history = store.clone();
        self.store = store;
        Ok(())
    }
}

fn print_reports(reports: &[ChoreReport], app: &mut App) -> Result<(), Failure> {
    let failures: Vec<Code> = reports.iter().filter_map(|report| report.done.as_ref().err().map(StoreError::code)).collect();
    if app.output.is_json() {
        let chores: Vec<Value> = reports
            .iter()
            .map(|report| {
                let (ending, said) = chore_ending(report);
                let mut chore = json!({ "name": report.chore.as_str(), "ending": ending });
                if let Some(said) = said {
                    chore["said"] = said.into();
                }
                chore
            })
            .collect();
        app.output.json(&json!({ "chores": chores }))?;
    } else {
        let mut table = Table::new([TableColumn::Text("chore"), TableColumn::Text("ending"), TableColumn::Text("what")]);
        for report in reports {
            let (ending, said) = chore_ending(report);
            table.push([report.chore.as_str(), ending, &said.unwrap_or_default()]);
        }
        app.output.table(&table)?;
    }
    failures.first().map_or(Ok(()), |code| Err(Failure::Undone { count: failures.len() as u64, code: *code }))
}

fn chore_ending(report: &ChoreReport) -> (&'static str, Option<String>) {
    match &report.done {
        Ok(ChoreStatus::Nothing) => ("nothing", None),
        Ok(ChoreStatus::This(what)) => ("done", Some(what.clone())),
        Ok(ChoreStatus::LeftOut(why)) => ("left_out", Some(why.clone())),
        Ok(ChoreStatus::Stopped) => ("stopped", None),
        Err(error) => ("failed", Some(error_text(error))),
    }
}
