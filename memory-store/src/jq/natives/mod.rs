//! Builtins that are implemented in Rust.

#![expect(
    clippy::needless_pass_by_value,
    clippy::unnecessary_wraps,
    reason = "a builtin takes its input, which some change in place, and may fail, which some never do"
)]

mod collections;
mod control;
mod dates;
mod formats;
mod math;
mod paths;
mod regex;
mod strings;

use jaq_core::native::Fun;

use super::engine::JqTypes;

/// Defines a builtin with no, one or two arguments besides the input.
macro_rules! builtin {
    ($name:literal, $function:path) => {
        jaq_core::native::run::<JqTypes>(($name, jaq_core::native::v(0), |cv| {
            jaq_core::native::bome($function(cv.1))
        }))
    };
    ($name:literal, $function:path, 1) => {
        jaq_core::native::run::<JqTypes>(($name, jaq_core::native::v(1), |mut cv| {
            let argument = cv.0.pop_var();
            jaq_core::native::bome($function(cv.1, &argument))
        }))
    };
    ($name:literal, $function:path, 2) => {
        jaq_core::native::run::<JqTypes>(($name, jaq_core::native::v(2), |mut cv| {
            let second = cv.0.pop_var();
            let first = cv.0.pop_var();
            jaq_core::native::bome($function(cv.1, &first, &second))
        }))
    };
}
pub(crate) use builtin;

/// Returns all native builtins.
pub(crate) fn all() -> Vec<Fun<JqTypes>> {
    let mut natives = control::natives();
    natives.extend(paths::natives());
    natives.extend(collections::natives());
    natives.extend(strings::natives());
    natives.extend(formats::natives());
    natives.extend(math::natives());
    natives.extend(dates::natives());
    natives.extend(regex::natives());
    natives
}
