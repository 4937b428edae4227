//! Hooks that run as shell commands.

use std::io::{Read, Write};
use std::process::Stdio;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Hook, HookEvent, HookOutcome, PATIENCE};
use crate::exact_json;
use crate::system::{kill_group, own_group, shell_command, wait_for_exit};

/// A shell command that receives the occasion as JSON on standard input and prints its result.
///
/// For the input see [`HookEvent::json`]. Valid output is nothing to continue, `{"block": "reason"}`, `{"parameters":
/// {…}}` or `{"result": …}`. A non-zero exit status or a timeout is a failure. When the command ends or times out, all
/// processes of its group are killed.
#[derive(Debug)]
pub struct ShellHook {
    command: String,
}

/// Maximum length of the output, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;

/// Maximum length of the standard error text in a message.
const MAX_STDERR: usize = 200;

/// Time between the timeout of the command and that of the hook thread, for reading the output.
const OUTPUT_GRACE: Duration = Duration::from_millis(250);

impl ShellHook {
    /// Creates a hook that runs `command` with `sh -c`, or on Windows with `cmd /C`.
    pub fn new(command: &str) -> Self {
        Self {
            command: command.to_owned(),
        }
    }

    fn run_command(&self, given: &str, patience: Duration) -> Result<String, String> {
        let mut command = shell_command(&self.command);
        own_group(&mut command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| format!("it cannot be run: {error}"))?;
        let (sender, outputs) = sync_channel(2);
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let given = given.to_owned();
        // A command may ignore its standard input.
        drop(thread::spawn(move || {
            stdin.map(|mut stdin| stdin.write_all(given.as_bytes()))
        }));
        let errors = sender.clone();
        drop(thread::spawn(move || {
            errors.send((false, stderr.map(read_all).unwrap_or_default()))
        }));
        drop(thread::spawn(move || {
            sender.send((true, stdout.map(read_all).unwrap_or_default()))
        }));
        let end = Instant::now() + patience + OUTPUT_GRACE;
        let has_ended = wait_for_exit(&mut child, patience);
        // Kills processes that the command left behind. The process id cannot be reused before the `wait` below.
        kill_group(&mut child);
        let status = child
            .wait()
            .map_err(|error| format!("cannot wait for it: {error}"))?;
        if !has_ended {
            return Err(format!(
                "it did not end within {} s",
                patience.as_secs_f32()
            ));
        }
        let (mut answer, mut complaint) = (String::new(), String::new());
        for _ in 0..2 {
            match outputs.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok((true, text)) => answer = text,
                Ok((false, text)) => complaint = text,
                // A process has left the group and still holds the stream open.
                Err(_) => return Err("a process that it started keeps its output open".into()),
            }
        }
        if status.success() {
            return Ok(answer);
        }
        let said = memory_core::text::to_one_line(&complaint, MAX_STDERR);
        Err(if said.is_empty() {
            format!("it ended with {status}")
        } else {
            format!("it ended with {status}: {said}")
        })
    }
}

impl Hook for ShellHook {
    fn name(&self) -> String {
        format!("`{}`", memory_core::text::to_one_line(&self.command, 60))
    }

    fn run(&self, occasion: &HookEvent) -> Result<HookOutcome, String> {
        // The trailing line break lets a command such as `cat >> events.jsonl` write one line per event.
        let output = self.run_command(
            &format!("{}\n", exact_json::to_text(&occasion.json())),
            PATIENCE.saturating_sub(2 * OUTPUT_GRACE),
        )?;
        if matches!(occasion, HookEvent::Event(_)) || output.trim().is_empty() {
            return Ok(HookOutcome::Go);
        }
        parse_output(&output)
    }
}

fn parse_output(output: &str) -> Result<HookOutcome, String> {
    let wrong =
        "its output is none of {\"block\": \"reason\"}, {\"parameters\": {…}} and {\"result\": …}";
    let Ok(Value::Object(said)) = exact_json::from_slice(output.as_bytes()) else {
        return Err(wrong.into());
    };
    let mut said = said.into_iter();
    let answer = match said.next() {
        None => HookOutcome::Go,
        Some((key, Value::String(reason))) if key == "block" => HookOutcome::Block(reason),
        Some((key, parameters @ Value::Object(_))) if key == "parameters" => {
            HookOutcome::Parameters(parameters)
        }
        Some((key, result)) if key == "result" => HookOutcome::Result(result),
        Some(_) => return Err(wrong.into()),
    };
    if said.next().is_some() {
        Err("its output has more than one key".into())
    } else {
        Ok(answer)
    }
}

fn read_all(stream: impl Read) -> String {
    let mut bytes = Vec::new();
    // After a read error, the text read so far is used.
    let _ = stream.take(MAX_OUTPUT).read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use serde_json::json;

    use super::*;
    use crate::hook::ToolCall;

    fn run_hook(command: &str) -> Result<HookOutcome, String> {
        let call = ToolCall {
            agent: "claude".into(),
            tool: "memory_write".into(),
            parameters: json!({ "content": "tea" }),
        };
        ShellHook::new(command).run(&HookEvent::Before(call))
    }

    #[test]
    fn a_command_says_what_it_wants_on_its_output() {
        assert_eq!(run_hook("true"), Ok(HookOutcome::Go));
        assert_eq!(
            run_hook(r#"echo '{"block": "no tea"}'"#),
            Ok(HookOutcome::Block("no tea".into()))
        );
        let tea = HookOutcome::Parameters(json!({ "agent": "claude", "content": "tea" }));
        let copies = r#"python3 -c 'import json,sys; g=json.load(sys.stdin); print(json.dumps({"parameters": {"agent": g["agent"], **g["parameters"]}}))'"#;
        assert_eq!(run_hook(copies), Ok(tea));
    }

    #[test]
    fn what_is_no_answer_is_a_failure_that_says_why() {
        assert_eq!(
            run_hook("echo broken >&2; exit 3").unwrap_err(),
            "it ended with exit status: 3: broken"
        );
        assert!(
            run_hook("echo yes")
                .unwrap_err()
                .starts_with("its output is none of")
        );
        assert!(
            run_hook(r#"echo '{"block": "a", "result": 1}'"#)
                .unwrap_err()
                .contains("more than one")
        );
    }

    #[test]
    fn a_command_that_does_not_end_is_killed_with_what_it_started() {
        let late = ShellHook::new("cat; exec 0</dev/null; sleep 1000 & wait")
            .run_command("", Duration::from_millis(300));
        assert_eq!(late.unwrap_err(), "it did not end within 0.3 s");
    }

    #[test]
    fn what_a_command_leaves_behind_ends_with_it_and_holds_up_nobody() {
        if cfg!(portable_system) {
            // The portable implementation does not find the processes that a finished command left behind.
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .expect("mkfifo")
                .success()
        );
        let (sender, ended) = sync_channel(1);
        let heard = pipe.clone();
        thread::spawn(move || sender.send(std::fs::read(heard).expect("it is read to its end")));
        // The background process keeps the pipe open as long as it runs.
        let leaves = format!("exec 3>'{}'; sleep 1000 >/dev/null 2>&1 &", pipe.display());
        assert_eq!(
            ShellHook::new(&leaves)
                .run_command("", Duration::from_mins(1))
                .as_deref(),
            Ok("")
        );
        assert_eq!(
            ended.recv_timeout(Duration::from_mins(1)),
            Ok(Vec::new()),
            "it was left behind"
        );
        assert_eq!(
            ShellHook::new("sleep 1000 &")
                .run_command("", Duration::from_mins(1))
                .as_deref(),
            Ok("")
        );
    }
}
