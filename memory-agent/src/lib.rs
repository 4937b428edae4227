//! The rim: tools and the fronts that offer them.
//!
//! What lives here already is [`json`]: how everything that the memories answer is written as JSON, the same on the
//! command line, on a socket and over HTTP.

#![forbid(unsafe_code)]

pub mod json;
