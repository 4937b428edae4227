//! Detection of credentials before they are written.
//!
//! A store of memories is copied, synchronized and shown to models, so a stored key is leaked. False positives are as
//! harmful as misses, because users disable a check that raises false alarms.

mod assignment;
mod checked;
mod find;
mod pem;
mod placeholder;
mod prefilter;
mod redact;
mod rejection;
mod rule;
mod url;

pub use checked::{CheckableContent, Checked};
pub use find::{Secret, find};
pub use redact::{RedactedText, redact};
pub use rejection::{reject_added_secrets, reject_secrets};
