//! The top-level help, with the commands in groups.

use std::fmt::Write;

use clap::builder::StyledStr;
use clap::{Command, CommandFactory};

use crate::commands::Cli;

/// The groups of commands, and the commands of each, in the order of the help.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Everyday",
        &[
            "ui", "write", "read", "list", "edit", "delete", "undo", "restore", "trash", "log",
            "diff",
        ],
    ),
    ("Search", &["search", "backlinks", "embed", "model"]),
    (
        "Organise",
        &[
            "inbox",
            "tag",
            "link",
            "unlink",
            "resolve-links",
            "pin",
            "unpin",
            "upgrade",
            "dream",
            "decay",
            "consolidate",
            "ingest",
            "import",
            "export",
        ],
    ),
    (
        "Reminders",
        &["remind", "reminders", "done", "snooze", "notify", "when"],
    ),
    (
        "Agents and servers",
        &[
            "install",
            "uninstall",
            "plugin",
            "mcp",
            "agent",
            "hook",
            "serve",
            "service",
            "proxy",
            "project",
            "why",
            "recalls",
        ],
    ),
    (
        "Other stores",
        &["bank", "topic", "instance", "conversations", "add"],
    ),
    (
        "Maintenance",
        &[
            "status",
            "doctor",
            "stats",
            "usage",
            "reindex",
            "init",
            "principal",
            "migrate",
            "config",
            "tour",
            "completions",
            "man",
        ],
    ),
];

/// The examples below the groups.
const EXAMPLES: [&str; 5] = [
    r#"memory write "The user prefers dark mode" --category preferences --tags ui"#,
    r#"memory search "which mode does the user prefer?""#,
    r#"memory remind "call the dentist tomorrow at 3pm""#,
    "memory install claude-code",
    "memory help search",
];

/// The conventions of all commands, below the options.
const CONVENTIONS: &str = "\
Memories are Markdown files below ~/.memory (or --root, or MEMORY_ROOT). Where a command takes an ID, the
first four or more digits and the file name work too. `memory undo` reverts the last change.

Output is a table in a terminal, tab-separated lines in a pipe, and JSON with --json.
Exit codes: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 damaged data.";

/// Renders the top-level help.
pub(super) fn top_level() -> StyledStr {
    let mut command = Cli::command();
    command.build();
    let header = command.get_styles().get_header();
    let heading = |text: &str| format!("{header}{text}:{header:#}\n");
    let mut template = String::from("{about}\n\n{usage-heading} {usage}\n\n");
    for (name, members) in GROUPS {
        template += &heading(name);
        for member in members {
            template += &line(&command, member);
        }
        template.push('\n');
    }
    template += &heading("Examples");
    template.extend(EXAMPLES.iter().flat_map(|example| ["  ", example, "\n"]));
    template.extend(["\n", &heading("Options"), "{options}\n\n", CONVENTIONS]);
    command.help_template(template).render_help()
}

/// Returns the line of a command: its name and its description.
fn line(command: &Command, name: &str) -> String {
    let literal = command.get_styles().get_literal();
    let about = command
        .find_subcommand(name)
        .and_then(Command::get_about)
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut line = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(line, "  {literal}{name:<13}{literal:#}  {about}");
    line
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
            let about = command
                .find_subcommand(name)
                .and_then(Command::get_about)
                .expect("a description")
                .to_string();
            assert!(
                about.chars().count() <= 83,
                "the line of {name} is wider than 100 columns: {about}"
            );
        }
    }
}
