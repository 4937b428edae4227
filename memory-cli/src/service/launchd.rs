//! The launch agent of macOS.

use std::path::Path;

use super::{MARKER, Service, ServiceFile};

/// Returns the property list of a service in the folder of the user's launch agents.
pub(super) fn files(service: &Service, folder: &Path) -> Vec<ServiceFile> {
    let label = label(&service.name);
    let lines = service
        .arguments()
        .into_iter()
        .map(|argument| format!("        <string>{}</string>\n", escape(&argument)));
    let arguments = lines.collect::<Vec<_>>().concat();
    let log = escape(&service.root.join("daemon.log").display().to_string());
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- {MARKER} -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
    <key>Label</key>
    <string>{label}</string>
    <key>ProgramArguments</key>
    <array>
{arguments}    </array>
    <key>KeepAlive</key>
    <dict>
        <key>SuccessfulExit</key>
        <false/>
    </dict>
    <key>ProcessType</key>
    <string>Background</string>
    <key>RunAtLoad</key>
    <true/>
    <key>StandardErrorPath</key>
    <string>{log}</string>
    <key>Umask</key>
    <integer>63</integer>
</dict>
</plist>
"#
    );
    vec![ServiceFile {
        path: folder.join(format!("{label}.plist")),
        text,
    }]
}

/// Returns the commands that start a service whose property list was written. `user` is the id of the user.
pub(super) fn start_commands(file: &Path, name: &str, user: u32) -> Vec<Vec<String>> {
    let restart = format!("{}/{}", domain(user), label(name));
    vec![
        command(&["bootstrap", &domain(user), &file.display().to_string()]),
        command(&["kickstart", "-k", &restart]),
    ]
}

/// Returns the commands that stop a service.
pub(super) fn stop_commands(name: &str, user: u32) -> Vec<Vec<String>> {
    vec![command(&[
        "bootout",
        &format!("{}/{}", domain(user), label(name)),
    ])]
}

/// Returns the command that prints the properties for [`parse_state`].
pub(super) fn state_command(name: &str, user: u32) -> Vec<String> {
    command(&["print", &format!("{}/{}", domain(user), label(name))])
}

/// Parses the state of a service, such as `running`.
pub(super) fn parse_state(description: &str) -> String {
    let state = description
        .lines()
        .find_map(|line| line.trim().strip_prefix("state = "));
    state.unwrap_or("unknown").to_owned()
}

/// Returns the label of a service.
fn label(name: &str) -> String {
    format!("local.{name}")
}

fn domain(user: u32) -> String {
    format!("gui/{user}")
}

fn command(arguments: &[&str]) -> Vec<String> {
    ["launchctl"]
        .iter()
        .chain(arguments)
        .map(ToString::to_string)
        .collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_escaped() {
        let service = Service {
            name: "memory".into(),
            program: "/opt/a&b/memory".into(),
            root: "/Users/ada/.memory".into(),
            http: None,
        };
        let [file] = &files(&service, Path::new("/agents"))[..] else {
            panic!("one file")
        };
        assert_eq!(file.path, Path::new("/agents/local.memory.plist"));
        assert!(
            file.text
                .contains("<string>/opt/a&amp;b/memory</string>\n        <string>daemon</string>\n        <string>run</string>"),
            "{}",
            file.text
        );
        assert_eq!(
            start_commands(&file.path, "memory", 501)[0].join(" "),
            "launchctl bootstrap gui/501 /agents/local.memory.plist"
        );
    }

    #[test]
    fn the_state_is_parsed() {
        assert_eq!(
            parse_state("gui/501/local.memory = {\n\tactive count = 1\n\tstate = running\n}"),
            "running"
        );
        assert_eq!(parse_state(""), "unknown");
    }
}
