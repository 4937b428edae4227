//! The JSON that every front speaks, and that programs rely on.

mod json;
