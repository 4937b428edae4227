//! The top-level help: the everyday commands, or all commands in groups.

use std::fmt::Write;

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};

use super::guides;
use crate::commands::Cli;
use crate::print::wrap_lines;

/// The groups of commands, and the commands of each, in the order of the help. The first group is shown without `--all`.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Everyday",
        &[
            "ui", "write", "search", "list", "read", "edit", "delete", "undo", "inbox", "remind",
            "why", "import", "install", "status", "doctor",
        ],
    ),
    (
        "Organise",
        &[
            "tidy", "tag", "link", "pin", "log", "trash", "restore", "export", "notify", "when",
            "embed", "model",
        ],
    ),
    (
        "Agents and servers",
        &[
            "uninstall",
            "plugin",
            "mcp",
            "agent",
            "hook",
            "project",
            "daemon",
            "proxy",
            "shared",
        ],
    ),
    (
        "Other stores",
        &["bank", "topic", "instance", "conversations"],
    ),
    (
        "Maintenance",
        &[
            "stats",
            "usage",
            "reindex",
            "config",
            "tour",
            "completions",
            "man",
        ],
    ),
];

/// The examples below the groups.
const EXAMPLES: [&str; 4] = [
    r#"memory write "The user prefers dark mode" --tags ui"#,
    r#"memory search "which mode does the user prefer?""#,
    r#"memory remind "call the dentist tomorrow at 3pm""#,
    "memory install claude-code",
];

/// The way to the other commands, below the examples of the everyday ones.
const MORE: &str = "`memory` alone shows what waits and what to do next. `memory help --all` shows every command, \
     `memory help COMMAND` describes one.";

/// The conventions of all commands, below the options.
const CONVENTIONS: [&str; 4] = [
    "Memories are Markdown files below ~/.memory (or --root, or MEMORY_ROOT). Where a command takes an ID, the \
     first four or more digits and the file name work too. `memory undo` reverts the last change.",
    "",
    "Output is a table in a terminal, tab-separated lines in a pipe, and JSON with --json.",
    "Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 damaged data.",
];

/// The greatest width of the help, in columns.
const MAX_WIDTH: usize = 100;

/// The columns before the description of a command.
const INDENT: usize = 17;

/// Renders the top-level help, with all commands or the everyday ones, for a terminal with this number of columns.
pub(super) fn top_level(lists_all: bool, width: Option<u16>) -> StyledStr {
    let width = width.map_or(MAX_WIDTH, |width| MAX_WIDTH.min(width.into()));
    let mut command = Cli::command();
    command.build();
    let header = command.get_styles().get_header();
    let heading = |text: &str| format!("{header}{text}:{header:#}\n");
    let about = command.get_about().map(ToString::to_string);
    let mut template = wrapped(&[&about.unwrap_or_default()], width);
    template += "\n\n{usage-heading} {usage}\n\n";
    let shown = if lists_all { GROUPS.len() } else { 1 };
    for (name, members) in &GROUPS[..shown] {
        template += &heading(name);
        for member in *members {
            template += &line(&command, member, width);
        }
        template.push('\n');
    }
    template += &heading("Examples");
    template.extend(EXAMPLES.iter().flat_map(|example| ["  ", example, "\n"]));
    template.push('\n');
    if lists_all {
        template.extend([&heading("Options"), "{options}\n\n"]);
    }
    let guides = format!(
        "`memory help GUIDE` prints a guide: {}.",
        guides::names().join(", ")
    );
    let more = [MORE, guides.as_str()];
    let notes = if lists_all { &CONVENTIONS[..] } else { &more };
    template += &wrapped(notes, width);
    command
        .help_template(template)
        .term_width(width)
        .render_help()
}

/// Returns the line of a command: its name and its description.
fn line(command: &Command, name: &str, width: usize) -> String {
    let literal = command.get_styles().get_literal();
    let about = command
        .find_subcommand(name)
        .and_then(Command::get_about)
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut line = String::new();
    // Writing to a string cannot fail.
    let _ = write!(line, "  {literal}{name:<13}{literal:#}");
    for (index, part) in wrap_lines(&about, width.saturating_sub(INDENT))
        .into_iter()
        .enumerate()
    {
        let indent = if index == 0 { 2 } else { INDENT };
        let _ = writeln!(line, "{:indent$}{}", "", &about[part]);
    }
    line
}

/// Returns the lines, wrapped between words.
fn wrapped(lines: &[&str], width: usize) -> String {
    let lines = lines
        .iter()
        .flat_map(|line| wrap_lines(line, width).into_iter().map(|part| &line[part]));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_fits_a_line() {
        let mut command = Cli::command();
        command.build();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, members)| members.iter().copied())
            .collect();
        grouped.sort_unstable();
        let mut names: Vec<&str> = command
            .get_subcommands()
            .filter(|sub| !sub.is_hide_set())
            .map(Command::get_name)
            .collect();
        names.sort_unstable();
        assert_eq!(grouped, names);
        for name in names {
            let line = line(&command, name, MAX_WIDTH);
            assert!(
                line.lines().count() == 1,
                "the description of {name} is too long: {line}"
            );
        }
    }

    #[test]
    fn the_help_of_the_commands_wraps_between_words_in_a_narrow_terminal() {
        for lists_all in [false, true] {
            let help = top_level(lists_all, Some(60)).to_string();
            let commands = help.lines().take_while(|line| *line != "Options:");
            for line in commands {
                assert!(line.chars().count() <= 60, "{line}");
            }
        }
    }
}
