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
    /// What it is linked to adds to the words it lacks.
    Links,
}

/// Every part, in order.
pub const PARTS: [Part; 20] = [
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
            Self::Links => "links",
        }
    }
}

/// How much each part counts, in the order of [`PARTS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights(pub [f32; PARTS.len()]);

/// The weights where there are no vectors. Fitted by `benches/retrieval`, save for the links, which nothing there has.
pub const WITHOUT_VECTORS: Weights = Weights([
    1.5093, 0.5892, 3.0191, 1.7526, 2.227, 0.873, 5.1393, 2.1078, 0.1443, 0.5842, 1.2263, -0.6309, 0.1629, 0.859, 1.0144, 0.804,
    0.6828, 0.0, 0.0, 0.5,
]);

/// The weights where there are vectors.
pub const WITH_VECTORS: Weights = Weights([
    0.3313, 0.2, 2.7603, 0.9088, 2.279, 0.6276, 4.9327, 2.0426, 0.2757, 1.0856, 1.0011, -0.691, 0.2613, 0.8351, 1.0853, 0.8709,
    0.0, 0.7083, 0.221, 0.5,
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_stands_in_its_place() {
        assert!(PARTS.iter().enumerate().all(|(place, part)| *part as usize == place));
    }
}
