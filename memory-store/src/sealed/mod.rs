//! Where instances are defined, and how their credentials are sealed.
//!
//! An instance is defined by the file `<type>/<name>.yaml`, one field a line. Fields that nobody else must read are sealed with NaCl's
//! secretbox (XSalsa20 and Poly1305) under the key in `master.key`, which is made on first use, or under a key that is given. What is
//! sealed says of which field of which instance it is, so that it opens nowhere else. `rekey` seals everything anew: the next key
//! lies beside the former one until all is sealed under it, so an interruption leaves everything readable.

mod definition;
mod folder;
mod key;
mod keys;
mod seal;

pub use definition::{Definition, FieldValue};
pub use folder::{FormerDefinition, Instances, NewValue};
pub use key::MasterKey;
pub use zeroize::Zeroizing;
