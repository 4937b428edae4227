//! The command-line interface.

mod aliases;
mod command_line;
mod complete;
mod guides;
mod help;
mod typed_words;
mod usage;

use std::ffi::OsString;
use std::io;

use clap::{Args, FromArgMatches};
use command_line::CommandLine;

use crate::allocator;
use crate::app::App;
use crate::commands::{Cli, Globals, welcome};
use crate::config::Environment;
use crate::jq_process;
use crate::print::{Output, ProgramName, Streams};
use crate::report;
use crate::report::ExitCode;
use crate::versions;

/// Runs the program `memory` with the arguments, the environment and the streams of this process.
///
/// It must be called before the process starts a thread.
pub fn run() -> std::process::ExitCode {
    // Failures to disable core dumps are ignored.
    let _ = memory_store::system::disable_core_dumps();
    allocator::limit_arenas();
    allocator::prefault_heap();
    let mut environment = Environment::from_process();
    environment.program = std::env::current_exe().ok();
    run_command(
        std::env::args_os().collect(),
        &environment,
        Streams::from_process(),
    )
    .into()
}

/// Runs the program with these arguments, without input and output, and returns whether it succeeded; for tests.
#[doc(hidden)]
pub fn run_silently(arguments: &[&str], environment: &Environment) -> bool {
    let streams = Streams {
        input: Box::new(io::empty()),
        input_is_terminal: false,
        has_waiting_input: || false,
        out: Box::new(io::sink()),
        out_width: None,
        err: Box::new(io::sink()),
        err_is_terminal: false,
        err_width: None,
    };
    let arguments = ["memory"].iter().chain(arguments);
    let code = run_command(
        arguments.map(OsString::from).collect(),
        environment,
        streams,
    );
    matches!(code, ExitCode::Done)
}

/// Parses the arguments and runs the command; the first argument is the program itself.
fn run_command(
    mut arguments: Vec<OsString>,
    environment: &Environment,
    streams: Streams,
) -> ExitCode {
    if jq_process::is_child(&arguments) {
        return if jq_process::serve_child().is_ok() {
            ExitCode::Done
        } else {
            ExitCode::Failed
        };
    }
    if let Some((root, end)) = versions::is_child(&arguments) {
        versions::commit_when_idle(&root, &end);
        return ExitCode::Done;
    }
    if let Some(answer) = complete::answer_script(&arguments, environment) {
        let mut streams = streams;
        // A shell that no longer reads needs no candidates.
        let _ = streams
            .out
            .write_all(answer.as_bytes())
            .and_then(|()| streams.out.flush());
        return ExitCode::Done;
    }
    let program = arguments.first().map_or(ProgramName::Memory, |first| {
        ProgramName::from_first_argument(first)
    });
    if let (Some(command), Some(first)) = (program.command(), arguments.first_mut()) {
        // Usage lines start with this word; the output replaces it with the name of the running program.
        *first = "memory".into();
        arguments.insert(1, command.into());
    }
    let globals = bare_globals(&arguments).filter(|globals| !globals.json);
    if let Some(globals) =
        globals.filter(|_| program == ProgramName::Memory && streams.out_width.is_some())
    {
        let mut environment = environment.clone();
        environment.root = globals.root.clone().or(environment.root);
        let is_first = welcome::is_first_run(&environment);
        if !is_first || welcome::can_ask(&streams) {
            return run_without_command(is_first, &globals, &environment, streams);
        }
    }
    if let Some(guide) = guides::requested(&arguments) {
        return guides::print(guide, environment, streams);
    }
    let line = CommandLine::from_arguments(arguments);
    let arguments = line.arguments();
    let asks_version =
        matches!(arguments, [_, flag] | [_, _, flag] if flag == "--version" || flag == "-V");
    if program != ProgramName::Memory && asks_version {
        let mut output = Output::new(streams, false, false);
        let version = format!("{} {}", program.name(), env!("CARGO_PKG_VERSION"));
        return match output.line(&version).and_then(|()| output.flush()) {
            Ok(()) => ExitCode::Done,
            Err(error) => report::report_failure(&error, &mut output),
        };
    }
    let cli = match line.parse() {
        Ok(cli) => cli,
        // The client may expect a hook of another version; it would take an error message for the output of the hook.
        Err(error)
            if error.use_stderr() && arguments.get(1).is_some_and(|first| first == "hook") =>
        {
            return ExitCode::Done;
        }
        Err(error) => return usage::print_usage(&error, &line, environment, streams, program),
    };
    let Cli { command, globals } = cli;
    let mut output = Output::new(streams, globals.json, globals.quiet);
    output.set_colors(globals.color, environment.colors);
    output.set_home(environment.home.as_deref());
    output.set_program(program);
    let mut app = App::new(
        environment,
        globals.root,
        globals.fresh,
        output,
        run_command,
    );
    app.former_name = line.former_name();
    let is_silent = command.is_silent();
    let done = command.run(&mut app).and_then(|()| app.output.flush());
    let code = match done {
        Ok(()) => ExitCode::Done,
        Err(_) if is_silent => ExitCode::Done,
        Err(failure) => {
            let code = report::report_failure(&failure, &mut app.output);
            // The error stream may be closed too.
            let _ = app.output.flush();
            code
        }
    };
    app.finish();
    code
}

/// Returns the options of a command line without a command.
fn bare_globals(arguments: &[OsString]) -> Option<Globals> {
    let command = Globals::augment_args(clap::Command::new("memory"))
        .disable_help_flag(true)
        .disable_version_flag(true);
    let matches = command.try_get_matches_from(arguments).ok()?;
    Globals::from_arg_matches(&matches).ok()
}

/// Shows the menu of the first run, and runs the selected command; else shows the state of the home.
fn run_without_command(
    is_first: bool,
    globals: &Globals,
    environment: &Environment,
    streams: Streams,
) -> ExitCode {
    let mut output = Output::new(streams, false, globals.quiet);
    output.set_colors(globals.color, environment.colors);
    output.set_home(environment.home.as_deref());
    if is_first {
        return match welcome::ask(&mut output) {
            Ok(arguments) => run_command(arguments, environment, Streams::from_process()),
            Err(error) => report::report_failure(&error, &mut output),
        };
    }
    let mut app = App::new(environment, None, globals.fresh, output, run_command);
    let shown = welcome::show_overview(&mut app).and_then(|()| app.output.flush());
    let code = match shown {
        Ok(()) => ExitCode::Done,
        Err(failure) => report::report_failure(&failure, &mut app.output),
    };
    app.finish();
    code
}
