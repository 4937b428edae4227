//! How much each part of the evidence counts.

/// One part of what speaks for a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The words of the question that it has, by BM25.
    Words,
    /// Those words that hold the question together, or name a date.
    Asides,
    /// Which share of the words it has.
    Coverage,
    /// Words like those it lacks.
    Likeness,
    /// It was written by the one whom the question names.
    Named,
    /// And speaks of themselves.
    FirstPerson,
    /// It was written near the date that the question names.
    Date,
    /// It tells a time, and the question asks when.
    TimeForWhen,
    /// It tells a time.
    Time,
    /// It has names in it.
    Capitals,
    /// It has names in it, and the question asks who, where or which.
    CapitalsForWhich,
    /// It ends in a question itself.
    Asking,
    /// How long it is.
    Length,
    /// It follows a question that matches.
    Answer,
    /// What was said before and after it adds to the words it lacks.
    Neighbours,
    /// The words that its session has.
    SessionWords,
    /// How much its session matches in all.
    SessionSum,
    /// Its vector lies near that of the question.
    Vector,
    /// A vector of its session does.
    SessionVector,
    /// The vector of what was said before or after it lies nearer.
    NeighbourVectors,
    /// What it is linked to adds to the words it lacks.
    Links,
}

/// Every part, in order.
pub const PARTS: [Part; 21] = [
    Part::Words,
    Part::Asides,
    Part::Coverage,
    Part::Likeness,
    Part::Named,
    Part::FirstPerson,
    Part::Date,
    Part::TimeForWhen,
    Part::Time,
    Part::Capitals,
    Part::CapitalsForWhich,
    Part::Asking,
    Part::Length,
    Part::Answer,
    Part::Neighbours,
    Part::SessionWords,
    Part::SessionSum,
    Part::Vector,
    Part::SessionVector,
    Part::NeighbourVectors,
    Part::Links,
];

impl Part {
    /// Returns its name in JSON and on the screen.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Asides => "asides",
            Self::Coverage => "coverage",
            Self::Likeness => "likeness",
            Self::Named => "named",
            Self::FirstPerson => "first_person",
            Self::Date => "date",
            Self::TimeForWhen => "time_for_when",
            Self::Time => "time",
            Self::Capitals => "capitals",
            Self::CapitalsForWhich => "capitals_for_which",
            Self::Asking => "asking",
            Self::Length => "length",
            Self::Answer => "answer",
            Self::Neighbours => "neighbours",
            Self::SessionWords => "session_words",
            Self::SessionSum => "session_sum",
            Self::Vector => "vector",
            Self::SessionVector => "session_vector",
            Self::NeighbourVectors => "neighbour_vectors",
            Self::Links => "links",
        }
    }
}

/// How much each part counts, in the order of [`PARTS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights(pub [f32; PARTS.len()]);

/// The weights where there are no vectors. Fitted by `benches/retrieval`, save for the links, which nothing there has.
pub const WITHOUT_VECTORS: Weights = Weights([
    2.0622, 0.8334, 2.2506, 1.624, 1.9253, 0.8684, 5.1235, 1.9942, 0.1542, 0.5321, 0.9152, -0.62, 0.1574, 0.7989, 1.2216, 0.6908,
    0.6266, 0.0, 0.0, 0.0, 0.5,
]);

/// The weights where there are vectors; fitted with those of all-MiniLM-L6-v2, save for the links.
pub const WITH_VECTORS: Weights = Weights([
    0.8244, 0.3097, 2.2847, 1.0543, 2.3748, 0.754, 4.9835, 1.9655, 0.1678, 0.4237, 0.823, -0.5784, 0.2898, 0.6112, 0.8226,
    0.7381, 0.2724, 0.7107, 0.0757, 0.2629, 0.5,
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_stands_in_its_place() {
        assert!(PARTS.iter().enumerate().all(|(place, part)| *part as usize == place));
    }
}
