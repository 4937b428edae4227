//! jq: an evaluator for jq filters on JSON, with limits on time and memory.
//!
//! [`JqProgram`] compiles and runs a filter in the current process; [`run_bounded()`] runs it in a child process, which calls
//! [`serve_child`], within [`JqLimits`] of time and memory, and with one of the [`JqSlots`]. A filter cannot read files, modules or the environment, and its only
//! effect is its output.
//!
//! The evaluator is that of jaq (`jaq-core`). This module adds a parser of jq's own grammar, values that preserve all digits and
//! the order of keys, and the builtins with jq's error messages:
//!
//! | module | content |
//! |---|---|
//! | `lex`, `parse`, `term` | the parser, and the translation to terms that jaq evaluates like jq |
//! | `definitions`, `natives` | the builtins, written in jq and in Rust; only those that a program uses are compiled |
//! | `value`, `literal`, `number`, `arithmetic`, `json_path` | values, their comparison and arithmetic, and changes at a path |
//! | `read`, `write` | JSON as jq parses and prints it |
//! | `engine`, `program` | the execution of programs |
//! | `wire`, `sandbox`, `slots` | the execution in a child process, and how many run at the same time |
//!
//! # Differences from jq 1.8
//!
//! Of the 879 programs of jq 1.8's own tests, 859 give the expected result; jq 1.8 itself, without modules and without a `PAGER`,
//! passes 865 of them. The other failures by cause:
//!
//! | programs | cause |
//! |---|---|
//! | 12 | there are no modules: `import`, `include` and `modulemeta` are refused |
//! | 2 | there is no environment: `env` and `$ENV` are empty objects |
//! | 5 | an access after a non-path expression fails with another message: "with result …" instead of "near attempt to …" |
//! | 1 | values with a nesting of more than 10,000 are compared by `==`, where jq refuses |
//!
//! These differences are not covered by those tests:
//!
//! - `?//` tries the next pattern after an error of its own body, but not after an error behind it. Such a binding is not a path
//!   after the first pattern has failed, and the value of a variable is never a path.
//! - An invalid program is refused with jq's message and position, but without the list of expected tokens.
//! - Regular expressions use another engine than jq's Oniguruma. It supports look-around, named groups and backreferences; the
//!   flag `l` (longest match) has no effect.
//! - `now` is the time of the machine, and `localtime`, `strflocaltime` and `mktime` support no time zone but UTC. Years are
//!   from -262143 to 262142; `strftime` writes them with at least four digits, and with a sign outside of 0 to 9999.
//! - `input_filename` is `null`, `input_line_number` is 0, `debug` and `stderr` have no effect, `$__prog_args` does not exist.
//! - `-0` as the result of a computation is printed as `-0`.
//! - Builtins with several arguments that each have several outputs iterate over the first argument in the outer loop.
//! - A program has at most about 160 nested brackets and 1,200 operators in a row.
//!
//! A child process is necessary because nothing less survives a filter that calls itself forever.

mod arithmetic;
mod definitions;
mod engine;
mod error;
mod json_path;
mod lex;
mod literal;
mod natives;
mod number;
mod parse;
mod program;
mod read;
mod sandbox;
mod slots;
mod term;
mod value;
mod wire;
mod write;

pub use error::JqError;
pub use program::{JqOutput, JqProgram};
pub use sandbox::{JqResult, run_bounded, serve_child};
pub use slots::JqSlots;
pub use wire::{JqChildCommand, JqInputMode, JqLimits, JqOutputFormat, JqRequest};
