//! The units of systemd.
//!
//! The socket exists while the user is logged in, so an agent that connects starts the daemon, and waits while it is restarted.

use std::path::Path;

use super::{MARKER, RESTART_EXIT_CODE, Sandbox, Service, ServiceFile};

/// Restrictions that need a namespace of the user, which some systems do not allow.
const NAMESPACE_RESTRICTIONS: &str = "PrivateUsers=yes
CapabilityBoundingSet=
PrivateDevices=yes
PrivateMounts=yes
PrivateTmp=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProtectSystem=strict
";

/// Restrictions that every system supports.
const RESTRICTIONS: &str = "KeyringMode=private
LockPersonality=yes
MemoryDenyWriteExecute=yes
NoNewPrivileges=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallErrorNumber=EPERM
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
UMask=0077
";

/// Exit codes of systemd when it cannot set up the restrictions of a service.
const SETUP_FAILURES: std::ops::RangeInclusive<i32> = 200..=245;

/// Returns the units of a service in the folder of the user's units.
pub(super) fn files(service: &Service, folder: &Path, sandbox: Sandbox) -> Vec<ServiceFile> {
    let unit = |extension: &str, text: String| ServiceFile {
        path: folder.join(format!("{}.{extension}", service.name)),
        text,
    };
    vec![
        unit("service", service_unit(service, sandbox)),
        unit("socket", socket_unit(service)),
    ]
}

fn service_unit(service: &Service, sandbox: Sandbox) -> String {
    let command: Vec<_> = service
        .arguments()
        .iter()
        .map(|argument| quote(argument, true))
        .collect();
    let namespaces = match sandbox {
        Sandbox::Full => {
            format!(
                "{NAMESPACE_RESTRICTIONS}ReadWritePaths=%h {}\n",
                quote(&service.root.display().to_string(), false)
            )
        }
        Sandbox::WithoutNamespaces => String::new(),
    };
    let (name, command) = (&service.name, command.join(" "));
    format!(
        "# {MARKER}
[Unit]
Description=Memories of AI agents
Requires={name}.socket
After={name}.socket

[Service]
Type=notify
ExecStart={command}
Restart=on-failure
RestartSec=2
RestartForceExitStatus={RESTART_EXIT_CODE}
{namespaces}{RESTRICTIONS}
[Install]
WantedBy=default.target
"
    )
}

fn socket_unit(service: &Service) -> String {
    let path = service
        .root
        .join(memory_agent::socket::NAME)
        .display()
        .to_string()
        .replace('%', "%%");
    format!(
        "# {MARKER}
[Unit]
Description=Memories of AI agents

[Socket]
ListenStream={path}
SocketMode=0600
DirectoryMode=0700
RemoveOnStop=yes

[Install]
WantedBy=sockets.target
"
    )
}

/// Returns the commands that start a service whose units were written.
pub(super) fn start_commands(service: &Service) -> Vec<Vec<String>> {
    let (socket, unit) = (
        format!("{}.socket", service.name),
        format!("{}.service", service.name),
    );
    vec![
        command(&["daemon-reload"]),
        command(&["enable", "--quiet", &socket, &unit]),
        command(&["restart", &socket]),
        command(&["restart", &unit]),
    ]
}

/// Returns the commands that stop a service before its units are deleted.
pub(super) fn stop_commands(name: &str) -> Vec<Vec<String>> {
    vec![command(&[
        "disable",
        "--quiet",
        "--now",
        &format!("{name}.socket"),
        &format!("{name}.service"),
    ])]
}

/// Returns the commands after the units were deleted.
pub(super) fn cleanup_commands() -> Vec<Vec<String>> {
    vec![command(&["daemon-reload"]), command(&["reset-failed"])]
}

/// Returns the command that prints the properties for [`parse_state`].
pub(super) fn state_command(name: &str) -> Vec<String> {
    command(&[
        "show",
        "--property=ActiveState,SubState,ExecMainStatus",
        &format!("{name}.service"),
    ])
}

/// Parses the state of a service, such as `active (running)`, and whether its restrictions could not be set up.
pub(super) fn parse_state(properties: &str) -> (String, bool) {
    let value = |name: &str| {
        let mut lines = properties
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        lines.next().unwrap_or_default().trim()
    };
    let refused = value("ExecMainStatus")
        .parse()
        .is_ok_and(|status: i32| SETUP_FAILURES.contains(&status));
    (
        format!("{} ({})", value("ActiveState"), value("SubState")),
        refused,
    )
}

fn command(arguments: &[&str]) -> Vec<String> {
    ["systemctl", "--user"]
        .iter()
        .chain(arguments)
        .map(ToString::to_string)
        .collect()
}

/// Quotes an argument for a unit. In command lines, `$` begins a variable.
fn quote(argument: &str, is_command: bool) -> String {
    let mut quoted = String::from("\"");
    for character in argument.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\n' => quoted.push_str("\\n"),
            '%' => quoted.push_str("%%"),
            '$' if is_command => quoted.push_str("$$"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service() -> Service {
        Service {
            name: "memory".into(),
            program: "/opt/a b/memory".into(),
            root: "/home/ada/100% $x".into(),
            http: None,
        }
    }

    #[test]
    fn paths_with_special_characters_are_quoted() {
        let [unit, socket] = &files(&service(), Path::new("/units"), Sandbox::Full)[..] else {
            panic!("two units")
        };
        assert_eq!(unit.path, Path::new("/units/memory.service"));
        let line = r#"ExecStart="/opt/a b/memory" "daemon" "run" "--log" "-" "--root" "/home/ada/100%% $$x""#;
        assert!(unit.text.lines().any(|own| own == line), "{}", unit.text);
        assert!(
            unit.text
                .contains("ReadWritePaths=%h \"/home/ada/100%% $x\"\n"),
            "{}",
            unit.text
        );
        assert!(
            socket
                .text
                .contains("ListenStream=/home/ada/100%% $x/memory.sock\n"),
            "{}",
            socket.text
        );
    }

    #[test]
    fn a_system_without_namespaces_gets_the_other_restrictions() {
        let files = files(&service(), Path::new("/units"), Sandbox::WithoutNamespaces);
        assert!(files[0].text.contains("NoNewPrivileges=yes"));
        assert!(
            !files[0].text.contains("PrivateUsers") && !files[0].text.contains("ReadWritePaths")
        );
    }

    #[test]
    fn states_are_parsed() {
        let state = |text: &str| parse_state(text);
        assert_eq!(
            state("ActiveState=active\nSubState=running\nExecMainStatus=0\n"),
            ("active (running)".into(), false)
        );
        assert_eq!(
            state("ExecMainStatus=226\nActiveState=failed\nSubState=failed\n"),
            ("failed (failed)".into(), true)
        );
        assert!(!state("ActiveState=activating\nSubState=auto-restart\nExecMainStatus=1").1);
    }
}
