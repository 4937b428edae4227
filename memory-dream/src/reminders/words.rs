//! The words of requests for reminders.

use memory_core::word_classes;

word_classes! {
    /// The words of English requests.
    ENGLISH = "../language/en/reminders.json": EnglishWords {
        /// Phrases of a request, nouns for one, and words of a request to note something.
        request_phrases,
        request_nouns,
        noting,
        /// Words that may precede an imperative.
        leads,
        imperatives,
        /// Words that may follow an imperative, and words that are none.
        object_words,
        non_verbs,
        /// Words behind a noun that looks like an imperative.
        after_noun,
        /// Words before "not" in an order.
        order_words,
        /// Verbs that are an order to do something after "do not".
        missing_verbs,
        /// Verbs of others that address the writer: `told me to`.
        reporting_verbs,
        negations,
        cancellations,
        /// Words that end the object of a cancellation.
        after_object,
        hypothetical,
        /// Words for how often something happens; those of `habits` also make a reminder a habit.
        frequency,
        habits,
        frequency_adverbs,
        plural_weekdays,
        clock_units,
        taste_verbs,
        event_nouns,
        /// Event nouns that also denote something with a longer duration, whose cancellation is an action.
        lasting_nouns,
        event_verbs,
        future_verbs,
        /// Phrases of a deadline, and words next to a time that make it none.
        deadlines,
        after_limit,
        /// Words for an arrangement, forms of "to be" before them, and prepositions behind them.
        arrangements,
        passive,
        before_arrangement,
        /// Participles and past forms of verbs that replace the time of an appointment by another one, and words before the new time.
        rescheduling,
        before_new_time,
        past_verbs,
        non_participles,
        weather,
        state_verbs,
        note_nouns,
        fact_verbs,
        /// Labels and sentences that denote a test.
        test_labels,
        test_sentences,
        /// Words for invented things, and nouns for things that may be invented or a test.
        invented,
        records,
        /// Kinds of automated tests, and words behind "test" that make it an exam.
        automated_tests,
        after_tests,
        /// Words for examples, and kinds of test data with their nouns.
        examples,
        sample_kinds,
        sample_data,
        /// Names of numbers, such as `invoice`.
        number_names,
        determiners,
    }
}

word_classes! {
    /// The words of Chinese requests.
    CHINESE = "../language/zh/reminders.json": ChineseWords {
        requests,
        duties,
        /// Words with the character 要 that are no duty.
        non_duties,
        /// Words for how often something happens; those of `habits` also make a reminder a habit.
        frequency,
        habits,
        cancellations,
        conditions,
        doubts,
        rescheduling,
        weather,
        /// Words with a negating character that negate nothing.
        non_negations,
        /// Words with a character that means "do not" alone.
        non_prohibitions,
        /// Words after "do not" of a request not to miss an event.
        care,
        past,
        non_past,
        leads,
        /// Verbs, and prepositions before an object. A single character suffices if a subject rarely starts with it.
        imperatives,
        /// Words that start like one of `imperatives` but are not verbs.
        non_verbs,
        events,
        /// Words that make a time a deadline.
        deadlines,
        /// Labels and sentences that denote a test, and nouns for things that may be a test.
        test_labels,
        test_sentences,
        test_objects,
        examples,
    }
}
