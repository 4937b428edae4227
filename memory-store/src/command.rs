//! Runs another program with a time limit.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Maximum length of the error output in a message, in bytes.
const MAX_STDERR: usize = 300;

/// Polling interval for the end of a program that has closed its error output.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Runs a program, which must end within `patience`.
///
/// # Errors
/// The failure as a predicate, as in "failed (exit status: 1)".
pub(crate) fn run(command: &mut Command, patience: Duration) -> Result<(), String> {
    run_with_streams(command, [Stdio::null(), Stdio::null()], patience)
}

/// Runs a program as [`run`] does, with the given standard input and output.
///
/// Neither may be a pipe, since no thread serves the other end.
pub(crate) fn run_with_streams(
    command: &mut Command,
    [from, to]: [Stdio; 2],
    patience: Duration,
) -> Result<(), String> {
    let deadline = Instant::now() + patience;
    let mut child = command
        .stdin(from)
        .stdout(to)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("could not be started: {error}"))?;
    let complaint = read_stderr(&mut child).recv_timeout(patience).ok();
    let ended = complaint
        .as_ref()
        .map_or(Ok(None), |_| wait_for_exit(&mut child, deadline));
    match ended {
        Ok(Some(status)) if status.success() => Ok(()),
        Ok(Some(status)) => {
            let complaint = complaint.unwrap_or_default();
            let because = if complaint.is_empty() {
                String::new()
            } else {
                format!(": {complaint}")
            };
            Err(format!("failed ({status}){because}"))
        }
        Ok(None) => {
            // If the program cannot be killed, its end is not awaited.
            let _ = child.kill().and_then(|()| child.wait());
            Err(format!(
                "did not finish within {} s",
                patience.as_secs_f32()
            ))
        }
        Err(error) => Err(format!("could not be waited for: {error}")),
    }
}

/// Returns a channel that receives the error output once the program closes it or ends.
fn read_stderr(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    let mut stream = child.stderr.take();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(stream) = &mut stream {
            // Output that cannot be read counts as empty.
            let _ = stream.take(MAX_STDERR as u64).read_to_end(&mut bytes);
            let _ = io::copy(stream, &mut io::sink());
        }
        // The receiver may have timed out.
        let _ = sender.send(memory_core::text::to_one_line(
            &String::from_utf8_lossy(&bytes),
            MAX_STDERR,
        ));
    });
    receiver
}

fn wait_for_exit(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    loop {
        let ended = child.try_wait()?;
        if ended.is_some() || deadline <= Instant::now() {
            return Ok(ended);
        }
        thread::park_timeout(POLL_INTERVAL);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Result<(), String> {
        run(Command::new("/bin/sh").args(["-c", script]), patience)
    }

    const LONG: Duration = Duration::from_mins(1);
    const SHORT: Duration = Duration::from_millis(50);

    #[test]
    fn how_a_program_ends_is_told() {
        assert_eq!(shell("exit 0", LONG), Ok(()));
        let failed = shell("echo no \u{1b}[31mbus >&2; exit 3", LONG);
        assert_eq!(failed, Err("failed (exit status: 3): no [31mbus".into()));
        assert!(
            run(&mut Command::new("/nowhere/program"), LONG)
                .is_err_and(|why| why.starts_with("could not be started"))
        );
    }

    #[test]
    fn a_program_that_does_not_end_is_ended() {
        let late = Err("did not finish within 0.05 s".to_owned());
        assert_eq!(shell("exec cat /dev/zero > /dev/null", SHORT), late);
        assert_eq!(
            shell("exec 2> /dev/null; exec cat /dev/zero > /dev/null", SHORT),
            late
        );
    }

    #[test]
    fn a_program_that_complains_at_length_ends_all_the_same() {
        let told = shell(
            "i=0; while [ $i -lt 3000 ]; do echo 'a long complaint, again and again' >&2; i=$((i+1)); done; exit 1",
            LONG,
        );
        assert!(told.is_err_and(|why| why.len() < 400));
    }
}
