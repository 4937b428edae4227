//! Output for help requests and invalid arguments.

use clap::builder::StyledStr;
use clap::error::ErrorKind;
use memory_agent::json;
use memory_core::secret::without_secrets;

use super::command_line::CommandLine;
use super::help;
use crate::config::Environment;
use crate::print::{ColorChoice, Output, ProgramName, Streams};
use crate::report;
use crate::report::ExitCode;

/// Prints the requested help, or the error in the arguments.
pub(super) fn print_usage(
    error: &clap::Error,
    line: &CommandLine,
    environment: &Environment,
    streams: Streams,
    program: ProgramName,
) -> ExitCode {
    let arguments = line.arguments();
    // Bank commands print JSON if the output is not a terminal.
    let is_bank =
        arguments.get(1).is_some_and(|first| first == "bank") && streams.out_width.is_none();
    let is_json = is_bank
        || arguments
            .iter()
            .take_while(|argument| *argument != "--")
            .any(|argument| argument == "--json");
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    let width = streams.out_width;
    let colored = environment.colors && streams.out_width.is_some();
    let mut output = Output::new(streams, is_json, false);
    output.set_colors(ColorChoice::Auto, environment.colors);
    output.set_program(program);
    let said = if is_help {
        let help = rendered(error, line, width);
        let help = if colored {
            help.ansi().to_string()
        } else {
            help.to_string()
        };
        let help = output.adapt_commands(help.trim_end()).into_owned();
        output.line(&help)
    } else if is_json {
        let (message, hint) = split_message(&usage_message(error, &output), error.kind());
        output.json(&json::error("USAGE", &message, hint.as_deref()))
    } else if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let help = output
            .adapt_commands(rendered(error, line, width).to_string().trim_end())
            .into_owned();
        output.error_line(&help)
    } else {
        let text = usage_message(error, &output);
        output.error("usage", text.trim_start_matches("error: ").trim_end())
    };
    match said.and_then(|()| output.flush()) {
        Ok(()) if is_help => ExitCode::Done,
        Err(error) if is_help => report::report_failure(&error, &mut output),
        // If the stream is closed, the exit code still reports the error.
        Ok(()) | Err(_) => ExitCode::Usage,
    }
}

/// Returns the text of `error`: for help on the whole program, the page with the groups of commands.
fn rendered(error: &clap::Error, line: &CommandLine, width: Option<u16>) -> StyledStr {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_help && line.is_top_level() {
        help::top_level(line.lists_all, width)
    } else {
        error.render()
    }
}

/// Returns the error message of clap with the name of the running program in its usage line.
///
/// The rest of the message may quote the arguments, so credentials in it are redacted.
fn usage_message(error: &clap::Error, output: &Output) -> String {
    let text = error.render().to_string();
    let text = without_secrets(&text).into_owned();
    text.rsplit_once("\n\nUsage: ").map_or_else(
        || text.clone(),
        |(before, usage)| {
            format!(
                "{before}\n\n{}",
                output.adapt_commands(&format!("Usage: {usage}"))
            )
        },
    )
}

/// Splits the error message of clap into the message and the hint.
fn split_message(text: &str, kind: ErrorKind) -> (String, Option<String>) {
    if matches!(
        kind,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
    ) {
        return (
            "no command specified".into(),
            Some("use --help to list the commands".into()),
        );
    }
    let (message, rest) = text
        .trim_start_matches("error: ")
        .split_once("\n\n")
        .unwrap_or((text, ""));
    let tips = rest
        .split("\n\n")
        .map(str::trim)
        .filter(|part| !part.is_empty() && !part.starts_with("For more"))
        .map(|part| part.trim_start_matches("tip: "));
    let hint = tips.collect::<Vec<_>>().join("; ");
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    (
        one_line(message),
        Some(one_line(&hint)).filter(|hint| !hint.is_empty()),
    )
}
