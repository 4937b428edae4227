//! The words of claims.

word_classes! {
    /// The words of English claims.
    ENGLISH = "../../language/en/claims.json": EnglishWords {
        likes,
        dislikes,
        negations,
        /// Words without content in combination with others.
        light,
        /// Words that add little to an expression of liking or dislike.
        daily,
        /// Words that may occur in any position without a change of meaning.
        ignored_words,
        /// Words that end a value: the words after them are details or belong to another statement.
        adjuncts,
        /// Kinds of people of which the user may have several, each with a separate name.
        multiple_kinds,
        /// Words that select one of several.
        unique_qualifiers,
        /// Objects of `move to` that are not a home.
        non_places,
        /// Words that split a clause into two interchangeable sides.
        copulas,
        /// Prepositions that distinguish meanings of the same words, and those that also do at the start of a side; others there follow
        /// an omitted verb.
        prepositions,
        leading_prepositions,
    }
}

word_classes! {
    /// The words of Chinese claims.
    CHINESE = "../../language/zh/claims.json": ChineseWords {
        likes,
        dislikes,
        negations,
        light,
        daily,
        /// The Chinese counterpart of `multiple_kinds`, at the end of the named thing.
        multiple_kinds,
    }
}
