//! What dreams do to memories, over the store in memory.

mod dream;
