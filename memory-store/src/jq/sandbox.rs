//! Runs a filter in a child process with limits on time and memory.

use std::io::{self, BufReader, BufWriter, Write};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use super::error::JqError;
use super::request::{JqChildCommand, JqLimits, JqRequest};
use super::wire::{self, Header};

/// An output as text, or the error of an input, after which the next input is processed.
pub type JqResult = Result<String, JqError>;

/// Runs a filter in a child process, and returns its outputs in order.
///
/// An endless filter is stopped at the deadline, and a filter that exceeds its memory or stack ends only the child process.
///
/// # Errors
///
/// [`JqError::Syntax`] if the filter is not valid jq; [`JqError::Timeout`] and [`JqError::TooLarge`] if it exceeds `bounds`;
/// [`JqError::Process`] if `helper` cannot be started or does not respond correctly. The error of a single input is an
/// [`JqResult`].
///
/// # Panics
///
/// If the system cannot start a thread.
pub fn run_bounded(helper: &JqChildCommand, question: &JqRequest<'_>, bounds: &JqLimits) -> Result<Vec<JqResult>, JqError> {
    let mut command = Command::new(&helper.program);
    command.args(&helper.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| process_error(&error))?;
    let stdin = child.stdin.take().expect("it is a pipe");
    let stdout = child.stdout.take().expect("it is a pipe");
    let deadline = Instant::now() + bounds.time;
    let (heard, ended) = thread::scope(|scope| {
        // Input and output may both exceed the capacity of a pipe, so they run on separate threads.
        scope.spawn(move || send_request(stdin, question, bounds));
        let (tell, told) = mpsc::sync_channel(1);
        scope.spawn(move || tell.send(read_results(stdout, bounds.memory)));
        let heard = told.recv_timeout(bounds.time);
        if matches!(heard, Ok(JqChildOutput::Broken(_))) {
            // The child is about to exit, and its exit status contains the reason.
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                thread::yield_now();
            }
        }
        // At this point the child has finished, exceeded a limit or timed out. Killing it closes the pipes of both threads.
        let _ = child.kill();
        (heard, child.wait())
    });
    match heard {
        Err(_) => Err(JqError::Timeout { limit: bounds.time }),
        Ok(JqChildOutput::TooMuch) => Err(JqError::TooLarge { limit: bounds.memory }),
        Ok(JqChildOutput::Broken(error)) => {
            Err(ended.map_or_else(|error| process_error(&error), |status| exit_error(status, &error, bounds)))
        }
        Ok(JqChildOutput::All(mut answers)) => match answers.first() {
            Some(Err(JqError::Syntax { .. })) => answers.swap_remove(0).map(|_| Vec::new()),
            _ => Ok(answers),
        },
    }
}

/// The result of reading the child's output.
enum JqChildOutput {
    All(Vec<JqResult>),
    /// The outputs exceed the limit.
    TooMuch,
    /// The child stopped before the end of its output.
    Broken(io::Error),
}

/// Sends the request to the child.
///
/// Errors may be ignored: if the child has exited, reading its output fails too.
fn send_request(stdin: ChildStdin, question: &JqRequest<'_>, bounds: &JqLimits) -> io::Result<()> {
    let mut out = BufWriter::new(stdin);
    let header = Header {
        memory: bounds.memory,
        seconds: bounds.time.as_secs() + 1,
        on: question.on,
        form: question.form,
        filter: question.filter.to_owned(),
    };
    header.write(&mut out)?;
    out.write_all(question.input.as_bytes())?;
    out.flush()
}

fn read_results(stdout: ChildStdout, most: u64) -> JqChildOutput {
    let mut input = BufReader::new(stdout);
    let (mut answers, mut length) = (Vec::new(), 0);
    loop {
        match wire::read_frame(&mut input, most - length) {
            Ok(None) => return JqChildOutput::All(answers),
            Ok(Some(answer)) => {
                // Each output has a fixed cost, so that a large number of empty outputs is limited too.
                length += 96 + answer.as_ref().map_or(0, |text| text.len() as u64);
                answers.push(answer);
            }
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return JqChildOutput::TooMuch,
            Err(error) => return JqChildOutput::Broken(error),
        }
        if most <= length {
            return JqChildOutput::TooMuch;
        }
    }
}

/// Converts the exit status of a child that stopped early.
///
/// A child that exceeds its memory or stack is aborted by a signal.
fn exit_error(status: ExitStatus, error: &io::Error, bounds: &JqLimits) -> JqError {
    match status.code() {
        None => match std::os::unix::process::ExitStatusExt::signal(&status) {
            Some(signal) if signal == rustix::process::Signal::XCPU.as_raw() => JqError::Timeout { limit: bounds.time },
            _ => JqError::TooLarge { limit: bounds.memory },
        },
        Some(code) => {
            JqError::Process { message: format!("the process exited with code {code} before the end of its output: {error}") }
        }
    }
}

fn process_error(error: &io::Error) -> JqError {
    JqError::Process { message: error.to_string() }
}

#[cfg(test)]
mod tests;
