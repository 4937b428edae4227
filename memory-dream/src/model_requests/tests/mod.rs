//! Tests of the validation of responses.

mod classify;
mod compress;
