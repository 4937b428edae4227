//! Answering a question: the full text, and the pending rows in its stead.

mod answer;
mod best;
mod bits;
mod flushed;
mod found;
mod gather;
mod named;
mod near;
mod pending;
mod pool;
mod slip;
mod speakers;
mod ties;
mod turns;
mod wanted;
mod within;
