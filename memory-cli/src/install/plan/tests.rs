use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::install::clients::{CLAUDE_CODE_HOOKS, CODEX_HOOKS, CURSOR_HOOKS};
use crate::install::edit::ClientFileReason;
use crate::install::server::ServerEntryFormat;
use crate::install::server::toml;

const SERVER: ClientEntry = ClientEntry::Server(ServerFormat::Json {
    under: "mcpServers",
    form: ServerEntryFormat::Stdio,
});
const TOML: ClientEntry = ClientEntry::Server(ServerFormat::Toml);
const YAML: ClientEntry = ClientEntry::Server(ServerFormat::Yaml);
const HOOKS: ClientEntry = ClientEntry::Hooks(CLAUDE_CODE_HOOKS);
const SHELL_HOOKS: ClientEntry = ClientEntry::Hooks(CODEX_HOOKS);
const FLAT_HOOKS: ClientEntry = ClientEntry::Hooks(CURSOR_HOOKS);
const ALL: [ClientEntry; 7] = [
    SERVER,
    HOOKS,
    SHELL_HOOKS,
    FLAT_HOOKS,
    TOML,
    YAML,
    ClientEntry::Topics,
];

fn own() -> Invocation {
    Invocation {
        topics: Some("/work/.memory".into()),
        ..Invocation::for_tests()
    }
}

fn installed(file: &str, entry: ClientEntry) -> String {
    install(Some(file), &[entry], &own()).expect("a file")
}

fn uninstalled(file: &str, entry: ClientEntry, formers: &[&str]) -> UninstallResult {
    uninstall(file, &[entry], &own(), formers).expect("a file")
}

/// The layout of a file.
#[derive(Debug, Clone)]
struct FileStyle {
    mark: &'static str,
    unit: &'static str,
    line_break: &'static str,
    width: LineStyle,
    trailing_comma: &'static str,
    has_end: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineStyle {
    OneLine,
    Lines,
    CommentedLines,
}

fn style() -> impl Strategy<Value = FileStyle> {
    let mark = prop_oneof![4 => Just(""), 1 => Just(BYTE_ORDER_MARK)];
    let unit = prop_oneof![Just("  "), Just("\t"), Just("    ")];
    let line_break = prop_oneof![Just("\n"), Just("\r\n")];
    let width = prop_oneof![
        Just(LineStyle::OneLine),
        Just(LineStyle::Lines),
        Just(LineStyle::CommentedLines)
    ];
    let trailing_comma = prop_oneof![Just(""), Just(",")];
    (mark, unit, line_break, width, trailing_comma, any::<bool>()).prop_map(
        |(mark, unit, line_break, width, trailing_comma, has_end)| FileStyle {
            mark,
            unit,
            line_break,
            width,
            trailing_comma,
            has_end,
        },
    )
}

impl FileStyle {
    fn file(&self, value: &Value) -> String {
        let end = if self.has_end { self.line_break } else { "" };
        [self.mark, &self.written(value, ""), end].concat()
    }

    fn written(&self, value: &Value, indent: &str) -> String {
        let inner = [indent, self.unit].concat();
        let members: Vec<String> = match value {
            Value::Object(object) => object
                .iter()
                .map(|(key, value)| {
                    format!(
                        "{}: {}",
                        Value::from(key.as_str()),
                        self.written(value, &inner)
                    )
                })
                .collect(),
            Value::Array(list) => list
                .iter()
                .map(|value| self.written(value, &inner))
                .collect(),
            other => return other.to_string(),
        };
        let (open, close) = if value.is_object() {
            ("{", "}")
        } else {
            ("[", "]")
        };
        if members.is_empty() {
            return [open, close].concat();
        }
        let line = [self.line_break, &inner].concat();
        let comment = if self.width == LineStyle::CommentedLines {
            " // 说, {"
        } else {
            ""
        };
        let (before, between, after) = match self.width {
            LineStyle::OneLine => (String::new(), ", ".to_owned(), String::new()),
            _ => (
                line.clone(),
                format!(",{comment}{line}"),
                format!("{comment}{}{indent}", self.line_break),
            ),
        };
        [
            open,
            &before,
            &members.join(&between),
            self.trailing_comma,
            &after,
            close,
        ]
        .concat()
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text()
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-c\"]", inner), 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just("// no comment"),
        Just("a \"b\" {\\"),
        Just("/* 记 */,"),
        Just("")
    ]
    .prop_map(Value::from)
}

/// Generates files with or without servers and hooks of other programs.
fn files() -> impl Strategy<Value = String> {
    let servers = prop::option::of(prop::collection::vec(("[a-z]{3}", value()), 1..3));
    let hooks = prop::option::of(prop::collection::vec(value(), 1..3));
    let others = prop::collection::vec(("[a-c]{1,2}", value()), 0..3);
    (others, servers, hooks, any::<bool>(), style()).prop_map(
        |(others, servers, hooks, is_first, style)| {
            let mut members: Vec<(String, Value)> = others;
            members.extend(servers.map(|servers| {
                (
                    "mcpServers".to_owned(),
                    Value::Object(servers.into_iter().collect()),
                )
            }));
            members.extend(hooks.map(|hooks| {
                (
                    "hooks".to_owned(),
                    serde_json::json!({ "SessionStart": hooks, "Stop": [] }),
                )
            }));
            if is_first {
                members.reverse();
            }
            style.file(&Value::Object(members.into_iter().collect()))
        },
    )
}

fn read(file: &str) -> Value {
    jsonc::parse(split_mark(file).1)
        .expect("JSON")
        .map_or(Value::Null, |root| jsonc::value(&root))
}

/// Removes the entry of this program from a value.
fn without_us(mut value: Value, part: ClientEntry) -> Value {
    if let ClientEntry::Server(_) = part {
        value["mcpServers"]
            .as_object_mut()
            .expect("servers")
            .shift_remove("memory")
            .expect("our server");
    } else {
        for event in CLAUDE_CODE_HOOKS.events {
            value["hooks"][event]
                .as_array_mut()
                .expect("a list")
                .pop()
                .expect("our hook");
        }
    }
    value
}

proptest! {
    #[test]
    fn others_keep_every_byte_and_get_all_of_them_back(file in files()) {
        for part in [SERVER, HOOKS] {
            let with = installed(&file, part);
            prop_assert_eq!(&installed(&with, part), &with, "a second run changes nothing");
            // All bytes of the file remain, in the same order.
            let mut left = with.bytes();
            let missing = file.bytes().find(|byte| !left.any(|own| own == *byte));
            prop_assert!(missing.is_none() || read(&file) == serde_json::json!({}), "{:?}\n{}", missing, with);
            // A parser finds the old members in order, and the new entry.
            let (mut found, wanted) = (without_us(read(&with), part), read(&file));
            for (key, under) in [("mcpServers", None), ("hooks", Some("SessionStart")), ("hooks", Some("UserPromptSubmit"))] {
                if let Some(under) = under && wanted[key][under].is_null() && !found[key].is_null() {
                    found[key].as_object_mut().expect("hooks").shift_remove(under);
                }
                if wanted[key].is_null() && found[key] == serde_json::json!({}) {
                    found.as_object_mut().expect("keys").shift_remove(key);
                }
            }
            prop_assert_eq!(found.to_string(), wanted.to_string());
            prop_assert_eq!(uninstalled(&with, part, &[&file]), UninstallResult::Former(0));
            let rest = uninstalled(&with, part, &[]);
            let is_bare = read(&file) == serde_json::json!({});
            prop_assert_eq!(rest, if is_bare { UninstallResult::Nothing } else { UninstallResult::Text(file.clone()) });
            prop_assert!(is_complete(Some(&file), &with, &[part], &own()));
            prop_assert!(is_obsolete(&file, Some(&file), &[part], &own()) && is_obsolete(&with, Some(&file), &[part], &own()));
            prop_assert!(!is_obsolete(&file, Some(&with), &[part], &own()), "an entry is left");
            prop_assert!(!is_complete(Some(&file), &with.replace("/bin/memory", "/bin/memory --quiet"), &[part], &own()));
        }
    }

    #[test]
    fn nothing_that_somebody_may_write_makes_us_fail_otherwise_than_by_refusing(text in "[\\[\\]{}\",:/* \na1=.#memoryservp_]{0,40}") {
        for part in ALL {
            if let Ok(with) = install(Some(&text), &[part], &own()) {
                prop_assert_eq!(install(Some(&with), &[part], &own()), Ok(with.clone()));
                prop_assert_eq!(uninstall(&with, &[part], &own(), &[&text]), Ok(UninstallResult::Former(0)));
                prop_assert!(uninstall(&with, &[part], &own(), &[]).is_ok());
            }
        }
    }

    #[test]
    fn toml_of_others_keeps_every_byte(lines in prop::collection::vec(toml_line(), 0..8), line_break in prop_oneof![Just("\n"), Just("\r\n")]) {
        let text: String = lines.iter().flat_map(|line| [line.as_str(), line_break]).collect();
        prop_assume!(toml::servers(&text).is_ok());
        let with = installed(&text, TOML);
        prop_assert!(with.starts_with(&text));
        prop_assert_eq!(&installed(&with, TOML), &with);
        let rest = uninstalled(&with, TOML, &[]);
        prop_assert_eq!(rest, if text.trim().is_empty() { UninstallResult::Nothing } else { UninstallResult::Text(text) });
    }
}

fn toml_line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        "# [a-z记]{0,5}",
        "[a-d] = ('x#'|\"\\[y\\]\"|1|\\[1, 2\\]) ?(# c)?",
        "\\[[e-h]\\] ?(# t)?",
        "\\[mcp_servers\\.[i-k]\\]",
        "\\[\\[[l-m]\\]\\]",
    ]
}

#[test]
fn a_file_that_was_made_for_us_goes_again() {
    for part in ALL {
        let made = install(None, &[part], &own()).expect("a file");
        assert_eq!(uninstalled(&made, part, &[]), UninstallResult::Nothing);
        // A file that existed and was empty is restored.
        assert_eq!(uninstalled(&made, part, &[""]), UninstallResult::Former(0));
    }
    let touched = install(None, &[SERVER], &own()).expect("a file").replacen(
        '{',
        "{\n  \"theme\": \"dark\",",
        1,
    );
    assert_eq!(
        uninstalled(&touched, SERVER, &[]),
        UninstallResult::Text("{\n  \"theme\": \"dark\"\n}\n".into())
    );
}

#[test]
fn a_backup_with_content_that_the_file_lacks_is_not_obsolete() {
    let rest =
        "{\n  // why\n  \"a\": 1,\n  \"mcpServers\": { \"x\": { \"command\": \"npx\" } }\n}\n";
    let is_obsolete = |backup: &str| is_obsolete(backup, Some(rest), &[SERVER], &own());
    // Values that assistants count and toggle, another layout, and own entries at another path.
    let with = install(
        Some(rest),
        &[SERVER],
        &Invocation {
            program: "/old/memory".into(),
            ..own()
        },
    )
    .expect("a file");
    for backup in [
        rest,
        &with,
        &rest.replace("1,", "27,"),
        &rest.replace("  ", "\t").replace(": ", ":"),
        "{}",
        "",
    ] {
        assert!(is_obsolete(backup), "{backup}");
    }
    let replaced = r#"{"mcpServers":{"memory":{"command":"npx","args":["server-memory"]}}}"#;
    let changed = with.replace(
        "\"args\"",
        "\"env\": { \"KEY\": \"value\" },\n      \"args\"",
    );
    for backup in [
        replaced,
        &changed,
        &rest.replace("why", "because"),
        &rest.replace("\"a\"", "\"lost\""),
        "{",
        "notes",
    ] {
        assert!(!is_obsolete(backup), "{backup}");
    }
}

#[test]
fn the_entry_that_was_replaced_last_comes_back() {
    let theirs = r#"{"mcpServers":{"memory":{"command":"npx"}},"theme":"x"}"#;
    let entries = [SERVER, HOOKS];
    let replacing = Invocation {
        replaces: true,
        ..own()
    };
    // The user replaced our server, so the newest backup has their server and our hooks.
    let hooks_and_theirs = install(Some(theirs), &[HOOKS], &own()).expect("a file");
    let with = install(Some(&hooks_and_theirs), &entries, &replacing).expect("a file");
    let removed = uninstall(
        &with,
        &entries,
        &own(),
        &[&hooks_and_theirs, r#"{"theme":"x"}"#],
    )
    .expect("a file");
    let UninstallResult::Text(left) = removed else {
        panic!("a text is left")
    };
    assert_eq!(read(&left), read(theirs));
    // The user removed our server, and with it the one that it had replaced.
    let bare = r#"{"theme":"x"}"#;
    let touched = installed(bare, SERVER).replace("\"x\"", "\"y\"");
    let UninstallResult::Text(left) = uninstalled(&touched, SERVER, &[bare, theirs]) else {
        panic!("a text is left")
    };
    assert_eq!(read(&left), read(r#"{"theme":"y","mcpServers":{}}"#));
}

#[test]
fn what_was_empty_before_us_stays_and_what_we_made_goes() {
    let former = "{\n  \"hooks\": { \"SessionStart\": [] },\n  \"a\": 1\n}\n";
    let touched = installed(former, HOOKS).replace("\"a\": 1", "\"a\": 2");
    let UninstallResult::Text(left) = uninstalled(&touched, HOOKS, &[former]) else {
        panic!("a text is left")
    };
    assert_eq!(read(&left), read(&former.replace("\"a\": 1", "\"a\": 2")));
    let UninstallResult::Text(left) = uninstalled(&touched, HOOKS, &[]) else {
        panic!("a text is left")
    };
    assert_eq!(left, "{\n  \"a\": 2\n}\n");
}

#[test]
fn a_backup_that_holds_us_is_no_former_file() {
    let former = "{\"a\": 1}";
    let old = install(
        Some(former),
        &[SERVER],
        &Invocation {
            program: "/old/memory".into(),
            ..own()
        },
    )
    .expect("a file");
    let renewed = installed(&old, SERVER);
    assert_eq!(renewed, installed(former, SERVER));
    assert_eq!(
        uninstalled(&renewed, SERVER, &[&old, former]),
        UninstallResult::Former(1)
    );
    // Another copy of the program may remove the entry.
    assert_eq!(
        uninstalled(&old, SERVER, &[former]),
        UninstallResult::Former(0)
    );
}

#[test]
fn hooks_of_others_stay_beside_ours() {
    let file = r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"date"}]}]}}"#;
    let with = installed(file, HOOKS);
    // A user merges both hooks into one group.
    let joined = r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"'/old/memory' hook session-start","timeout":1},{"type":"command","command":"date"}]}]}}"#;
    let renewed = installed(joined, HOOKS);
    assert!(
        renewed.contains(r#""/bin/memory hook session-start --agent some","timeout":1}"#),
        "{renewed}"
    );
    assert_eq!(renewed.matches("session-start").count(), 1);
    let others = r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"date"}]}]}}"#;
    assert_eq!(
        uninstalled(&renewed, HOOKS, &[]),
        UninstallResult::Text(others.into())
    );
    assert_eq!(
        uninstalled(&with, HOOKS, &[]),
        UninstallResult::Text(file.into())
    );
}

#[test]
fn another_programs_entry_is_left_alone() {
    for entry in [
        r#"{"command":"npx","args":["-y","server-memory"]}"#,
        r#"{"url":"http://x/mcp"}"#,
        "1",
    ] {
        let file = format!("{{\n\"mcpServers\":\n{{\"memory\":{entry}}}}}");
        let refusal = install(Some(&file), &[SERVER], &own()).expect_err("it is taken");
        assert!(
            refusal.is_foreign_entry() && refusal.line == 3,
            "{refusal:?}"
        );
        assert_eq!(uninstalled(&file, SERVER, &[]), UninstallResult::Same);
    }
}

#[test]
fn an_entry_of_another_program_is_replaced_on_request_and_comes_back() {
    let json = "{\n  \"mcpServers\": {\n    \"memory\": {\"url\": \"http://x/mcp\"},\n    \"b\": {}\n  }\n}\n";
    let toml = "a = 1\n\n[mcp_servers.memory]\nurl = \"x\"\n";
    let yaml = "extensions:\n  memory:\n    type: builtin\n    enabled: true\nz: 1\n";
    let topics = "{\"autoMemoryDirectory\": \"~/notes\"}";
    let replacing = Invocation {
        replaces: true,
        ..own()
    };
    for (entry, former) in [
        (SERVER, json),
        (TOML, toml),
        (YAML, yaml),
        (ClientEntry::Topics, topics),
    ] {
        assert!(
            install(Some(former), &[entry], &own())
                .expect_err(former)
                .is_foreign_entry()
        );
        let with = install(Some(former), &[entry], &replacing).expect("a file");
        assert_eq!(install(Some(&with), &[entry], &own()), Ok(with.clone()));
        assert_eq!(
            uninstalled(&with, entry, &[former]),
            UninstallResult::Former(0)
        );
        // After a change by another program, the entry is inserted again.
        let touched = if entry == YAML || entry == TOML {
            format!("# c\n{with}")
        } else {
            with.replacen('{', "{ ", 1)
        };
        let UninstallResult::Text(left) = uninstalled(&touched, entry, &[former]) else {
            panic!("a text is left")
        };
        assert!(
            entry
                .install(&left, &own())
                .expect_err("the entry")
                .is_foreign_entry(),
            "{left}"
        );
    }
}

#[test]
fn a_second_name_stands_beside_the_entry_of_another_program() {
    let file = "{\"mcpServers\":{\"memory\":{\"command\":\"npx\"}}}";
    let named = Invocation {
        server_name: Some("mine".into()),
        ..own()
    };
    let with = install(Some(file), &[SERVER], &named).expect("a file");
    assert_eq!(read(&with)["mcpServers"]["memory"]["command"], "npx");
    assert_eq!(read(&with)["mcpServers"]["mine"]["command"], "/bin/memory");
    // The entry is found again without its name.
    assert_eq!(installed(&with, SERVER), with);
    assert_eq!(
        uninstalled(&with, SERVER, &[]),
        UninstallResult::Text(file.into())
    );
    // A server of this program for another agent is not the entry.
    let other = file
        .replace("npx\"", "memory\",\"args\":[\"mcp\",\"--agent\",\"x\"]")
        .replace("\"memory\":", "\"work\":");
    assert_eq!(uninstalled(&other, SERVER, &[]), UninstallResult::Same);
}

#[test]
fn an_entry_for_another_agent_is_not_uninstalled() {
    let server = r#"{"mcpServers":{"memory":{"command":"memory","args":["mcp","--agent","bob","--root","/x"],"env":{"A":"b"}}}}"#;
    assert_eq!(uninstalled(server, SERVER, &[]), UninstallResult::Same);
    let hooks = r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"memory hook session-start"}]}]}}"#;
    assert_eq!(uninstalled(hooks, HOOKS, &[]), UninstallResult::Same);
    // An installation updates the entry, and the removal restores it.
    let with = installed(server, SERVER);
    assert_eq!(
        uninstalled(&with, SERVER, &[server]),
        UninstallResult::Former(0)
    );
}

#[test]
fn every_entry_of_this_program_is_uninstalled() {
    let command = r#"{"command":"memory","args":["mcp","--agent","some"]}"#;
    let both = format!(
        r#"{{"mcpServers":{{"memory":{command},"work":{command},"x":{{"command":"npx"}}}}}}"#
    );
    let left = UninstallResult::Text(r#"{"mcpServers":{"x":{"command":"npx"}}}"#.into());
    assert_eq!(uninstalled(&both, SERVER, &[]), left);
    let named = Invocation {
        server_name: Some("work".into()),
        ..own()
    };
    let UninstallResult::Text(left) = uninstall(&both, &[SERVER], &named, &[]).expect("a file")
    else {
        panic!("a text is left")
    };
    assert!(left.contains("memory") && !left.contains("work"), "{left}");
    // A backup with another of the entries is no former file.
    let made = install(None, &[SERVER], &own()).expect("a file");
    let work = made.replace("\"memory\": {", "\"work\": {");
    assert_eq!(
        uninstalled(&work, SERVER, &[&made]),
        UninstallResult::Nothing
    );
}

#[test]
fn an_entry_is_not_installed_again_with_another_name() {
    for entry in [SERVER, TOML, YAML] {
        let with = install(None, &[entry], &own()).expect("a file");
        let named = Invocation {
            server_name: Some("work".into()),
            ..own()
        };
        let refusal = install(Some(&with), &[entry], &named).expect_err("it has another name");
        assert!(
            matches!(refusal.reason, ClientFileReason::OtherName { .. }),
            "{refusal:?}"
        );
    }
}

#[test]
fn two_kinds_of_entries_in_one_file_come_and_go_together() {
    let former = "{\n  \"theme\": \"dark\"\n}\n";
    let entries = [SERVER, SHELL_HOOKS];
    let with = install(Some(former), &entries, &own()).expect("a file");
    assert_eq!(
        uninstall(&with, &entries, &own(), &[former]),
        Ok(UninstallResult::Former(0))
    );
    let touched = with.replace("dark", "light");
    let left = UninstallResult::Text(former.replace("dark", "light"));
    assert_eq!(uninstall(&touched, &entries, &own(), &[former]), Ok(left));
    // An earlier version installed only the server.
    let server = installed(former, SERVER);
    assert_eq!(
        uninstall(&server, &entries, &own(), &[former]),
        Ok(UninstallResult::Former(0))
    );
    assert_eq!(install(Some(&server), &entries, &own()), Ok(with.clone()));
    assert_eq!(
        uninstall(&with, &entries, &own(), &[&server, former]),
        Ok(UninstallResult::Former(1))
    );
}

#[test]
fn flat_hooks_have_a_version_that_goes_with_them() {
    let made = install(None, &[FLAT_HOOKS], &own()).expect("a file");
    assert_eq!(read(&made)["version"], 1);
    let former = "{\n  \"a\": 1\n}\n";
    let touched = installed(former, FLAT_HOOKS).replace("\"a\": 1", "\"a\": 2");
    assert_eq!(
        uninstalled(&touched, FLAT_HOOKS, &[former]),
        UninstallResult::Text(former.replace('1', "2"))
    );
    let others = "{\"version\":1,\"hooks\":{\"stop\":[{\"command\":\"x\"}]}}";
    let with = installed(others, FLAT_HOOKS);
    assert_eq!(
        uninstalled(&with, FLAT_HOOKS, &[]),
        UninstallResult::Text(others.into())
    );
}

proptest! {
    #[test]
    fn yaml_of_others_keeps_every_byte(
        (before, servers, after) in (yaml_lines(""), prop::option::of(yaml_lines("  ")), yaml_lines("")),
        line_break in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let servers = servers.map(|servers| format!("extensions:\n  x: 1\n{servers}")).unwrap_or_default();
        let text = format!("a0: 1\n{before}{servers}b0: 2\n{}", after.replace('k', "j")).replace('\n', line_break);
        prop_assume!(yaml::servers(&text).is_ok());
        let with = installed(&text, YAML);
        let mut left = with.bytes();
        prop_assert!(text.bytes().all(|byte| left.any(|own| own == byte)), "{}", with);
        prop_assert_eq!(&installed(&with, YAML), &with);
        prop_assert_eq!(uninstalled(&with, YAML, &[&text]), UninstallResult::Former(0));
        prop_assert_eq!(uninstalled(&with, YAML, &[]), UninstallResult::Text(text));
    }
}

/// Generates keys of a mapping with values of different kinds, blank lines and comments.
fn yaml_lines(indent: &'static str) -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just(" 1\n"),
        Just(" \"# x: y\" # c\n"),
        Just(" {a: [b, 'c']}\n"),
        Just("\n{}- cmd: memory\n{}- 记\n"),
        Just("\n{}  - x\n\n{}  # c\n{}  - y\n"),
        Just(" |\n{}  extensions:\n{}    memory: 1\n\n{}  # text\n"),
        Just(" >-\n{}  two\n{}  lines\n"),
        Just("\n{}    cmd: npx\n{}    args: [mcp]\n"),
    ];
    let before = prop_oneof![3 => Just(""), 1 => Just("\n"), 1 => Just("# a: b\n"), 1 => Just("      # deep\n")];
    prop::collection::vec((before, value), 0..5).prop_map(move |keys| {
        let line = |(index, (before, value)): (usize, &(&str, &str))| {
            format!("{before}{indent}k{index}:{}", value.replace("{}", indent))
        };
        keys.iter().enumerate().map(line).collect()
    })
}
