//! Rewrites hints for callers of tools: offered tool names replace shell commands.
//!
//! The errors of `memory-core` have hints for the command line. Clauses that a tool caller can follow are retained; a
//! clause with a command is replaced by the tool for the same purpose, or removed.

use memory_core::{Code, ToolError};
use serde_json::Value;

/// Rewrites the hint of an error of the tool `called`, its original name.
///
/// `offered` maps original to offered names.
pub(crate) fn rewrite_hint(
    error: &mut ToolError,
    called: &str,
    offered: impl Fn(&str) -> Option<String>,
) {
    let of_tools = error_advice(error.code, called)
        .iter()
        .filter_map(|(tool, what)| Some(what.replace("{}", &offered(tool)?)));
    let own = error.hint.take().unwrap_or_default();
    // The parameter has the name of the flag.
    let own = own.replace("or use --at", "or set `at`");
    let own = own
        .split("; ")
        .filter(|clause| !clause.is_empty())
        .filter_map(|clause| match action_tool(clause, called) {
            Some((tool, what)) => offered(&tool).map(|name| format!("{name} {what}")),
            None => plain_part(clause).map(str::to_owned),
        });
    let parts: Vec<String> = of_tools.chain(own).collect();
    error.hint = (!parts.is_empty()).then(|| parts.join("; "));
}

/// Replaces the paths of memories in a message by their ids, which tools accept.
pub(crate) fn with_ids(message: &str) -> String {
    let (mut named, mut rest) = (String::new(), message);
    while let Some(start) = rest.find("categories/") {
        let Some(length) = rest[start..].find(".md") else {
            break;
        };
        let path = &rest[start..start + length];
        let is_id = |id: &str| id.len() == 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let id = path
            .rsplit_once('-')
            .map(|(_, id)| id)
            .filter(|id| is_id(id) && !path.contains(char::is_whitespace));
        let (before, after) = (&rest[..start], &rest[start + length + ".md".len()..]);
        match id {
            Some(id) => named.extend([before, "memory ", id]),
            None => named.extend([before, path, ".md"]),
        }
        rest = after;
    }
    named + rest
}

/// Rewrites the hints and warnings in a result of the tool `called`. User values are not changed.
pub(crate) fn rewrite_result(
    answer: &mut Value,
    called: &str,
    offered: &impl Fn(&str) -> Option<String>,
) {
    // The result of these tools may be a user value as a whole.
    if super::instance::is_instance_tool(called) {
        return;
    }
    let Some(members) = answer.as_object_mut() else {
        return;
    };
    for (name, value) in members {
        match (name.as_str(), value) {
            ("degraded", Value::String(text)) => {
                *text =
                    without_commands(text).unwrap_or_else(|| "the result is incomplete".to_owned());
            }
            ("warning" | "next", Value::String(text)) => *text = offered_clauses(text, offered),
            ("error" | "problem", error @ Value::Object(_)) => {
                rewrite_error(error, called, offered);
            }
            ("unreadable", Value::Array(errors)) => {
                for error in errors {
                    rewrite_error(error, called, offered);
                }
            }
            ("banks" | "memories" | "hits" | "files", Value::Array(items)) => {
                for item in items {
                    rewrite_result(item, called, offered);
                }
            }
            ("memory", memory) => rewrite_result(memory, called, offered),
            _ => {}
        }
    }
}

/// Rewrites the hint of an error within a result.
fn rewrite_error(shape: &mut Value, called: &str, offered: &impl Fn(&str) -> Option<String>) {
    let Some(members) = shape.as_object_mut() else {
        return;
    };
    let Some(Value::String(hint)) = members.get("hint") else {
        return;
    };
    let code = members
        .get("code")
        .and_then(Value::as_str)
        .and_then(|name| Code::ALL.into_iter().find(|code| code.as_str() == name));
    let mut error = ToolError::new(code.unwrap_or(Code::Internal), "", Some(hint.clone()));
    rewrite_hint(&mut error, called, offered);
    match error.hint {
        Some(hint) => drop(members.insert("hint".to_owned(), hint.into())),
        None => drop(members.shift_remove("hint")),
    }
}

/// Returns a warning with offered tool names, without clauses about commands and other tools.
fn offered_clauses(warning: &str, offered: &impl Fn(&str) -> Option<String>) -> String {
    let tools = super::all();
    let clause = |clause: &str| {
        let (first, rest) = clause.split_once(' ').unwrap_or((clause, ""));
        match tools.iter().find(|tool| tool.name() == first) {
            Some(tool) => offered(tool.name()).map(|name| format!("{name} {rest}")),
            None => plain_part(clause).map(str::to_owned),
        }
    };
    let kept: Vec<String> = warning.split("; ").filter_map(clause).collect();
    // The problem is reported even if no clause is left.
    if kept.is_empty() {
        warning.to_owned()
    } else {
        kept.join("; ")
    }
}

/// Returns the tools that help after an error, each with its hint.
fn error_advice(code: Code, called: &str) -> &'static [(&'static str, &'static str)] {
    let is_of = |set: &str| called.starts_with(set);
    match code {
        Code::BankNotFound => &[
            ("bank_list", "{} lists the banks"),
            ("bank_write", "{} creates one"),
        ],
        Code::KeyNotFound if is_of("bank_") => &[
            ("bank_list", "{} with this bank lists its keys"),
            ("bank_write", "{} adds one"),
        ],
        Code::TtlExpired => &[("bank_write", "{} writes it again")],
        Code::Conflict if is_of("bank_") => &[("bank_read", "{} shows the current version")],
        Code::Conflict if is_of("topic_") => &[("topic_read", "{} shows the current version")],
        Code::Conflict if called == "memory_undo" => &[(
            "memory_update",
            "it was changed again since; {} changes the current version",
        )],
        Code::Conflict => &[("memory_read", "{} shows the current version")],
        Code::MemoryNotFound => &[
            ("memory_list", "{} lists the memories"),
            ("memory_search", "{} finds them by words"),
        ],
        Code::PathNotFound if is_of("topic_") => &[("topic_view", "{} shows the topics")],
        _ => &[],
    }
}

/// Returns the tool for the action that a clause names, and the effect of the action.
///
/// The tool belongs to the same set as the tool `called`.
fn action_tool<'a>(clause: &'a str, called: &str) -> Option<(String, &'a str)> {
    let (action, what) = clause.strip_prefix("the action ")?.split_once(' ')?;
    let (set, _) = called.split_once('_')?;
    Some((format!("{set}_{action}"), what))
}

/// Returns the clauses of a text without shell commands, flags or settings files, if there are any.
pub(crate) fn without_commands(text: &str) -> Option<String> {
    let kept: Vec<&str> = text.split("; ").filter_map(plain_part).collect();
    (!kept.is_empty()).then(|| kept.join("; "))
}

/// Returns a clause, or its part before a command at its end.
fn plain_part(clause: &str) -> Option<&str> {
    if !names_command(clause) {
        return Some(clause);
    }
    [", and `", ", or ", ", "]
        .into_iter()
        .filter_map(|between| clause.split_once(between))
        .map(|(head, _)| head)
        .find(|head| {
            // A single word is not a useful hint.
            !names_command(head) && head.contains(' ')
        })
}

fn names_command(text: &str) -> bool {
    let is_flag = |word: &str| {
        let word = word.trim_start_matches(['`', '(', '"', '\'']);
        word.strip_prefix("--")
            .is_some_and(|flag| flag.starts_with(|first: char| first.is_ascii_lowercase()))
    };
    let is_command = [
        "`memory ",
        "`memory`",
        "`memo ",
        "`memo`",
        "`memory-cli",
        "memory doctor",
        "config.yaml",
        "SIGTERM",
    ];
    is_command.iter().any(|command| text.contains(command)) || text.split(' ').any(is_flag)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_names_a_memory_by_its_id() {
        let message = "categories/lessons/never-run-it-d57bb75b.md does not contain that passage";
        assert_eq!(
            with_ids(message),
            "memory d57bb75b does not contain that passage"
        );
        for other in [
            "categories/lessons/by-hand.md is damaged",
            "categories/ and .md",
            "entries/x/fact-d57bb75b.md",
            "",
        ] {
            assert_eq!(with_ids(other), other);
        }
    }

    #[test]
    fn a_hint_names_the_tools_that_are_offered_by_their_names() {
        let hint = |code, called: &str, hint: &str, offered: fn(&str) -> Option<String>| {
            let mut error = ToolError::new(code, "it failed", Some(hint.to_owned()));
            rewrite_hint(&mut error, called, offered);
            error.hint
        };
        let renamed = |tool: &str| Some(tool.replace("bank_", "memory_"));
        let of_banks = "`memory bank list` lists the banks; `memory bank write` creates one";
        let told = hint(Code::BankNotFound, "bank_read", of_banks, renamed);
        assert_eq!(
            told.as_deref(),
            Some("memory_list lists the banks; memory_write creates one")
        );
        let only_reading = |tool: &str| (tool == "bank_list").then(|| tool.to_owned());
        assert_eq!(
            hint(Code::BankNotFound, "bank_read", of_banks, only_reading).as_deref(),
            Some("bank_list lists the banks")
        );
        assert_eq!(
            hint(Code::BankNotFound, "bank_read", of_banks, |_| None),
            None
        );
        let of_notes = "`memory list` lists the memories; an id may be shortened to 4 digits";
        let told = hint(Code::MemoryNotFound, "memory_read", of_notes, |_| None);
        assert_eq!(told.as_deref(), Some("an id may be shortened to 4 digits"));
    }

    #[test]
    fn an_action_is_named_as_the_tool_that_is_offered_once() {
        let hint = |code, called: &str, hint: &str, offered: fn(&str) -> Option<String>| {
            let mut error = ToolError::new(code, "it failed", Some(hint.to_owned()));
            rewrite_hint(&mut error, called, offered);
            error.hint
        };
        let keys = |offered| {
            hint(
                Code::KeyNotFound,
                "kv_get",
                "the action list lists the keys",
                offered,
            )
        };
        assert_eq!(
            keys(|tool| Some(tool.to_owned())).as_deref(),
            Some("kv_list lists the keys")
        );
        assert_eq!(
            keys(|tool| Some(tool.replace("kv_", "store_"))).as_deref(),
            Some("store_list lists the keys")
        );
        assert_eq!(keys(|_| None), None);
        let sessions = hint(
            Code::SessionNotFound,
            "history_read",
            "the action sessions lists the sessions",
            |tool| Some(tool.to_owned()),
        );
        assert_eq!(
            sessions.as_deref(),
            Some("history_sessions lists the sessions")
        );
    }

    #[test]
    fn hints_and_warnings_in_an_answer_name_tools_as_they_are_offered() {
        let rewritten =
            |called: &str, mut answer: Value, offered: &dyn Fn(&str) -> Option<String>| {
                rewrite_result(&mut answer, called, &offered);
                answer
            };
        let warned = json!({ "id": "1", "warning": "the text contains no time; memory_remind with `id` and `at` turns it into a reminder" });
        let renamed = |tool: &str| Some(tool.replace("memory_", "notes_"));
        assert_eq!(
            rewritten("memory_write", warned.clone(), &renamed)["warning"],
            "the text contains no time; notes_remind with `id` and `at` turns it into a reminder"
        );
        assert_eq!(
            rewritten("memory_write", warned, &|_| None)["warning"],
            "the text contains no time"
        );
        let damaged = json!({ "code": "FILE_DAMAGED", "message": "m", "hint": "`memory bank repair` keeps what can be read" });
        let whole = json!({ "code": "FILE_DAMAGED", "message": "m" });
        let listed = rewritten(
            "bank_list",
            json!({ "banks": [{ "name": "a", "error": damaged }] }),
            &renamed,
        );
        assert_eq!(
            listed,
            json!({ "banks": [{ "name": "a", "error": whole }] })
        );
        // A user value that looks like a hint.
        let value =
            json!({ "hint": "`memory doctor`", "warning": "`memory doctor`", "error": damaged });
        let found = json!({ "matches": [{ "value": value }], "unreadable": [damaged] });
        let wanted = json!({ "matches": [{ "value": value }], "unreadable": [whole] });
        assert_eq!(rewritten("bank_search", found, &renamed), wanted);
        assert_eq!(rewritten("kv_get", value.clone(), &renamed), value);
        let file = json!({ "memories": [{ "content": "c", "problem": damaged }], "degraded": "the index is old; `memory reindex`" });
        let wanted = json!({ "memories": [{ "content": "c", "problem": whole }], "degraded": "the index is old" });
        assert_eq!(rewritten("memory_list", file, &renamed), wanted);
    }

    #[test]
    fn commands_flags_and_settings_are_left_out() {
        for (text, left) in [
            (
                "remove it, or store it anyway with --allow-secret",
                Some("remove it"),
            ),
            ("omit --create-only to replace the value", None),
            (
                "2 files cannot be read; run `memory doctor` to list them",
                Some("2 files cannot be read"),
            ),
            (
                "the index is old; `memory embed` makes it again",
                Some("the index is old"),
            ),
            ("try again in a moment", Some("try again in a moment")),
            (
                "a -- b, not a flag; nor is ---",
                Some("a -- b, not a flag; nor is ---"),
            ),
        ] {
            let told = without_commands(text);
            assert_eq!(told.as_deref(), left, "{text}");
            assert!(!told.is_some_and(|told| names_command(&told)));
        }
    }
}
