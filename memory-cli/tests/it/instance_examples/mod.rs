//! The scripts of `examples/instances`.

mod condense;
mod stage;
mod talk;
