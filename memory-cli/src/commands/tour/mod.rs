//! The `memory tour` command.

mod play;
mod stage;

pub(super) use play::Tour;
