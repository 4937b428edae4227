//! Refinement while nobody looks: classifying, linking, merging, expiring, reminding.
//!
//! Each kind of refinement is a pure function from memories, rules and the present moment to a plan, which is data; one small
//! function applies plans through the use cases of [`memory_core`]. Nothing here touches a disk, a database or a clock.
//!
//! | you want to | look at |
//! |---|---|
//! | know where a memory belongs, and why | [`classify::classify()`], [`classify::explain()`] |
//! | find memories that say the same | [`similar::candidates()`], [`similar::likeness()`] |
//! | make one memory of several that say the same | [`merge::merged()`], [`merge::conserved()`] |

#![forbid(unsafe_code)]

pub mod classify;
pub mod merge;
pub mod similar;
