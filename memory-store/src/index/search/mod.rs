//! Search in the committed full-text segments and the rows that are pending.

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
