//! Finds credentials before they are written down.
//!
//! A store of memories is copied, synchronised and shown to models; a key that gets into it has leaked. Few false alarms
//! matter as much as few misses, since people switch off what cries wolf.

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
