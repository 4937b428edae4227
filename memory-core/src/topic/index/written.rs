//! An index, and what of it is ours.

/// An index: its text, and which of its lines we wrote. All others are a person's, whatever they look like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WrittenIndex {
    /// The whole of it.
    pub text: String,
    /// Our lines, in order and without their ends. A line break before or behind one stands for an empty line of ours.
    pub ours: Vec<String>,
}
