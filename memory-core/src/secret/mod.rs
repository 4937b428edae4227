//! Detection of credentials before they are written.
//!
//! A store of memories is copied, synchronized and shown to models, so a stored key is leaked. False positives are as
//! harmful as misses, because users disable a check that raises false alarms.

mod assigned;
mod checked;
mod find;
mod login;
mod placeholder;
mod private_key;
mod redact_json;
mod rule;
mod rules;

pub(crate) use checked::titled_text;
pub use checked::{CheckableContent, Checked};
pub use find::{
    RedactedText, Secret, find, redact, reject_added_secrets, reject_secrets, without_secrets,
};
pub(crate) use redact_json::redact_json;
