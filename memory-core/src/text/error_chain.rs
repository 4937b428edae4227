//! Formats an error with its causes.

use std::error::Error;

/// Returns the messages of `error` and of its causes, separated by colons.
pub fn format_error_chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
