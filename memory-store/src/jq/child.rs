//! The child process that runs a filter.

use std::io::{self, BufWriter, Read, Write};
use std::thread;

use rustix::process::{Resource, Rlimit, setrlimit};

use super::error::JqError;
use super::program::{JqOutput, JqProgram};
use super::request::{JqInputMode, JqOutputFormat};
use super::wire::{self, Header};
use crate::core_dump::disable_core_dumps;

/// Reads one request from `input`, runs its filter within its limits, and writes the outputs to `out`.
///
/// The limits apply to the whole process from then on: a filter that exceeds them ends the process. A program that is started for
/// this purpose calls this function and exits.
///
/// # Errors
///
/// If the request cannot be read, or the outputs cannot be written.
pub fn serve_child(mut input: impl Read, out: impl Write + Send) -> io::Result<()> {
    let header = Header::read(&mut input)?;
    set_limits(&header)?;
    let mut text = Vec::new();
    input.read_to_end(&mut text)?;
    let text = String::from_utf8(text).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    // Filters may be recursive and values nested, so the stack is large. Only used pages of it cost memory.
    let stack = usize::try_from(header.memory / 4).unwrap_or(usize::MAX);
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(stack).spawn_scoped(scope, || run_request(&header, &text, out))?;
        thread.join().unwrap_or_else(|_| Err(io::Error::other("the filter crashed")))
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

/// Sets the limits of the process on memory and CPU time.
///
/// Only memory that is written counts, including stacks; mapped files do not, so the size of the executable does not matter. CPU
/// time is limited in case the parent process has exited.
fn set_limits(header: &Header) -> io::Result<()> {
    let bound = |most| Rlimit { current: Some(most), maximum: Some(most) };
    #[cfg(target_os = "linux")]
    let memory = Resource::Data;
    #[cfg(not(target_os = "linux"))]
    let memory = Resource::As;
    setrlimit(memory, bound(header.memory))?;
    setrlimit(Resource::Cpu, bound(header.seconds))?;
    disable_core_dumps()
}
