//! What is believed of a language model.

mod classify;
mod compress;
