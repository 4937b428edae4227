//! The `memory daemon run` command.

mod signals;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Args;
use memory_agent::json::add_field;
use memory_agent::socket::InheritedListener;
use memory_core::{Code, StoreError};
use memory_dream::schedule::ChoreStatus;
use memory_store::check_writable;
use memory_store::system::{private_folder_builder, replace_process};
use serde_json::{Value, json};

use self::signals::StopSignals;
use crate::app::App;
use crate::args::TokenArgs;
use crate::config::Environment;
use crate::daemon::{ChoreReport, DaemonBuilder, DaemonEnd, OpenedDaemon, ProgramFile, error_text};
use crate::datetime::parse_interval;
use crate::failure::Failure;
use crate::http::{ListenAddress, parse_address};
use crate::print::{Table, TableColumn};
use crate::service::RESTART_EXIT_CODE;

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
/// When the file of the program is replaced, as by an update, the daemon starts again with the new program. `memory daemon
/// install` runs it as a service.
///
/// Only one daemon runs per home; `memory status` shows its last results, and daemon.log in the home its log. SIGINT
/// (Ctrl-C) or SIGTERM stops it within 5 seconds (30 with pending HTTP requests), a second signal at once; nothing is lost
/// in either case. `memory undo` undoes its changes.
///
/// JSON: {pid, home, log, http?, warning?} at startup; with --once {chores: [{name, ending, said?}]}, where `ending` is
/// done, nothing, left_out, stopped or failed
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Interval of the maintenance, at least 1s [default: daemon.interval in the settings]
    #[arg(long, value_parser = parse_interval, value_name = "SPAN")]
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
            let made = private_folder_builder().recursive(true).create(root);
            made.map_err(Failure::file(format!("create the home {}", root.display())))?;
        }
        // A daemon that cannot maintain the home does not start.
        check_writable(root)?;
        let mut builder = DaemonBuilder::new(app.open()?);
        if let Some(interval) = self.interval {
            builder = builder.interval(interval);
        }
        builder = match &self.log {
            Some(place) if place == Path::new("-") => builder.log(io::stderr()),
            Some(place) => builder.log_file(place),
            None => builder,
        };
        if let Some(address) = &self.http {
            builder = builder.listen_at(address.clone());
        }
        if let Some(token) = self.token.token(app.environment)? {
            builder = builder.token(token);
        }
        if app.environment.is_service {
            let listener = take_inherited_listener()
                .map_err(Failure::file("use the socket of the service manager"))?;
            builder = builder.socket(listener);
        }
        let program = app.environment.program.as_deref().and_then(ProgramFile::of);
        let signals = StopSignals::install().map_err(Failure::file("listen for signals"))?;
        let daemon = builder.open(!self.once)?;
        let guard =
            signals.stop_daemon(daemon.stop_handle(), daemon.diary(), daemon.serving_flag());
        if self.once {
            let reports = daemon.run_once();
            drop(guard);
            return print_reports(&reports, app);
        }
        print_start(&daemon, root, app)?;
        if app.environment.is_service {
            report_ready();
        }
        let end = daemon
            .run(guard, program.as_ref())
            .map_err(Failure::file("run the daemon for the home"))?;
        if end == DaemonEnd::ProgramReplaced {
            return Err(restart(app.environment));
        }
        Ok(())
    }
}

/// Returns the socket that the service manager created, if it did.
#[cfg(unix)]
fn take_inherited_listener() -> io::Result<Option<InheritedListener>> {
    listenfd::ListenFd::from_env().take_unix_listener(0)
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "on Unix it is a system call")]
fn take_inherited_listener() -> io::Result<Option<InheritedListener>> {
    Ok(None)
}

/// Reports to the service manager that the daemon is ready.
fn report_ready() {
    // The service manager may not wait for it.
    #[cfg(unix)]
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
}

/// Starts the program again with the same arguments. It returns only if this fails.
fn restart(environment: &Environment) -> Failure {
    if environment.is_service {
        // The service manager starts the new program with the same socket.
        std::process::exit(RESTART_EXIT_CODE);
    }
    let program = environment
        .program
        .as_deref()
        .unwrap_or(Path::new("memory"));
    let error = replace_process(Command::new(program).args(std::env::args_os().skip(1)));
    Failure::file(format!("start the updated program {}", program.display()))(error)
}

fn print_start(daemon: &OpenedDaemon, root: &Path, app: &mut App) -> Result<(), Failure> {
    let (pid, place) = (std::process::id(), app.output.display_path(root));
    let http = daemon
        .http_address()
        .map(|address| format!("http://{address}"));
    if app.output.is_json() {
        let log = daemon.log_file().map(|file| file.display().to_string());
        let mut shape = json!({ "pid": pid, "home": place, "log": log });
        add_field(&mut shape, "http", http);
        if let Some(why) = daemon.no_socket() {
            shape["warning"] = format!("cannot open the socket for agents: {why}").into();
        }
        app.output.json(&shape)?;
    } else {
        if let Some(http) = http {
            app.output
                .note(&format!("serving HTTP at {http}, MCP at {http}/mcp"))?;
        }
        if let Some(why) = daemon.no_socket() {
            app.output.warning(&format!(
                "cannot open the socket for agents: {why}; if its path is too long, use a shorter --root or MEMORY_ROOT"
            ))?;
        }
        app.output.note(&format!(
            "daemon for {place} running as process {pid}; press Ctrl-C to stop"
        ))?;
    }
    app.output.flush()
}

fn print_reports(reports: &[ChoreReport], app: &mut App) -> Result<(), Failure> {
    let failures: Vec<Code> = reports
        .iter()
        .filter_map(|report| report.done.as_ref().err().map(StoreError::code))
        .collect();
    if app.output.is_json() {
        let chores: Vec<Value> = reports
            .iter()
            .map(|report| {
                let (ending, said) = chore_ending(report);
                let mut chore = json!({ "name": report.chore.as_str(), "ending": ending });
                add_field(&mut chore, "said", said);
                chore
            })
            .collect();
        app.output.json(&json!({ "chores": chores }))?;
    } else {
        let mut table = Table::new([
            TableColumn::Text("chore"),
            TableColumn::Text("ending"),
            TableColumn::Text("what"),
        ]);
        for report in reports {
            let (ending, said) = chore_ending(report);
            table.push([report.chore.as_str(), ending, &said.unwrap_or_default()]);
        }
        app.output.table(&table)?;
    }
    let (count, total) = (failures.len() as u64, reports.len() as u64);
    let first = failures.first().copied().unwrap_or(Code::Internal);
    Failure::unless_all_done("chore", count, total, first)
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
