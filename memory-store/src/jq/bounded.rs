//! A filter in a process of its own, which dies with what it takes too much of.

use std::io::{self, BufReader, BufWriter, Write};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use super::error::JqError;
use super::question::{Bounds, Helper, Question};
use super::wire::{self, Header};

/// One output, printed as it was asked for; or why there is none, after which the next input has its turn.
pub type Answer = Result<String, JqError>;

/// Runs a filter in a child process and gives its outputs in order.
///
/// An endless filter is stopped at the deadline, and one that needs too much memory or stack takes nobody along but the child.
///
/// # Errors
///
/// [`JqError::Syntax`] if the filter is not jq; [`JqError::Timeout`] and [`JqError::TooLarge`] if it costs more than `bounds`;
/// [`JqError::Process`] if `helper` cannot be started or does not serve. What went wrong with one input is an [`Answer`].
///
/// # Panics
///
/// If the system has no thread left.
pub fn bounded(helper: &Helper, question: &Question<'_>, bounds: &Bounds) -> Result<Vec<Answer>, JqError> {
    let mut command = Command::new(&helper.program);
    command.args(&helper.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| process(&error))?;
    let stdin = child.stdin.take().expect("it is a pipe");
    let stdout = child.stdout.take().expect("it is a pipe");
    let deadline = Instant::now() + bounds.time;
    let (heard, ended) = thread::scope(|scope| {
        // What is written and what is read may both be more than a pipe holds: neither waits for the other.
        scope.spawn(move || ask(stdin, question, bounds));
        let (tell, told) = mpsc::sync_channel(1);
        scope.spawn(move || tell.send(hear(stdout, bounds.memory)));
        let heard = told.recv_timeout(bounds.time);
        if matches!(heard, Ok(Heard::Broken(_))) {
            // It is about to be gone by itself, and how it went says why.
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                thread::yield_now();
            }
        }
        // Whoever is still there has said all, or too much, or nothing in time. Both threads see their pipes close.
        let _ = child.kill();
        (heard, child.wait())
    });
    match heard {
        Err(_) => Err(JqError::Timeout { limit: bounds.time }),
        Ok(Heard::TooMuch) => Err(JqError::TooLarge { limit: bounds.memory }),
        Ok(Heard::Broken(error)) => Err(ended.map_or_else(|error| process(&error), |status| died(status, &error, bounds))),
        Ok(Heard::All(mut answers)) => match answers.first() {
            Some(Err(JqError::Syntax { .. })) => answers.swap_remove(0).map(|_| Vec::new()),
            _ => Ok(answers),
        },
    }
}

/// What the child said.
enum Heard {
    All(Vec<Answer>),
    /// More than anybody wants.
    TooMuch,
    /// It stopped before it came to an end.
    Broken(io::Error),
}

/// If the child is not there any more, or does not listen, that is found out by hearing it.
fn ask(stdin: ChildStdin, question: &Question<'_>, bounds: &Bounds) -> io::Result<()> {
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

fn hear(stdout: ChildStdout, most: u64) -> Heard {
    let mut input = BufReader::new(stdout);
    let (mut answers, mut length) = (Vec::new(), 0);
    loop {
        match wire::read_answer(&mut input, most - length) {
            Ok(None) => return Heard::All(answers),
            Ok(Some(answer)) => {
                // An output costs more than its letters, or a great many empty ones would cost nothing.
                length += 96 + answer.as_ref().map_or(0, |text| text.len() as u64);
                answers.push(answer);
            }
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Heard::TooMuch,
            Err(error) => return Heard::Broken(error),
        }
        if most <= length {
            return Heard::TooMuch;
        }
    }
}

/// Whoever runs out of memory or stack aborts, and is not asked how it feels.
fn died(status: ExitStatus, error: &io::Error, bounds: &Bounds) -> JqError {
    match status.code() {
        None => match std::os::unix::process::ExitStatusExt::signal(&status) {
            Some(signal) if signal == rustix::process::Signal::XCPU.as_raw() => JqError::Timeout { limit: bounds.time },
            _ => JqError::TooLarge { limit: bounds.memory },
        },
        Some(code) => JqError::Process { message: format!("it ended with code {code} in the middle of an answer: {error}") },
    }
}

fn process(error: &io::Error) -> JqError {
    JqError::Process { message: error.to_string() }
}

#[cfg(test)]
mod tests;
