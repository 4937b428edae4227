//! Tests of `memory daemon` with the user manager of systemd, in namespaces of their own.

use std::path::Path;
use std::process::Command;

use memory_core::testing::copy_program;
use serde_json::Value;
use tempfile::TempDir;

/// The user of the services; the file system must let it read the program.
const USER: &str = "65534";

/// Starts the user manager of systemd, and runs the script `$1` while it runs.
///
/// The manager runs only where `/run/systemd/system` exists, and needs a control group of its own.
const MANAGER: &str = r#"
set -e
mount --make-rprivate /
mount -t tmpfs none /run
mkdir -p /run/systemd/unit-root /run/systemd/propagate /run/systemd/inaccessible /run/systemd/system /run/user/USER
chown USER /run/user/USER
chmod 700 /run/user/USER
group=memory-test-$$
for hierarchy in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
    [ -e "$hierarchy/cgroup.procs" ] || continue
    mkdir -p "$hierarchy/$group"
    chown -R USER "$hierarchy/$group"
    echo $$ > "$hierarchy/$group/cgroup.procs"
done
exec setpriv --reuid USER --clear-groups env -i HOME="$HOME" PATH="$PATH" XDG_RUNTIME_DIR=/run/user/USER bash -c '
    /usr/lib/systemd/systemd --user --log-target=null &
    manager=$!
    until [ -S "$XDG_RUNTIME_DIR/systemd/private" ]; do kill -0 $manager && read -rt 0.05 <> <(:) || :; done
    eval "$1"
    systemctl --user exit
    wait $manager
' _ "$1"
"#;

/// A user with the program.
struct ServiceUser {
    home: TempDir,
}

impl ServiceUser {
    /// Returns the user, or `None` if this process may not create namespaces or systemd is not installed.
    fn create() -> Option<Self> {
        let can_unshare = Command::new("unshare")
            .args(["-m", "true"])
            .status()
            .is_ok_and(|status| status.success());
        if !can_unshare
            || !rustix::process::geteuid().is_root()
            || !Path::new("/usr/lib/systemd/systemd").exists()
        {
            memory_core::testing::leave_out("services need root and systemd");
            return None;
        }
        let home = tempfile::tempdir_in("/home").expect("a folder");
        copy_program(
            env!("CARGO_BIN_EXE_memory").as_ref(),
            &home.path().join("memory"),
        );
        let owned = Command::new("chown")
            .args(["-R", USER])
            .arg(home.path())
            .status();
        assert!(owned.expect("chown").success());
        Some(Self { home })
    }

    /// Runs a script of the user in the home folder, and returns its standard output.
    fn run(&self, script: &str) -> String {
        let manager = MANAGER.replace("USER", USER);
        let script = format!("cd\n{script}");
        let mut command = Command::new("unshare");
        command
            .args(["-m", "bash", "-c", &manager, "_", &script])
            .env("HOME", self.home.path());
        let done = command.output().expect("unshare runs");
        let (output, errors) = (
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr),
        );
        assert!(done.status.success(), "{output}{errors}");
        output.into_owned()
    }
}

#[test]
fn a_service_serves_agents_restarts_after_an_update_and_leaves_nothing() {
    let Some(user) = ServiceUser::create() else {
        return;
    };
    let output = user.run(
        r#"
        show() { systemctl --user show --value --property=MainPID memory.service; }
        ./memory service install --json
        before=$(show)
        ./memory status --json
        # An update replaces the file. The socket accepts connections meanwhile.
        cp memory new && mv new memory
        until [ "$(show)" != "$before" ] && systemctl --user is-active -q memory.service; do :; done
        ./memory status --json
        ./memory write "The user prefers tea" --quiet
        ./memory service status --json
        systemd-analyze --user security --offline=true --threshold=30 .config/systemd/user/memory.service >/dev/null && echo hardened
        ./memory service uninstall --json
        ./memory service status --json
        find .config -type f; ls .memory/memory.sock 2>/dev/null || echo "no socket"
        "#,
    );
    let lines: Vec<&str> = output.lines().collect();
    let [
        installed,
        first,
        second,
        _,
        status,
        hardened,
        deleted,
        gone,
        nothing,
    ] = lines[..]
    else {
        panic!("{output}")
    };
    let parse = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    assert_eq!(parse(installed)["state"], "active (running)", "{output}");
    assert_eq!(parse(installed)["sandboxed"], true, "{output}");
    let [first, second] = [first, second].map(|line| parse(line)["daemon"].clone());
    assert!(
        first["running"] == true && second["running"] == true && first["pid"] != second["pid"],
        "{output}"
    );
    assert!(
        first["socket"]
            .as_str()
            .is_some_and(|socket| socket.ends_with("/.memory/memory.sock")),
        "{output}"
    );
    assert_eq!(parse(status)["state"], "active (running)", "{output}");
    assert_eq!(hardened, "hardened");
    assert_eq!(
        parse(deleted)["deleted"].as_array().map(Vec::len),
        Some(2),
        "{output}"
    );
    assert_eq!(parse(gone)["installed"], false, "{output}");
    assert_eq!(nothing, "no socket");
}

#[test]
fn a_unit_of_another_program_is_left_and_a_failed_start_installs_nothing() {
    let Some(user) = ServiceUser::create() else {
        return;
    };
    let output = user.run(
        r#"
        mkdir -p .config/systemd/user && echo "[Service]" > .config/systemd/user/memory.service
        ./memory service install 2>&1 || echo "exit $?"
        cat .config/systemd/user/memory.service
        ./memory service uninstall 2>&1
        rm .config/systemd/user/memory.service
        mkdir -p .memory && echo "unknown: [" > .memory/config.yaml
        ./memory service install --root .memory >/dev/null 2>&1 || echo "exit $?"
        rm .memory/config.yaml
        ./memory service install --http 192.0.2.1:1 >/dev/null 2>&1 || echo "exit $?"
        find .config -type f
        "#,
    );
    let home = user.home.path().display().to_string();
    insta::assert_snapshot!(output.replace(&home, "~"), @"
    error[usage]: ~/.config/systemd/user/memory.service exists, and was not written by `memory daemon`
    hint: nothing was changed; delete or rename the file, and try again
    exit 2
    [Service]
    no service is installed for ~/.memory; nothing was changed
    exit 2
    exit 1
    ");
}
