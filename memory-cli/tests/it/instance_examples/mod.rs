//! Tests of the scripts in `examples/instances`.

mod chat_scripts;
mod sandbox;
mod summary_scripts;
