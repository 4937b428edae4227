//! The grammar of French standing sentences.
//!
//! The words are folded, and elisions are split: `n'écris` is `n'` and `ecris`.

use super::kind::StandingKind::{Instruction, Preference};
use super::kind::{StandingCue, StandingForm};
use super::languages::language;
use super::words::{NAMED_SYSTEMS, SHARED_FORMS, SentenceWords};

/// Words that may precede a request without changing it.
const LEADS: &[&str] = &[
    "svp",
    "stp",
    "merci",
    "et",
    "alors",
    "donc",
    "bonjour",
    "salut",
    "ok",
    "note",
    "important",
    "aussi",
    "s'",
    "il",
    "te",
    "vous",
    "plait",
];

/// Phrases before the infinitive or the subjunctive of a request.
const REQUESTS: &[&str] = &[
    "tu dois",
    "tu devrais",
    "vous devez",
    "vous devriez",
    "il faut que tu",
    "il faut que vous",
    "il faut",
    "je veux que tu",
    "je veux que vous",
    "je voudrais que tu",
    "je voudrais que vous",
    "j' aimerais que tu",
    "j' aimerais que vous",
    "je souhaite que tu",
    "je souhaite que vous",
    "veuillez",
    "merci de",
    "assure toi de",
    "veille a",
    "veillez a",
    "pense a",
    "pensez a",
];

/// Words that are no imperative: articles, pronouns, prepositions, conjunctions and adverbs.
const NON_VERBS: &[&str] = &[
    "le", "la", "les", "l'", "un", "une", "des", "du", "de", "d'", "mon", "ma", "mes", "ton", "ta",
    "tes", "son", "sa", "ses", "notre", "nos", "votre", "vos", "leur", "leurs", "ce", "c'", "cet",
    "cette", "ces", "je", "j'", "tu", "il", "elle", "on", "nous", "vous", "ils", "elles", "ca",
    "cela", "qui", "que", "quoi", "ou", "quand", "comment", "pourquoi", "et", "mais", "si", "a",
    "en", "dans", "pour", "avec", "sans", "sur", "sous", "par", "chez", "depuis", "comme",
    "presque", "pas", "plus", "tres", "bien", "oui", "non", "toujours", "jamais", "encore", "est",
    "sont", "etait", "ai", "as", "avait", "y",
];

/// Verbs of speaking.
const SPEAKING: &[&str] = &[
    "reponds",
    "repondez",
    "repondre",
    "ecris",
    "ecrivez",
    "ecrire",
    "parle",
    "parlez",
    "parler",
    "parles",
    "explique",
    "expliquez",
    "expliquer",
    "redige",
    "redigez",
    "rediger",
];

/// Adjectives and adverbs for the manner of responses.
const MANNERS: &[&str] = &[
    "bref",
    "breve",
    "breves",
    "brievement",
    "concis",
    "concise",
    "concises",
    "court",
    "courte",
    "courtes",
    "courts",
    "long",
    "longues",
    "direct",
    "directe",
    "clair",
    "claire",
    "precis",
    "precise",
    "honnete",
    "poli",
    "polie",
    "poliment",
    "formel",
    "formelle",
    "simplement",
    "simple",
    "detaillees",
    "detaille",
];

/// Nouns for the responses of the assistant.
const RESPONSES: &[&str] = &[
    "reponses",
    "explications",
    "phrases",
    "messages",
    "textes",
    "resumes",
];

/// Nouns for the form of responses.
const FORMS: &[&str] = &[
    "emoticones",
    "puces",
    "listes",
    "tableaux",
    "titres",
    "unites",
    "tabulations",
    "espaces",
    "abreviations",
    "commentaires",
    "sources",
    "citations",
    "excuses",
    "anglicismes",
    "acronymes",
    "dates",
    "smileys",
];

/// Verbs of which a form of responses may be the object.
const FORMING: &[&str] = &[
    "utilise", "utilisez", "utiliser", "emploie", "employez", "employer", "evite", "evitez",
    "eviter", "ajoute", "ajoutez", "ajouter", "mets", "mettez", "mettre", "garde", "gardez",
    "garder", "arrete", "arretez", "fais", "faites", "donne", "donnez", "donner", "inclus", "cite",
    "citez",
];

/// Finds the cue that makes a sentence a standing instruction or preference.
pub(super) fn find_cue(words: &SentenceWords, is_short: bool) -> Option<StandingCue> {
    let first = words.skip(0, LEADS).min(words.len().saturating_sub(1));
    let is_request = is_absolute(words, first)
        || is_conditional(words, first)
        || is_lasting(words, first)
        || is_short && is_about_responses(words, first);
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

/// Returns whether a word can be an imperative.
fn is_imperative(words: &SentenceWords, number: usize) -> bool {
    2 < words.word(number).len() && !words.is(number, NON_VERBS)
}

fn is_infinitive(words: &SentenceWords, number: usize) -> bool {
    let word = words.word(number);
    3 < word.len()
        && ["er", "ir", "re"]
            .iter()
            .any(|ending| word.ends_with(ending))
        && !words.is_capitalised(number)
}

/// Returns the number of the verb behind an initial `ne`, which only an imperative and an infinitive have.
fn negated_verb(words: &SentenceWords, first: usize) -> Option<usize> {
    words
        .is(first, &["ne", "n'"])
        .then(|| words.skip(first + 1, &["jamais", "pas", "plus", "me", "m'"]))
}

fn is_absolute(words: &SentenceWords, first: usize) -> bool {
    const TIMES: &[&str] = &["toujours", "jamais", "systematiquement"];
    if let Some(length) = words.phrase_at(first, REQUESTS) {
        return words
            .find(first + length..first + length + 3, TIMES)
            .is_some();
    }
    if let Some(verb) = negated_verb(words, first) {
        return words.find(first + 1..verb + 3, &["jamais"]).is_some() && verb < words.len();
    }
    if words.is(first, TIMES) {
        return is_infinitive(words, first + 1);
    }
    let adverb = words.skip(first + 1, &["moi", "nous", "lui", "me", "bien"]);
    is_imperative(words, first) && words.is(adverb, TIMES)
}

fn is_conditional(words: &SentenceWords, first: usize) -> bool {
    const CONDITIONS: &[&str] = &[
        "quand je",
        "lorsque je",
        "chaque fois que je",
        "a chaque fois que je",
        "si je",
        "des que je",
    ];
    const ASKING: &[&str] = &[
        "demande",
        "pose",
        "parle",
        "mentionne",
        "dis",
        "envoie",
        "ecris",
        "veux",
    ];
    let Some((at, length)) = words.find_phrase(CONDITIONS).filter(|(at, _)| first <= *at) else {
        return false;
    };
    if words.find(at + length..at + length + 3, ASKING).is_none() {
        return false;
    }
    let main = if at == first {
        words.next_clause(at + length)
    } else {
        first
    };
    main < words.len()
        && (is_imperative(words, main)
            || negated_verb(words, main).is_some()
            || words.phrase_at(main, REQUESTS).is_some())
}

fn is_lasting(words: &SentenceWords, first: usize) -> bool {
    const LASTING: &[&str] = &[
        "a partir de maintenant",
        "a partir d' aujourd'hui",
        "desormais",
        "dorenavant",
        "a l' avenir",
        "des maintenant",
    ];
    let Some((at, length)) = words.find_phrase(LASTING) else {
        return false;
    };
    let main = if at == first {
        words.skip(at + length, LEADS)
    } else {
        first
    };
    let is_to_assistant = is_imperative(words, main)
        || negated_verb(words, main).is_some()
        || words.phrase_at(main, REQUESTS).is_some();
    main < words.len() && is_to_assistant
}

/// Returns whether a request is about all responses: `réponds en français`, `pas d'emojis`, `sois bref`, `appelle-moi Max`.
fn is_about_responses(words: &SentenceWords, first: usize) -> bool {
    let request = words.phrase_at(first, REQUESTS);
    let verb = negated_verb(words, first)
        .or(request.map(|length| first + length))
        .unwrap_or(first);
    if words.is(first, &["pas", "aucun", "aucune", "moins"]) {
        return (first + 1..first + 4).any(|number| is_form(words, number));
    }
    if words.is(verb, SPEAKING) {
        let way = words.skip(
            verb + 1,
            &[
                "moi",
                "me",
                "nous",
                "uniquement",
                "seulement",
                "tout",
                "plus",
                "pas",
            ],
        );
        let in_language = || words.is(way, &["en"]) && language(words.word(way + 1)).is_some();
        return language(words.word(way)).is_some() || words.is(way, MANNERS) || in_language();
    }
    match words.word(verb) {
        "sois" | "soyez" => return words.find(verb + 1..verb + 4, MANNERS).is_some(),
        "appelle" | "appelez" if words.is(verb + 1, &["moi"]) => {
            return verb + 2 < words.len()
                && !words.is(verb + 2, NON_VERBS)
                && !words.begins_clause(verb + 2);
        }
        "tutoie" | "tutoyez" | "vouvoie" | "vouvoyez" => {
            return words.is(verb + 1, &["moi", "nous"]);
        }
        _ => {}
    }
    words.is(verb, FORMING) && finds_form(words, verb)
}

fn is_form(words: &SentenceWords, number: usize) -> bool {
    words.is(number, FORMS) || words.is(number, SHARED_FORMS) || words.is(number, NAMED_SYSTEMS)
}

fn finds_form(words: &SentenceWords, verb: usize) -> bool {
    const DEFINITE: &[&str] = &[
        "ce", "cette", "ces", "mon", "ma", "mes", "son", "sa", "ses", "notre", "nos", "un", "une",
    ];
    let end = words.next_clause(verb + 1).min(verb + 6);
    let is_located = words
        .find(verb + 1..words.len(), &["dans", "sur"])
        .is_some()
        && words.find(verb + 1..end, &["les", "le", "la"]).is_some();
    let is_response = |number: usize| words.is(number, RESPONSES);
    !is_located
        && (verb + 1..end).any(|number| {
            (is_form(words, number) || is_response(number))
                && words.find(verb + 1..number, DEFINITE).is_none()
        })
}

fn find_third_person(words: &SentenceWords) -> Option<(super::StandingKind, usize)> {
    let user = words.find(0..2, &["utilisateur", "utilisatrice"])?;
    let verb = words.skip(user + 1, &["n'", "ne"]);
    match words.word(verb) {
        "prefere" | "aime" | "deteste" | "adore" => Some((Preference, 0)),
        "veut" | "souhaite" | "demande" if finds_form(words, verb) => Some((Instruction, 0)),
        _ => None,
    }
}

/// Finds `je veux des réponses courtes` and `je n'aime pas les emojis`.
fn find_wish(words: &SentenceWords, is_short: bool) -> Option<(super::StandingKind, usize)> {
    let start = words
        .find(0..words.len(), &["je", "j'"])
        .filter(|start| is_short && words.begins_clause(*start))?;
    let verb = words.skip(start + 1, &["ne", "n'"]);
    let kind = match words.word(verb) {
        "veux" | "voudrais" | "souhaite" | "aimerais" => Instruction,
        "aime" | "adore" | "deteste" => Preference,
        _ => return None,
    };
    (!words.is_question && finds_form(words, verb)).then_some((kind, start))
}

fn find_preference(words: &SentenceWords) -> Option<(super::StandingKind, usize)> {
    let found = (0..words.len()).find(|number| match words.word(*number) {
        "je" | "j'" => {
            let verb = words.skip(number + 1, &["te", "vous", "ne", "n'"]);
            words.is(verb, &["prefere", "prefererais"])
                || words
                    .phrase_at(verb, &["aime mieux", "aime plus"])
                    .is_some()
        }
        "mon" | "ma" | "mes" => {
            let is_favourite =
                |at: usize| words.is(at, &["prefere", "preferee", "preferes", "preferees"]);
            (number + 2..number + 4)
                .any(|at| is_favourite(at) && words.is(at + 1, &["est", "sont", "c'"]))
        }
        _ => false,
    });
    found.map(|at| (Preference, at))
}
