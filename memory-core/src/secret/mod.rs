//! Detection of credentials before they are written.
//!
//! A store of memories is copied, synchronized and shown to models, so a stored key is leaked. False positives are as
//! harmful as misses, because users disable a check that raises false alarms.

mod assigned;
mod checked;
mod find;
mod placeholder;
mod rule;

pub use checked::{CheckableContent, Checked};
pub use find::{
    RedactedText, Secret, find, redact, reject_added_secrets, reject_secrets, without_secrets,
};
