//! An error and why it came to it.

use std::error::Error;

/// Returns what `error` says, and behind it what each of its causes says, with colons between them.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
