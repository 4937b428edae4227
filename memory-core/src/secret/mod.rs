//! Detection of credentials before they are written.
//!
//! A store of memories is copied, synchronized and shown to models, so a stored key is leaked. False positives are as
//! harmful as misses, because users disable a check that raises false alarms.

mod assignment;
mod find;
mod pem;
mod placeholder;
mod prefilter;
mod redact;
mod refuse;
mod rule;
mod url;

pub use find::{Secret, find};
pub use redact::{Redacted, redact};
pub use refuse::{refuse, refuse_added};
