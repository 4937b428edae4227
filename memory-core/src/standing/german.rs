//! The grammar of German standing sentences.
//!
//! The words are folded: `möchte` is `mochte`.

use super::kind::StandingKind::{Instruction, Preference};
use super::kind::{StandingCue, StandingForm};
use super::languages::language;
use super::words::{NAMED_SYSTEMS, SHARED_FORMS, SentenceWords};

/// Words that may precede a request without changing it.
const LEADS: &[&str] = &[
    "bitte", "und", "also", "ok", "okay", "hey", "hallo", "danke", "dann", "nun", "jetzt",
    "wichtig", "hinweis", "regel", "merke",
];

/// Adverbs for all times.
const ALWAYS: &[&str] = &["immer", "stets", "grundsatzlich"];

/// Adverbs for no time.
const NEVER: &[&str] = &["nie", "niemals", "keinesfalls"];

/// Words that may stand between a verb and its adverb.
const FILLERS: &[&str] = &[
    "mir", "mich", "uns", "bitte", "sie", "dabei", "auch", "nur", "dich", "es", "das", "hier",
];

/// Phrases before the infinitive of a request.
const REQUESTS: &[&str] = &[
    "du sollst",
    "du solltest",
    "du musst",
    "du darfst",
    "sie sollen",
    "sie sollten",
    "sie mussen",
    "sie durfen",
    "sollst du",
    "musst du",
    "ich mochte dass du",
    "ich will dass du",
    "ich wunsche mir dass du",
    "ich hatte gern dass du",
    "stell sicher dass du",
    "achte darauf dass du",
    "achte darauf",
    "ich mochte dass sie",
];

/// Words in `-e` and `-en` that begin a sentence without being an imperative.
const NON_VERBS: &[&str] = &[
    "eine", "keine", "meine", "deine", "seine", "ihre", "unsere", "eure", "diese", "jede", "alle",
    "viele", "einige", "manche", "welche", "solche", "andere", "beide", "die", "sie", "wie", "nie",
    "heute", "gerne", "ohne", "bitte", "danke", "habe", "hatte", "ware", "wurde", "werde",
    "konnte", "mochte", "wollte", "sollte", "musste", "durfte", "gute", "schone", "liebe", "haben",
    "waren", "wurden", "werden", "konnen", "wollen", "meinen", "einen", "keinen", "seinen",
    "ihren", "den", "leute", "ich", "du", "er", "es", "wir", "ihr", "man", "der", "das", "ein",
    "mein", "sein", "nicht",
];

/// Imperatives without `-e`.
const STEM_IMPERATIVES: &[&str] = &[
    "antwort", "benutz", "erklar", "fass", "frag", "fuhr", "geh", "gib", "halt", "hilf", "komm",
    "lass", "lies", "mach", "nenn", "nimm", "nutz", "pruf", "red", "sag", "schick", "schreib",
    "sei", "setz", "sprich", "stell", "teil", "tu", "vergiss", "verwend", "zeig",
];

/// Participles and infinitives begin alike; these infinitives begin with `ge`.
const INFINITIVES_IN_GE: &[&str] = &[
    "geben",
    "gehen",
    "genehmigen",
    "gestalten",
    "generieren",
    "gewahrleisten",
];

/// Verbs of speaking, in their imperative and their infinitive.
const SPEAKING: &[&str] = &[
    "antworte",
    "antwort",
    "antworten",
    "schreibe",
    "schreib",
    "schreiben",
    "sprich",
    "spreche",
    "sprechen",
    "rede",
    "red",
    "reden",
    "erklare",
    "erklar",
    "erklaren",
    "formuliere",
    "formulieren",
];

/// Adverbs and adjectives for the manner of responses.
const MANNERS: &[&str] = &[
    "kurz",
    "kurze",
    "knapp",
    "knappe",
    "ausfuhrlich",
    "ausfuhrliche",
    "lange",
    "sachlich",
    "formlich",
    "formell",
    "hoflich",
    "prazise",
    "einfach",
    "einfache",
    "direkt",
    "ehrlich",
    "informell",
    "locker",
    "freundlich",
    "detailliert",
    "kurzer",
];

/// Nouns for the responses of the assistant.
const RESPONSES: &[&str] = &[
    "antworten",
    "erklarungen",
    "texte",
    "satze",
    "zusammenfassungen",
    "ausgaben",
    "nachrichten",
];

/// Nouns for the form of responses.
const FORMS: &[&str] = &[
    "aufzahlungen",
    "listen",
    "aufzahlungspunkte",
    "tabellen",
    "uberschriften",
    "einheiten",
    "kommentare",
    "tabs",
    "leerzeichen",
    "semikolons",
    "abkurzungen",
    "fachbegriffe",
    "fachjargon",
    "fremdworter",
    "anglizismen",
    "quellen",
    "zitate",
    "fussnoten",
    "entschuldigungen",
    "floskeln",
    "ausrufezeichen",
    "smileys",
    "anrede",
];

/// Verbs of which a form of responses may be the object.
const FORMING: &[&str] = &[
    "verwende",
    "verwend",
    "verwenden",
    "benutze",
    "benutz",
    "benutzen",
    "nutze",
    "nutz",
    "nutzen",
    "nimm",
    "nehmen",
    "vermeide",
    "vermeiden",
    "gib",
    "geben",
    "nenne",
    "nennen",
    "halte",
    "halt",
    "halten",
    "setze",
    "setzen",
    "fuge",
    "mach",
    "mache",
    "schreibe",
    "schreib",
    "schreiben",
    "lass",
    "lasse",
    "spare",
    "spar",
];

const DEFINITE: &[&str] = &[
    "der", "die", "das", "den", "dem", "diese", "diesen", "dieser", "meine", "meinen", "seine",
    "unsere", "eine", "einen",
];

/// Finds the cue that makes a sentence a standing instruction or preference.
pub(super) fn find_cue(words: &SentenceWords, is_short: bool) -> Option<StandingCue> {
    let first = words.skip(0, LEADS).min(words.len().saturating_sub(1));
    let is_request = is_absolute(words, first)
        || is_conditional(words, first)
        || is_lasting(words, first)
        || is_short && (is_about_responses(words, first) || is_bare_form(words, first));
    if is_request && !words.is_question {
        return Some(StandingCue {
            kind: Instruction,
            form: StandingForm::Request,
            at: words.at(first),
        });
    }
    let (kind, at) = find_third_person(words)
        .or_else(|| find_wish(words, is_short))
        .or_else(|| find_preference(words))?;
    Some(StandingCue {
        kind,
        form: StandingForm::Statement,
        at: words.at(at),
    })
}

/// Returns whether a word can be an imperative: `verwende`, `gib`, or `verwenden` before `Sie`.
fn is_imperative(words: &SentenceWords, number: usize) -> bool {
    let word = words.word(number);
    let is_polite =
        word.ends_with('n') && words.is(number + 1, &["sie"]) && words.is_capitalised(number + 1);
    !words.is(number, NON_VERBS)
        && (is_polite || STEM_IMPERATIVES.contains(&word) || 3 < word.len() && word.ends_with('e'))
}

/// Returns whether the clause from `start` ends with an infinitive: `immer auf Deutsch antworten`.
fn ends_with_infinitive(words: &SentenceWords, start: usize) -> bool {
    let end = words.next_clause(start + 1);
    let Some(last) = end.checked_sub(1).filter(|last| start < *last) else {
        return false;
    };
    let word = words.word(last);
    let is_participle = word.starts_with("ge") && !INFINITIVES_IN_GE.contains(&word)
        || word.starts_with("ver") && word.ends_with("ssen");
    word.ends_with('n')
        && 3 < word.len()
        && !words.is_capitalised(last)
        && !is_participle
        && !words.is(last, NON_VERBS)
}

/// Returns whether an adverb for all times or for none is at `number`; `immer noch` and `nie mehr` are none.
fn is_for_all_times(words: &SentenceWords, number: usize) -> bool {
    (words.is(number, ALWAYS) || words.is(number, NEVER))
        && !words.is(number + 1, &["noch", "wieder", "mehr", "schon", "wenn"])
}

fn is_absolute(words: &SentenceWords, first: usize) -> bool {
    if let Some(length) = words.phrase_at(first, REQUESTS) {
        let after = words.skip(first + length, FILLERS);
        return (first + length..after + 3).any(|number| is_for_all_times(words, number))
            && (words.find(first..first + length, &["dass"]).is_some()
                || ends_with_infinitive(words, first));
    }
    if is_for_all_times(words, first) {
        let has_subject = words.is(
            first + 1,
            &["ich", "wir", "er", "sie", "es", "man", "der", "die", "das"],
        );
        return !has_subject && ends_with_infinitive(words, first)
            || is_imperative(words, first + 1) && !words.is_capitalised(first + 1);
    }
    let adverb = words.skip(first + 1, FILLERS);
    // `Antworte nie mehr auf Englisch`
    let is_revoked = || {
        words
            .phrase_at(adverb, &["nie mehr", "nie wieder"])
            .is_some()
    };
    is_imperative(words, first) && (is_for_all_times(words, adverb) || is_revoked())
}

fn is_conditional(words: &SentenceWords, first: usize) -> bool {
    const CONDITIONS: &[&str] = &[
        "wenn ich",
        "immer wenn ich",
        "jedes mal wenn ich",
        "falls ich",
        "sobald ich",
    ];
    const ASKING: &[&str] = &[
        "frage", "bitte", "erwahne", "schreibe", "schicke", "sage", "will", "mochte", "nenne",
        "brauche",
    ];
    let Some((at, length)) = words.find_phrase(CONDITIONS).filter(|(at, _)| first <= *at) else {
        return false;
    };
    let end = words.next_clause(at + length);
    if words.find(at + length..end, ASKING).is_none() {
        return false;
    }
    let main = if at == first {
        words.skip(end, &["dann", "bitte"])
    } else {
        first
    };
    main < words.len() && (is_imperative(words, main) || words.is(main + 1, &["du"]))
}

fn is_lasting(words: &SentenceWords, first: usize) -> bool {
    const LASTING: &[&str] = &[
        "ab jetzt",
        "ab sofort",
        "ab heute",
        "von jetzt an",
        "von nun an",
        "von heute an",
        "in zukunft",
        "zukunftig",
        "kunftig",
        "fortan",
    ];
    let Some((at, length)) = words.find_phrase(LASTING) else {
        return false;
    };
    if at != first {
        return is_imperative(words, first);
    }
    let main = words.skip(at + length, LEADS);
    let has_other_subject = words.is(main, &["ich", "wir", "er", "es"])
        || words.is(
            main + 1,
            &["ich", "wir", "er", "es", "man", "der", "die", "das"],
        );
    let is_to_assistant = words.is(main + 1, &["du"])
        || is_imperative(words, main)
        || ends_with_infinitive(words, main);
    main < words.len() && !has_other_subject && is_to_assistant
}

/// Returns whether a request is about all responses: `antworte auf Deutsch`, `verwende keine Emojis`, `nenn mich Max`.
fn is_about_responses(words: &SentenceWords, first: usize) -> bool {
    let start = words
        .phrase_at(first, REQUESTS)
        .map_or(first, |length| first + length);
    let is_request = first < start || is_imperative(words, first);
    if !is_request {
        // `Auf Deutsch antworten`
        let has_speech = || {
            words.find(first..words.len(), SPEAKING).is_some()
                && names_manner(words, first, words.len())
        };
        return words.is(first, &["auf"]) && ends_with_infinitive(words, first) && has_speech();
    }
    let end = words.len().min(start + 10);
    if words.find(start..end, SPEAKING).is_some() && names_manner(words, start, end) {
        return true;
    }
    match words.word(start) {
        "sei" | "seien" => return words.find(start + 1..start + 5, MANNERS).is_some(),
        "nenn" | "nenne" | "nennen" | "sieze" | "duze" => {
            let me = words.find(start + 1..start + 3, &["mich"]);
            return me.is_some_and(|me| {
                words.word(start).ends_with("ze") || !words.word(me + 1).is_empty()
            });
        }
        "fass" | "fasse" | "fassen" | "halte" | "halt"
            if words
                .find(start + 1..start + 3, &["dich", "sich"])
                .is_some() =>
        {
            return words.find(start + 1..start + 5, MANNERS).is_some();
        }
        _ => {}
    }
    words.find(start..end, FORMING).is_some() && finds_form(words, start)
}

fn names_manner(words: &SentenceWords, start: usize, end: usize) -> bool {
    (start..end).any(|number| {
        language(words.word(number)).is_some()
            || words.is(number, MANNERS)
            || is_form(words, number)
    })
}

fn is_form(words: &SentenceWords, number: usize) -> bool {
    words.is(number, FORMS) || words.is(number, SHARED_FORMS)
}

fn finds_form(words: &SentenceWords, start: usize) -> bool {
    let end = words.next_clause(start + 1).min(start + 6);
    (start + 1..end).any(|number| {
        let is_response = words.is(number, RESPONSES) && start + 1 < number;
        words.is(number, NAMED_SYSTEMS)
            || (is_form(words, number) || is_response)
                && words.find(start + 1..number, DEFINITE).is_none()
    })
}

/// Returns whether a clause begins with `keine` or `weniger` and a form of responses.
fn is_bare_form(words: &SentenceWords, first: usize) -> bool {
    let form = (first + 1..first + 3).find(|number| is_form(words, *number));
    let is_end = |form: usize| {
        let next = words.skip(form + 1, &["bitte", "mehr", "und", "oder", "danke"]);
        next == words.len() || words.begins_clause(form + 1) || ends_with_infinitive(words, first)
    };
    words.is(first, &["kein", "keine", "keinen", "weniger", "ohne"]) && form.is_some_and(is_end)
}

fn find_third_person(words: &SentenceWords) -> Option<(super::StandingKind, usize)> {
    const USERS: &[&str] = &[
        "benutzer",
        "benutzerin",
        "nutzer",
        "nutzerin",
        "anwender",
        "anwenderin",
        "user",
        "userin",
    ];
    let user = words.find(0..2, USERS)?;
    let verb = words.skip(user + 1, &["immer", "stets", "auch", "sehr"]);
    match words.word(verb) {
        "bevorzugt" | "mag" | "liebt" | "hasst" => Some((Preference, 0)),
        "mochte" | "will" | "wunscht" | "erwartet" if finds_form(words, verb) => {
            Some((Instruction, 0))
        }
        _ => None,
    }
}

/// Finds `ich möchte kurze Antworten` and `ich mag keine Emojis`.
fn find_wish(words: &SentenceWords, is_short: bool) -> Option<(super::StandingKind, usize)> {
    let start = words
        .find(0..words.len(), &["ich", "wir"])
        .filter(|start| is_short && words.begins_clause(*start))?;
    let kind = match words.word(start + 1) {
        "will" | "mochte" | "wunsche" | "brauche" | "hatte" | "erwarte" => Instruction,
        "mag" | "liebe" | "hasse" => Preference,
        _ => return None,
    };
    (!words.is_question && finds_form(words, start + 1)).then_some((kind, start))
}

fn find_preference(words: &SentenceWords) -> Option<(super::StandingKind, usize)> {
    let found = (0..words.len()).find(|number| match words.word(*number) {
        "ich" | "wir" => {
            let clause = number + 1..words.next_clause(number + 1).min(number + 12);
            let prefers = words.is(number + 1, &["bevorzuge", "bevorzugen"]);
            let rather = words
                .find(clause.clone(), &["lieber"])
                .is_some_and(|at| words.find(at..clause.end, &["als"]).is_some());
            let likes_more = words.is(number + 1, &["mag", "habe"])
                && words.find(clause.clone(), &["lieber"]).is_some();
            let likes_best = words
                .find_phrase(&["am liebsten"])
                .is_some_and(|(at, _)| clause.contains(&at));
            prefers || rather || likes_more || likes_best
        }
        "mein" | "meine" => {
            words.word(number + 1).starts_with("lieblings")
                && words
                    .find(number + 2..number + 4, &["ist", "sind"])
                    .is_some()
        }
        _ => false,
    });
    found.map(|at| (Preference, at))
}
