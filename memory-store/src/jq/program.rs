//! Compiles and runs filters.

use std::panic::resume_unwind;
use std::rc::Rc;
use std::thread;

use jaq_core::compile::{Compiler, Undefined};
use jaq_core::load::parse::Def;
use jaq_core::load::{Arena, File, Loader};
use jaq_core::{Ctx, Filter, Vars};

use super::definitions;
use super::engine::{JqRunContext, JqRunState, JqTypes};
use super::error::{JqError, JqSyntaxError};
use super::natives;
use super::parse;
use super::value::Val;
use super::wire::JqOutputFormat;
use super::write;

/// The name of the main program among the definitions.
const MAIN: &str = "_main";
/// The stack size of the parser thread, in bytes.
const STACK: usize = 16 << 20;

/// A compiled filter, which can be run any number of times.
pub struct JqProgram {
    filter: Filter<JqTypes>,
}

impl std::fmt::Debug for JqProgram {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Program").finish_non_exhaustive()
    }
}

/// An output of a filter.
#[derive(Debug, Clone, PartialEq)]
pub struct JqOutput(Val);

impl JqProgram {
    /// Compiles a filter.
    ///
    /// # Errors
    ///
    /// [`JqError::Syntax`] if it is not valid jq, or refers to an undefined name.
    ///
    /// # Panics
    ///
    /// If there is no memory for the stack of the parser thread.
    pub fn parse(filter: &str) -> Result<Self, JqError> {
        // The stack of the caller may be too small for the maximum nesting of a program.
        thread::scope(|scope| {
            let thread = thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, || Self::parse_here(filter));
            thread
                .expect("there is memory for a stack")
                .join()
                .unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    fn parse_here(filter: &str) -> Result<Self, JqError> {
        let arena = Arena::default();
        let parsed = parse::program(filter, &arena)?;
        let mut definitions = definitions::required_definitions(&parsed.calls, &arena);
        definitions.push(Def {
            name: MAIN,
            args: Vec::new(),
            body: parsed.term,
        });
        let main = File {
            code: MAIN,
            path: (),
        };
        let modules = Loader::new(definitions)
            .load(&arena, main)
            .expect("a name is a program");
        let compiled = Compiler::default()
            .with_funs(natives::all())
            .compile(modules);
        match compiled {
            Ok(filter) => Ok(Self { filter }),
            Err(errors) => {
                let errors = errors.into_iter().flat_map(|(_, errors)| errors).collect();
                Err(undefined_names(filter, errors).into())
            }
        }
    }

    /// Runs the filter on each value of `input`, which contains concatenated JSON values.
    ///
    /// A runtime error ends the run of the current value; an input error ends the whole run.
    ///
    /// There are no limits: an endless filter does not end, and deep recursion or deeply nested input overflows the stack and
    /// aborts the process. Run untrusted filters with [`super::run_bounded()`].
    pub fn run<'r>(
        &'r self,
        input: &'r str,
    ) -> impl Iterator<Item = Result<JqOutput, JqError>> + 'r {
        JqOutputs::new(self, input, RemainingInput::Each)
    }

    /// Runs the filter once, on `null`; its `input` and `inputs` read `input`.
    pub fn run_on_null<'r>(
        &'r self,
        input: &'r str,
    ) -> impl Iterator<Item = Result<JqOutput, JqError>> + 'r {
        JqOutputs::new(self, input, RemainingInput::Null)
    }
}

impl JqOutput {
    /// Returns the output as text.
    pub fn print(&self, form: JqOutputFormat) -> String {
        match (&self.0, form) {
            (Val::Str(text), JqOutputFormat::Raw | JqOutputFormat::RawPretty) => text.to_string(),
            (value, JqOutputFormat::Compact | JqOutputFormat::Raw) => write::compact(value),
            (value, JqOutputFormat::Pretty | JqOutputFormat::RawPretty) => write::pretty(value),
        }
    }
}

/// The remaining inputs of a run.
enum RemainingInput {
    Each,
    Null,
    Nothing,
}

/// The iterator over the outputs of a run.
struct JqOutputs<'p> {
    program: &'p JqProgram,
    shared: Rc<JqRunState<'p>>,
    current: Option<jaq_core::ValXs<'p, Val>>,
    left: RemainingInput,
    ended: bool,
}

impl<'p> JqOutputs<'p> {
    fn new(program: &'p JqProgram, input: &'p str, left: RemainingInput) -> Self {
        let text = input.strip_prefix('\u{feff}').unwrap_or(input);
        let shared = Rc::new(JqRunState {
            text,
            ..JqRunState::default()
        });
        Self {
            program,
            shared,
            current: None,
            left,
            ended: false,
        }
    }

    fn start(&mut self, value: Val) {
        let run = JqRunContext::new(&self.program.filter.lut, Rc::clone(&self.shared));
        let ctx = Ctx::<JqTypes>::new(run, Vars::new([]));
        self.current = Some(self.program.filter.id.run((ctx, value)));
    }

    fn halt_error(&mut self, code: i32) -> Option<Result<JqOutput, JqError>> {
        self.ended = true;
        let message = self.shared.halted.borrow_mut().take()?;
        Some(Err(JqError::Halted {
            message: message.text().to_string(),
            code,
        }))
    }
}

impl Iterator for JqOutputs<'_> {
    type Item = Result<JqOutput, JqError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.ended {
                return None;
            }
            if let Some(current) = &mut self.current {
                match current.next() {
                    Some(Ok(value)) => return Some(Ok(JqOutput(value))),
                    None => self.current = None,
                    Some(Err(error)) => {
                        self.current = None;
                        return match error.get_err() {
                            Ok(error) => Some(Err(JqError::Runtime {
                                message: error_message(error.into_val()),
                            })),
                            Err(other) => self.halt_error(other.get_halt().unwrap_or(0)),
                        };
                    }
                }
            } else {
                match self.next_input()? {
                    Ok(value) => self.start(value),
                    Err(error) => {
                        self.ended = true;
                        return Some(Err(error));
                    }
                }
            }
        }
    }
}

impl JqOutputs<'_> {
    fn next_input(&mut self) -> Option<Result<Val, JqError>> {
        match self.left {
            RemainingInput::Each => (),
            RemainingInput::Null => {
                self.left = RemainingInput::Nothing;
                return Some(Ok(Val::Null));
            }
            RemainingInput::Nothing => return None,
        }
        let value = self.shared.next()?;
        Some(value.map_err(|flaw| JqError::Input {
            message: flaw.to_string(),
        }))
    }
}

/// Returns the message of an uncaught error.
fn error_message(value: Val) -> String {
    match value {
        Val::Str(text) => text.to_string(),
        other => format!("(not a string): {}", write::compact(&other)),
    }
}

/// Returns the error for all undefined names, with their positions.
fn undefined_names(program: &str, errors: Vec<(&str, Undefined)>) -> JqSyntaxError {
    let whole = program.as_ptr() as usize..program.as_ptr() as usize + program.len();
    let mistakes = errors.into_iter().map(|(name, what)| {
        let message = match what {
            Undefined::Label => format!("$*label-{} is not defined", &name[1..]),
            Undefined::Filter(arity) => format!("{name}/{arity} is not defined"),
            _ => format!("{name} is not defined"),
        };
        let at = name.as_ptr() as usize;
        if !whole.contains(&at) {
            return message;
        }
        let start = at - whole.start;
        let start = match what {
            Undefined::Label => program[..start].rfind("break").unwrap_or(start),
            _ => start,
        };
        JqSyntaxError::at(program, start..at - whole.start + name.len(), &message).0
    });
    JqSyntaxError(mistakes.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests;
