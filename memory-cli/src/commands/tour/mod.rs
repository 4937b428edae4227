//! `memory tour`

mod play;
mod stage;

pub(super) use play::Tour;
