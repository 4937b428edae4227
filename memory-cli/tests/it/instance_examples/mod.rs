//! Tests of the scripts in `examples/instances`.

mod condense;
mod stage;
mod talk;
