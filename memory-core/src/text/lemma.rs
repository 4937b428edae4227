//! A table of irregular forms of English words.

/// Returns the lemma of an irregular form, or `form` itself; both are in lower case.
///
/// Stemming removes endings; it does not detect changes within a word, as in `went` or `children`.
pub(super) fn lemma(form: &str) -> &str {
    let Some(letter) = form.bytes().next().map(|letter| usize::from(letter.wrapping_sub(b'a'))) else { return form };
    let (Some(&start), Some(&end)) = (STARTS.get(letter), STARTS.get(letter + 1)) else { return form };
    let forms = &FORMS[start..end];
    forms.binary_search_by(|(own, _)| (*own).cmp(form)).map_or(form, |found| forms[found].1)
}

/// The index in [`FORMS`] of the first form for each letter, and the end of those with `z`.
///
/// For most words the range of their letter is short or empty, so the lookup is cheap.
const STARTS: [usize; 27] = {
    let mut starts = [0; 27];
    let mut letter = 0;
    while letter < starts.len() {
        while starts[letter] < FORMS.len() && ((FORMS[starts[letter]].0.as_bytes()[0] - b'a') as usize) < letter {
            starts[letter] += 1;
        }
        letter += 1;
    }
    starts
};

/// The irregular forms with their lemmas, ordered by form.
const FORMS: &[(&str, &str)] = &[
    ("am", "be"),
    ("are", "be"),
    ("ate", "eat"),
    ("became", "become"),
    ("been", "be"),
    ("began", "begin"),
    ("begun", "begin"),
    ("being", "be"),
    ("best", "good"),
    ("better", "good"),
    ("bit", "bite"),
    ("bitten", "bite"),
    ("blew", "blow"),
    ("blown", "blow"),
    ("bought", "buy"),
    ("broke", "break"),
    ("broken", "break"),
    ("brought", "bring"),
    ("built", "build"),
    ("burnt", "burn"),
    ("came", "come"),
    ("caught", "catch"),
    ("children", "child"),
    ("chose", "choose"),
    ("chosen", "choose"),
    ("did", "do"),
    ("does", "do"),
    ("doing", "do"),
    ("done", "do"),
    ("drawn", "draw"),
    ("dreamt", "dream"),
    ("drew", "draw"),
    ("driven", "drive"),
    ("drove", "drive"),
    ("dug", "dig"),
    ("eaten", "eat"),
    ("fallen", "fall"),
    ("fed", "feed"),
    ("feet", "foot"),
    ("fell", "fall"),
    ("felt", "feel"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("forgave", "forgive"),
    ("forgiven", "forgive"),
    ("forgot", "forget"),
    ("forgotten", "forget"),
    ("fought", "fight"),
    ("found", "find"),
    ("froze", "freeze"),
    ("frozen", "freeze"),
    ("gave", "give"),
    ("gets", "get"),
    ("getting", "get"),
    ("given", "give"),
    ("goes", "go"),
    ("going", "go"),
    ("gone", "go"),
    ("got", "get"),
    ("gotten", "get"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("had", "have"),
    ("has", "have"),
    ("having", "have"),
    ("heard", "hear"),
    ("held", "hold"),
    ("hid", "hide"),
    ("hidden", "hide"),
    ("hung", "hang"),
    ("is", "be"),
    ("kept", "keep"),
    ("knew", "know"),
    ("known", "know"),
    ("learnt", "learn"),
    ("led", "lead"),
    ("left", "leave"),
    ("lent", "lend"),
    ("lives", "life"),
    ("lost", "lose"),
    ("made", "make"),
    ("meant", "mean"),
    ("men", "man"),
    ("met", "meet"),
    ("mice", "mouse"),
    ("paid", "pay"),
    ("people", "person"),
    ("ran", "run"),
    ("rang", "ring"),
    ("ridden", "ride"),
    ("risen", "rise"),
    ("rode", "ride"),
    ("rose", "rise"),
    ("rung", "ring"),
    ("said", "say"),
    ("sang", "sing"),
    ("sank", "sink"),
    ("sat", "sit"),
    ("saw", "see"),
    ("seen", "see"),
    ("sent", "send"),
    ("shaken", "shake"),
    ("shone", "shine"),
    ("shook", "shake"),
    ("shot", "shoot"),
    ("shown", "show"),
    ("slept", "sleep"),
    ("sold", "sell"),
    ("sought", "seek"),
    ("spent", "spend"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("stole", "steal"),
    ("stolen", "steal"),
    ("stood", "stand"),
    ("struck", "strike"),
    ("stuck", "stick"),
    ("sung", "sing"),
    ("sunk", "sink"),
    ("swam", "swim"),
    ("swum", "swim"),
    ("taken", "take"),
    ("taught", "teach"),
    ("teeth", "tooth"),
    ("thought", "think"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("told", "tell"),
    ("took", "take"),
    ("understood", "understand"),
    ("was", "be"),
    ("went", "go"),
    ("were", "be"),
    ("wives", "wife"),
    ("woke", "wake"),
    ("woken", "wake"),
    ("women", "woman"),
    ("won", "win"),
    ("wore", "wear"),
    ("worn", "wear"),
    ("worse", "bad"),
    ("worst", "bad"),
    ("written", "write"),
    ("wrote", "write"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_in_order_and_lead_to_words_that_are_none() {
        assert!(FORMS.is_sorted_by(|left, right| left.0 < right.0));
        assert!(FORMS.iter().all(|(_, word)| lemma(word) == *word));
        assert_eq!([lemma("went"), lemma("go"), lemma("children"), lemma("rust")], ["go", "go", "child", "rust"]);
        assert_eq!([lemma("am"), lemma("wrote"), lemma("zebra"), lemma("'s"), lemma("")], ["be", "write", "zebra", "'s", ""]);
    }
}
