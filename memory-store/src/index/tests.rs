//! Tests of the index, on a real disk.

mod damage;
mod external_changes;
pub(super) mod fixture;
mod list;
mod locks;
mod pending;
mod questions;
mod reread;
mod roles;
mod substrings;
mod vectors;
