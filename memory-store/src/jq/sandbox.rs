//! Runs a filter in a child process with limits on time and memory, and the child process itself.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::error::JqError;
use super::program::{JqOutput, JqProgram};
use super::slots::JqSlots;
use super::wire::{self, Header, JqChildCommand, JqInputMode, JqLimits, JqOutputFormat, JqRequest};
use crate::system::{disable_core_dumps, end_with_parent, exceeded_cpu_time, limit_resources};

/// The ratio of the memory limit of a filter to that of its outputs, which are in the memory of this process.
const MEMORY_PER_OUTPUT: u64 = 4;

/// An output as text, or the error of an input, after which the next input is processed.
pub type JqResult = Result<String, JqError>;

/// Runs a filter in a child process once there is a slot, and returns its outputs in order.
///
/// An endless filter is stopped at the deadline, and a filter that exceeds its memory or stack ends only the child process.
///
/// # Errors
///
/// [`JqError::Syntax`] if the filter is not valid jq; [`JqError::Timeout`] and [`JqError::TooLarge`] if it exceeds `bounds`;
/// [`JqError::Busy`] if other filters take all slots; [`JqError::Process`] if `helper` cannot be started or does not respond correctly. The error of a single input is an
/// [`JqResult`].
///
/// # Panics
///
/// If the system cannot start a thread.
pub fn run_bounded(
    helper: &JqChildCommand,
    question: &JqRequest<'_>,
    bounds: &JqLimits,
    slots: &JqSlots,
) -> Result<Vec<JqResult>, JqError> {
    let _slot = slots.acquire()?;
    let mut command = Command::new(&helper.program);
    command
        .args(&helper.arguments)
        .envs(helper.variables.iter().cloned())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| process_error(&error))?;
    let stdin = child.stdin.take().expect("it is a pipe");
    let stdout = child.stdout.take().expect("it is a pipe");
    let deadline = Instant::now() + bounds.time;
    let (heard, ended) = thread::scope(|scope| {
        // Input and output may both exceed the capacity of a pipe, so they run on separate threads.
        scope.spawn(move || send_request(stdin, question, bounds));
        let (tell, told) = mpsc::sync_channel(1);
        scope.spawn(move || tell.send(read_results(stdout, bounds.memory / MEMORY_PER_OUTPUT)));
        let heard = told.recv_timeout(bounds.time);
        if matches!(heard, Ok(JqChildOutput::Broken(_))) {
            // The child is about to exit, and its exit status contains the reason.
            while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
                thread::park_timeout(Duration::from_millis(1));
            }
        }
        // At this point the child has finished, exceeded a limit or timed out. Killing it closes the pipes of both threads.
        let _ = child.kill();
        (heard, child.wait())
    });
    match heard {
        Err(_) => Err(JqError::Timeout { limit: bounds.time }),
        Ok(JqChildOutput::TooMuch) => Err(JqError::TooLarge {
            limit: bounds.memory,
        }),
        Ok(JqChildOutput::Broken(error)) => Err(ended.map_or_else(
            |error| process_error(&error),
            |status| exit_error(status, &error, bounds),
        )),
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
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return JqChildOutput::TooMuch;
            }
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
        None if exceeded_cpu_time(status) => JqError::Timeout { limit: bounds.time },
        None => JqError::TooLarge {
            limit: bounds.memory,
        },
        Some(code) => JqError::Process {
            message: format!(
                "the process exited with code {code} before the end of its output: {error}"
            ),
        },
    }
}

fn process_error(error: &io::Error) -> JqError {
    JqError::Process {
        message: error.to_string(),
    }
}

/// Reads one request from `input`, runs its filter within its limits, and writes the outputs to `out`.
///
/// The limits apply to the whole process from then on: a filter that exceeds them ends the process. A program that is started for
/// this purpose calls this function and exits.
///
/// # Errors
///
/// If the request cannot be read, or the outputs cannot be written.
pub fn serve_child(mut input: impl Read, out: impl Write + Send) -> io::Result<()> {
    // Without its parent process, the filter would run outside of its slot. If that one has exited already, CPU time is limited.
    end_with_parent()?;
    let header = Header::read(&mut input)?;
    limit_resources(header.memory, header.seconds)?;
    disable_core_dumps()?;
    let mut text = Vec::new();
    input.read_to_end(&mut text)?;
    let text = String::from_utf8(text)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    // Filters may be recursive and values nested, so the stack is large. Only used pages of it cost memory.
    let stack = usize::try_from(header.memory / 4).unwrap_or(usize::MAX);
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .stack_size(stack)
            .spawn_scoped(scope, || run_request(&header, &text, out))?;
        thread
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the filter crashed")))
    })
}

fn run_request(header: &Header, text: &str, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    match JqProgram::parse(&header.filter) {
        Err(error) => wire::write_frame(&Err(error), &mut out)?,
        Ok(program) => match header.on {
            JqInputMode::Each => write_outputs(program.run(text), header.form, &mut out)?,
            JqInputMode::Null => write_outputs(program.run_on_null(text), header.form, &mut out)?,
        },
    }
    wire::write_end(&mut out)?;
    out.flush()
}

fn write_outputs(
    outputs: impl Iterator<Item = Result<JqOutput, JqError>>,
    form: JqOutputFormat,
    out: &mut impl Write,
) -> io::Result<()> {
    for output in outputs {
        wire::write_frame(&output.map(|output| output.print(form)), out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
