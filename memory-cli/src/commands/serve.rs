//! The `memory serve` command.

mod fronts;

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use memory_core::{Code, StoreError};
use memory_dream::schedule::{Done, Past, Rules, Schedule, Stop};
use memory_store::disk::Anchor;
use memory_store::{DaemonLock, FileStore, Freshness, Log, LogFile, Options};
use serde_json::{Value, json};

use self::fronts::Fronts;
use crate::app::{App, Home, KEPT};
use crate::config::Settings;
use crate::daemon::{Bell, Diary, HomeChores, Listener, Report, Signals, Woken, keep, once, told};
use crate::failure::Failure;
use crate::http::{Address, TokenArgs, address};
use crate::moments::span;
use crate::print::{Column, Table};

/// Look after the memories until told to stop
///
/// At every interval reminders that are due are shown, what is over goes to trash, what proved itself is filed, what says the
/// same becomes one, and the embedding model, if one is named, reads what is new. When nobody has written for 5 minutes, 30
/// minutes and 2 hours, it dreams, each time deeper. Once a day it removes from the trash what has been there for longer than
/// the settings say (storage.trash_retention). What other programs change is found within two seconds, however large the
/// store is.
///
/// A home that is missing is made. Agents reach the tools at memory.sock in the home: JSON-RPC, one line each way (`tools/list`, `tools/call`, or the name of
/// a tool as the method). Only programs of the same person are served. --http serves the same and more over HTTP, where the
/// instances topic/default and bank/default use the project in which the daemon is started, if it is in one.
///
/// One process does this for a home; `memory status` says what it did last, and daemon.log in the home tells the story. SIGINT
/// (Ctrl-C) or SIGTERM ends it within 5 seconds (30 where HTTP has requests to answer), a second one at once; nothing is lost either way, and all that it did can be
/// taken back with `memory undo`.
///
/// JSON: {pid, home, log, http?, warning?}, when it begins; with --once {chores: [{name, ending, said?}]}, where `ending` is done, nothing,
/// left_out, stopped or failed
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// How often the memories are looked after, instead of what the settings say (daemon.interval)
    #[arg(long, value_parser = span, value_name = "SPAN")]
    interval: Option<Duration>,
    /// Do what is due, once, and end; for cron and the like
    #[arg(long)]
    once: bool,
    /// Write the log to this file instead of daemon.log in the home; - means the standard error
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Also serve tools, instances and the Model Context Protocol (at /mcp) over HTTP; /openapi.json says what there is
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8717", value_parser = address)]
    #[arg(conflicts_with = "once")]
    http: Option<Address>,
    #[command(flatten)]
    token: TokenArgs,
}

impl Serve {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let root = &settings.root.value;
        if !root.is_dir() {
            let made = DirBuilder::new().recursive(true).mode(0o700).create(root);
            made.map_err(Failure::file(format!("make the home {}", root.display())))?;
        }
        let mut home = app.open_with(&settings)?;
        let pid = std::process::id();
        let _lock = DaemonLock::acquire(home.store.root(), pid)?;
        let (log, log_place) = self.log(home.store.root())?;
        if !self.once {
            home.listen()?;
        }
        let anchor = Anchor::of(home.store.root());
        let (diary, past) = Diary::begin(&home.store, log, pid)?;
        let schedule = self.schedule(&settings, &past);
        let chores = HomeChores::of(&home, &settings, app.environment);
        let signals = Signals::take().map_err(Failure::file("listen to signals"))?;
        diary.info(&format!("memory {} begins, process {pid}", env!("CARGO_PKG_VERSION")));
        let (stop, woken) = (Stop::default(), Woken::default());
        let [bell, ear, end] = [(); 3].map(|()| Arc::new(Bell::default()));
        let token = self.token.token(app.environment)?;
        let open = || Fronts::open(&home, &settings, app.environment, self.http.as_ref().map(|address| (address, token)), &diary);
        let fronts = (!self.once).then(open).transpose()?;
        let http = fronts.as_ref().and_then(Fronts::address).map(|address| format!("http://{address}"));
        let serving = fronts.as_ref().map(Fronts::serving).unwrap_or_default();
        if !self.once {
            let place = app.output.place(root);
            if app.output.is_json() {
                let mut shape = json!({ "pid": pid, "home": place, "log": log_place });
                if let Some(http) = http {
                    shape["http"] = http.into();
                }
                if let Some(why) = fronts.as_ref().and_then(|fronts| fronts.no_socket.as_ref()) {
                    shape["warning"] = format!("there is no socket for agents: {why}").into();
                }
                app.output.json(&shape)?;
            } else {
                if let Some(http) = http {
                    app.output.note(&format!("HTTP is served at {http}, MCP at {http}/mcp"))?;
                }
                if let Some(why) = fronts.as_ref().and_then(|fronts| fronts.no_socket.as_ref()) {
                    app.output.warning(&format!(
                        "there is no socket for agents: {why}; a shorter --root or MEMORY_ROOT helps where it is too long"
                    ))?;
                }
                app.output.note(&format!("looking after {place} as process {pid}; Ctrl-C ends it"))?;
            }
            app.output.flush()?;
        }
        let written = || chores.keep_index_page().and(chores.keep_versions());
        let kept = thread::scope(|scope| {
            let _end = signals.end(&stop, [&bell, &ear, &end]);
            let told = &diary;
            let (own_stop, bells) = (stop.clone(), [&bell, &ear, &end].map(Arc::clone));
            scope.spawn(move || signals.listen(&own_stop, &bells, told, &serving));
            if self.once {
                return Ok(once(schedule, &chores, &diary, &stop));
            }
            let listener = Listener {
                store: &home.store,
                diary: &diary,
                bell: Arc::clone(&ear),
                woken: (&woken, &bell),
                written: &written,
                stop: stop.clone(),
            };
            scope.spawn(move || listener.listen());
            if let Some(fronts) = fronts {
                let end = &end;
                scope.spawn(move || fronts.serve(end, told));
            }
            keep(schedule, &chores, &diary, (&bell, &woken), &stop, anchor.as_ref()).map(|()| Vec::new())
        });
        if let Err(why) = &kept {
            diary.info(&format!("{why}: start `memory serve` again where the home is now"));
        }
        diary.info("memory ends");
        diary.end();
        let reports = kept.map_err(Failure::file("look after the home"))?;
        if self.once { show(&reports, app) } else { Ok(()) }
    }

    fn log(&self, root: &Path) -> Result<(Log, Option<String>), Failure> {
        let place = match &self.log {
            Some(place) if place == Path::new("-") => return Ok((Log::to(Box::new(io::stderr())), None)),
            Some(place) => place.clone(),
            None => root.join("daemon.log"),
        };
        let shown = place.display().to_string();
        let file = LogFile::open(&place).map_err(Failure::file(format!("write to {shown}")))?;
        Ok((Log::to(Box::new(file)), Some(shown)))
    }

    fn schedule(&self, settings: &Settings, past: &Past) -> Schedule {
        let embedding = &settings.embedding;
        let rules = Rules {
            interval: self.interval.unwrap_or(settings.interval.value),
            embeds: embedding.model.value.is_some() || embedding.base_url.value.is_some(),
            purges: settings.trash_retention.value.is_some(),
        };
        Schedule::begin(rules, past)
    }
}

impl Home {
    /// Reopens the store for a process that watches the files.
    ///
    /// The store then relies on notifications to detect edits in place.
    fn listen(&mut self) -> Result<(), Failure> {
        let options = Options { freshness: Freshness::Heard, kept: KEPT, ..Options::default() };
        let store = Arc::new(FileStore::open(self.store.root(), options)?);
        self.services.store = store.clone();
        self.services.history = store.clone();
        self.store = store;
        Ok(())
    }
}

fn show(reports: &[Report], app: &mut App) -> Result<(), Failure> {
    let failures: Vec<Code> = reports.iter().filter_map(|report| report.done.as_ref().err().map(StoreError::code)).collect();
    if app.output.is_json() {
        let chores: Vec<Value> = reports
            .iter()
            .map(|report| {
                let (ending, said) = ending(report);
                let mut chore = json!({ "name": report.chore.as_str(), "ending": ending });
                if let Some(said) = said {
                    chore["said"] = said.into();
                }
                chore
            })
            .collect();
        app.output.json(&json!({ "chores": chores }))?;
    } else {
        let mut table = Table::new([Column::Text("chore"), Column::Text("ending"), Column::Text("what")]);
        for report in reports {
            let (ending, said) = ending(report);
            table.push([report.chore.as_str(), ending, &said.unwrap_or_default()]);
        }
        app.output.table(&table)?;
    }
    failures.first().map_or(Ok(()), |code| Err(Failure::Undone { count: failures.len() as u64, code: *code }))
}

fn ending(report: &Report) -> (&'static str, Option<String>) {
    match &report.done {
        Ok(Done::Nothing) => ("nothing", None),
        Ok(Done::This(what)) => ("done", Some(what.clone())),
        Ok(Done::LeftOut(why)) => ("left_out", Some(why.clone())),
        Ok(Done::Stopped) => ("stopped", None),
        Err(error) => ("failed", Some(told(error))),
    }
}
