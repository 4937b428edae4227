//! An index with the record of its generated lines.

/// An index: its text, and the lines that were generated. All other lines belong to the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TopicIndex {
    /// The whole text.
    pub text: String,
    /// The generated lines, in order and without line breaks.
    ///
    /// A `\n` before or after one denotes a generated empty line.
    pub ours: Vec<String>,
}
