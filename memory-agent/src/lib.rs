//! The rim: tools and the fronts that offer them.
//!
//! | room | what lives there |
//! |---|---|
//! | [`json`] | how everything that the memories answer is written as JSON, the same for every front |
//! | [`model`] | the models that make memories better: in a folder on this machine, or behind an address |

pub mod json;
#[cfg(any(feature = "local-model", feature = "remote-model"))]
pub mod model;
