//! The definitions of instances, and the encryption of their credentials.
//!
//! The file `<type>/<name>.yaml` defines an instance, with one field per line. Secret fields are sealed with NaCl's
//! secretbox (XSalsa20 and Poly1305) under the key in `master.key`, which is created on first use, or under a given
//! key. The sealed value is bound to its instance and field; copied to another one it fails to decrypt. `rekey` seals
//! all values under a new key. It stores the new key next to the old one until all values are sealed under it, so an
//! interruption leaves all values readable.

mod definition;
mod folder;
mod master_key;
mod seal;

pub use definition::{FieldValue, InstanceDefinition};
pub use folder::{InstanceFolder, NewFieldValue, TrashedDefinition};
pub use master_key::MasterKey;
pub use zeroize::Zeroizing;
