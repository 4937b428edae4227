use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::install::server::ServerEntryFormat;

const SERVER: ClientEntry = ClientEntry::Server(JsonServerEntry { under: "mcpServers", form: ServerEntryFormat::Stdio });

fn own() -> Invocation {
    Invocation { program: "/bin/memory".into(), agent: "some".into(), root: None }
}

fn installed(file: &str, part: ClientEntry) -> String {
    install(Some(file), part, &own()).expect("a file")
}

fn uninstalled(file: &str, part: ClientEntry, formers: &[&str]) -> UninstallResult {
    uninstall(file, part, &own(), formers).expect("a file")
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
    let width = prop_oneof![Just(LineStyle::OneLine), Just(LineStyle::Lines), Just(LineStyle::CommentedLines)];
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
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), self.written(value, &inner)))
                .collect(),
            Value::Array(list) => list.iter().map(|value| self.written(value, &inner)).collect(),
            other => return other.to_string(),
        };
        let (open, close) = if value.is_object() { ("{", "}") } else { ("[", "]") };
        if members.is_empty() {
            return [open, close].concat();
        }
        let line = [self.line_break, &inner].concat();
        let comment = if self.width == LineStyle::CommentedLines { " // 说, {" } else { "" };
        let (before, between, after) = match self.width {
            LineStyle::OneLine => (String::new(), ", ".to_owned(), String::new()),
            _ => (line.clone(), format!(",{comment}{line}"), format!("{comment}{}{indent}", self.line_break)),
        };
        [open, &before, &members.join(&between), self.trailing_comma, &after, close].concat()
    }
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), any::<i32>().prop_map(Value::from), text()];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-c\"]", inner), 0..3).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![Just("// no comment"), Just("a \"b\" {\\"), Just("/* 记 */,"), Just("")].prop_map(Value::from)
}

/// Generates files with or without servers and hooks of other programs.
fn files() -> impl Strategy<Value = String> {
    let servers = prop::option::of(prop::collection::vec(("[a-z]{3}", value()), 1..3));
    let hooks = prop::option::of(prop::collection::vec(value(), 1..3));
    let others = prop::collection::vec(("[a-c]{1,2}", value()), 0..3);
    (others, servers, hooks, any::<bool>(), style()).prop_map(|(others, servers, hooks, is_first, style)| {
        let mut members: Vec<(String, Value)> = others;
        members.extend(servers.map(|servers| ("mcpServers".to_owned(), Value::Object(servers.into_iter().collect()))));
        members.extend(hooks.map(|hooks| ("hooks".to_owned(), serde_json::json!({ "SessionStart": hooks, "Stop": [] }))));
        if is_first {
            members.reverse();
        }
        style.file(&Value::Object(members.into_iter().collect()))
    })
}

fn read(file: &str) -> Value {
    jsonc::parse(split_mark(file).1).expect("JSON").map_or(Value::Null, |root| jsonc::value(&root))
}

/// Removes the entry of this program from a value.
fn without_us(mut value: Value, part: ClientEntry) -> Value {
    if let ClientEntry::Server(_) = part {
        value["mcpServers"].as_object_mut().expect("servers").shift_remove("memory").expect("our server");
    } else {
        for (event, _) in hooks::EVENTS {
            value["hooks"][event].as_array_mut().expect("a list").pop().expect("our hook");
        }
    }
    value
}

proptest! {
    #[test]
    fn others_keep_every_byte_and_get_all_of_them_back(file in files()) {
        for part in [SERVER, ClientEntry::Hooks] {
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
        }
    }

    #[test]
    fn nothing_that_somebody_may_write_makes_us_fail_otherwise_than_by_refusing(text in "[\\[\\]{}\",:/* \na1=.#memoryservp_]{0,40}") {
        for part in [SERVER, ClientEntry::Hooks, ClientEntry::Toml] {
            if let Ok(with) = install(Some(&text), part, &own()) {
                prop_assert_eq!(install(Some(&with), part, &own()), Ok(with.clone()));
                prop_assert_eq!(uninstall(&with, part, &own(), &[&text]), Ok(UninstallResult::Former(0)));
                prop_assert!(uninstall(&with, part, &own(), &[]).is_ok());
            }
        }
    }

    #[test]
    fn toml_of_others_keeps_every_byte(lines in prop::collection::vec(toml_line(), 0..8), line_break in prop_oneof![Just("\n"), Just("\r\n")]) {
        let text: String = lines.iter().flat_map(|line| [line.as_str(), line_break]).collect();
        prop_assume!(toml::find_command(&text, &own()).is_ok());
        let with = installed(&text, ClientEntry::Toml);
        prop_assert!(with.starts_with(&text));
        prop_assert_eq!(&installed(&with, ClientEntry::Toml), &with);
        let rest = uninstalled(&with, ClientEntry::Toml, &[]);
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
    for part in [SERVER, ClientEntry::Hooks, ClientEntry::Toml] {
        let made = install(None, part, &own()).expect("a file");
        assert_eq!(uninstalled(&made, part, &[]), UninstallResult::Nothing);
        // A file that existed and was empty is restored.
        assert_eq!(uninstalled(&made, part, &[""]), UninstallResult::Former(0));
    }
    let touched = install(None, SERVER, &own()).expect("a file").replacen('{', "{\n  \"theme\": \"dark\",", 1);
    assert_eq!(uninstalled(&touched, SERVER, &[]), UninstallResult::Text("{\n  \"theme\": \"dark\"\n}\n".into()));
}

#[test]
fn what_was_empty_before_us_stays_and_what_we_made_goes() {
    let former = "{\n  \"hooks\": { \"SessionStart\": [] },\n  \"a\": 1\n}\n";
    let touched = installed(former, ClientEntry::Hooks).replace("\"a\": 1", "\"a\": 2");
    let UninstallResult::Text(left) = uninstalled(&touched, ClientEntry::Hooks, &[former]) else { panic!("a text is left") };
    assert_eq!(read(&left), read(&former.replace("\"a\": 1", "\"a\": 2")));
    let UninstallResult::Text(left) = uninstalled(&touched, ClientEntry::Hooks, &[]) else { panic!("a text is left") };
    assert_eq!(left, "{\n  \"a\": 2\n}\n");
}

#[test]
fn a_backup_that_holds_us_is_no_former_file() {
    let former = "{\"a\": 1}";
    let old = install(Some(former), SERVER, &Invocation { program: "/old/memory".into(), ..own() }).expect("a file");
    let renewed = installed(&old, SERVER);
    assert_eq!(renewed, installed(former, SERVER));
    assert_eq!(uninstalled(&renewed, SERVER, &[&old, former]), UninstallResult::Former(1));
    // Another copy of the program may remove the entry.
    assert_eq!(uninstalled(&old, SERVER, &[former]), UninstallResult::Former(0));
}

#[test]
fn hooks_of_others_stay_beside_ours() {
    let file = r#"{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"date"}]}]}}"#;
    let with = installed(file, ClientEntry::Hooks);
    // A user merges both hooks into one group.
    let joined = r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"'/old/memory' hook session-start","timeout":1},{"type":"command","command":"date"}]}]}}"#;
    let renewed = installed(joined, ClientEntry::Hooks);
    assert!(renewed.contains(r#""/bin/memory hook session-start","timeout":1}"#), "{renewed}");
    assert_eq!(renewed.matches("session-start").count(), 1);
    let others = r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"date"}]}]}}"#;
    assert_eq!(uninstalled(&renewed, ClientEntry::Hooks, &[]), UninstallResult::Text(others.into()));
    assert_eq!(uninstalled(&with, ClientEntry::Hooks, &[]), UninstallResult::Text(file.into()));
}

#[test]
fn another_programs_entry_is_left_alone() {
    for entry in [r#"{"command":"npx","args":["-y","server-memory"]}"#, r#"{"url":"http://x/mcp"}"#, "1"] {
        let file = format!("{{\n\"mcpServers\":\n{{\"memory\":{entry}}}}}");
        let refusal = install(Some(&file), SERVER, &own()).expect_err("it is taken");
        assert!(refusal.is_foreign_entry() && refusal.line == 3, "{refusal:?}");
        assert_eq!(uninstalled(&file, SERVER, &[]), UninstallResult::Same);
    }
}
