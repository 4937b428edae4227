//! The word classes of the English grammar. Each is closed, or names properties of responses.

word_classes! {
    /// The words of English standing sentences.
    ENGLISH = "../../language/en/standing.json": EnglishWords {
        /// Words that may precede a request without changing it.
        leads,
        /// Phrases before the verb of a request to the assistant.
        requests,
        /// Phrases of the person before the verb of a request to the assistant.
        wishes,
        /// Phrases of the person before the verb of a forbidden act.
        negated_wishes,
        /// Words that negate the verb after them.
        negations,
        /// Words that are no imperative: pronouns, determiners, auxiliaries, prepositions, conjunctions, question words and adverbs.
        ///
        /// The adjectives at the end begin elliptic sentences such as `Always happy to help`.
        non_verbs,
        /// Verbs of states, which have no imperative.
        stative_verbs,
        /// Past tenses and participles of irregular verbs.
        past_forms,
        /// Verbs whose endings `-ing`, `-ed`, `-s` and `-ly` are no inflections.
        base_forms,
        /// Verbs of acts that a person requests of an assistant, apart from those of the other classes.
        acting,
        /// Verbs of speaking. Their imperative with a manner or a language applies to all responses.
        speaking,
        /// The present participles of `speaking`.
        speaking_forms,
        /// Habits of responses that `stop` ends.
        responding,
        /// Words that introduce a manner after a verb of speaking.
        ways,
        /// Adjectives and adverbs for the manner of all responses.
        manners,
        /// Plural and uncountable nouns for the responses of the assistant.
        responses,
        /// Nouns for the form of responses.
        forms,
        /// Verbs of which a form of responses may be the object.
        forming,
        /// Verbs of producing a response.
        producing,
        /// Verbs of addressing the assistant.
        asking,
        /// Conjunctions that introduce the condition of an instruction.
        conditions,
        /// Phrases for the time from now on.
        lasting,
        /// Determiners that refer to certain things, which are not properties of all responses.
        definite,
        /// Number words and other words for a count.
        numbers,
        /// Finite auxiliaries; a word before one of them is a subject, not an imperative.
        finite,
        /// Words that begin a subordinate clause.
        subordinating,
        /// Adverbs that may precede a verb.
        adverbs,
        /// Verbs of wanting.
        wanting,
        /// Verbs of liking.
        liking,
        /// Frequent words, by which a sentence is recognized as English.
        frequent,
        /// Requests in the form of a question.
        polite_requests,
        /// Question words, and all words at the start of a question.
        question_words,
        question_openings,
        /// Verbs of wanting in the third person, and the addressees of the wish.
        wishing,
        addressees,
        /// Adverbs, negations and auxiliaries between the subject and the verb of a wish.
        before_verb,
        /// Words between a verb and its adverb.
        objects,
        /// Adverbs before a manner.
        degrees,
        /// Words between a verb of speaking and the manner, and words behind the manner.
        after_speaking,
        after_manner,
        /// Words for a negated or smaller form without a verb, and words behind the form.
        measures,
        after_form,
        /// Modals behind responses, and words by which these are not the subject.
        modals,
        before_responses,
        /// Phrases that compare two things.
        comparing,
    }
}
