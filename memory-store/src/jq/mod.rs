//! jq: what a filter makes of JSON, and that it takes neither too long nor too much.
//!
//! [`Program`] compiles and runs a filter in this very process; [`bounded`] runs it in a child, which calls [`serve_child`],
//! within [`Bounds`] of time and memory. What a filter cannot do: read files, modules or the environment, write anything but
//! its outputs, or take anybody along when it goes wrong.
//!
//! The evaluator is that of jaq (`jaq-core`). Around it stand a parser of jq's own grammar, values that keep every digit and
//! the order of keys, and the builtins with jq's error messages:
//!
//! | room | what is decided there |
//! |---|---|
//! | `lex`, `parse`, `term` | what a program says, in terms that jaq evaluates as jq would |
//! | `definitions`, `natives` | the builtins, written in jq or not; only what a program uses is compiled |
//! | `value`, `literal`, `number`, `arithmetic`, `place` | what values are, how they compare, add up, and are changed at a path |
//! | `read`, `write` | JSON as jq reads and prints it |
//! | `calendar` | dates; the only time zone is UTC |
//! | `engine`, `program` | how all of it runs |
//! | `question`, `wire`, `bounded`, `child` | a filter in a process of its own |
//!
//! # What differs from jq 1.8
//!
//! Of the 879 programs of jq 1.8's own tests, 859 give what they should; jq 1.8 itself, with neither modules nor a `PAGER` at
//! hand, 865 of them. The rest, by cause:
//!
//! | programs | cause |
//! |---|---|
//! | 12 | there are no modules: `import`, `include` and `modulemeta` are refused |
//! | 2 | there is no environment: `env` and `$ENV` are empty objects |
//! | 5 | a path that goes on from what is no path fails with another message: "with result …" instead of "near attempt to …" |
//! | 1 | values that nest deeper than 10,000 are compared by `==`, where jq refuses |
//!
//! Besides, where those tests do not look:
//!
//! - `?//` goes to the next pattern on an error of its own body, and not on one behind it; such a binding is no path once the
//!   first pattern has failed, nor is the value of a variable ever one.
//! - What is not a program is refused with jq's message and place, but without what was expected instead.
//! - Patterns are matched by another engine than jq's Oniguruma. It knows look-around, named groups and references back; the
//!   flag `l` (the longest match) does nothing.
//! - `now` is the time of the machine, and `localtime`, `strflocaltime` and `mktime` know no time zone but UTC.
//! - `input_filename` is `null`, `input_line_number` is 0, `debug` and `stderr` do nothing, `$__prog_args` does not exist.
//! - `-0` in a computation is written `-0`.
//! - Builtins of several arguments that each have several outputs go through the first ones in the outer loop.
//! - A program nests some 160 brackets at most, and has no more than 1,200 operators in a row.

mod arithmetic;
mod bounded;
mod calendar;
mod child;
mod definitions;
mod engine;
mod error;
mod fault;
mod lex;
mod literal;
mod natives;
mod number;
mod parse;
mod place;
mod program;
mod question;
mod read;
mod term;
mod value;
mod wire;
mod write;

pub use bounded::{Answer, bounded};
pub use child::serve_child;
pub use error::JqError;
pub use program::{Output, Program};
pub use question::{Bounds, Form, Helper, On, Question};
