//! Chooses the matches that a model is given with a prompt.
//!
//! A person who searches sees what is near. A model takes what it is given for relevant, so it is given a note only if the note is
//! probably useful, and no note is a good result.

use std::collections::HashSet;

use chrono::{DateTime, FixedOffset, Offset, TimeZone};

use super::asked_time::{AskedTime, NamedTime};
use crate::conversation::framing_words;
use crate::rank::{RankFeature, sigmoid};
use crate::text::tokenize;
use crate::{Category, Hit, Memory, Scope, Services, TermScore};

/// The minimum probability that a note is useful.
///
/// On the larger labelled set, the model alone shows 54, 50 and 44 % of the needed notes at a precision of 39, 46 and 50 % for a minimum
/// of 0.14, 0.2 and 0.27.
pub const MIN_USEFULNESS: f32 = 0.2;

/// The maximum number of notes for a prompt about one thing, and for one about several.
const MAX_NOTES: [usize; 2] = [6, 12];

/// A logistic model of the probability that a note is useful for a prompt.
///
/// It is fitted with equal weight to two labelled sets of 155 prompts, except [`Self::at_asked_time`]: a note that names the time needs
/// little other evidence.
struct UsefulnessModel {
    offset: f32,
    /// The weight of the matching words, as the search weighs them.
    words: f32,
    /// The weight of the cosine.
    cosine: f32,
    /// The weight of the distance to the best cosine.
    distance: f32,
    /// Added for a note of the project in which the prompt is asked.
    own_project: f32,
    /// Added for a preference from outside, and for any other note from outside, if the prompt is asked in a project.
    outside: [f32; 2],
    /// Added for a note with a day in the time of the prompt, and for a recurrence in that time.
    at_asked_time: [f32; 2],
    /// Added for a note that stayed in the inbox beyond its time there.
    unfiled: f32,
}

const WITH_VECTORS: UsefulnessModel = UsefulnessModel {
    offset: -4.96,
    words: 3.82,
    cosine: 10.1,
    distance: 2.6,
    own_project: 0.95,
    outside: [-0.61, -2.61],
    at_asked_time: [3.5, 2.5],
    unfiled: -2.98,
};
const BY_WORDS: UsefulnessModel = UsefulnessModel {
    offset: -4.6,
    words: 6.07,
    cosine: 0.0,
    distance: 0.0,
    own_project: 1.1,
    outside: [-0.41, -2.76],
    at_asked_time: [3.5, 2.5],
    unfiled: -2.81,
};

impl UsefulnessModel {
    fn probability(
        &self,
        hit: &Hit,
        services: &Services,
        request: &RequestEvidence,
        best_cosine: f32,
    ) -> f32 {
        let explanation = &hit.explanation;
        let memory = &hit.stored.memory;
        let words = explanation
            .parts
            .iter()
            .find(|part| part.part == RankFeature::Words)
            .filter(|_| !request.frames_all(&explanation.terms))
            .map_or(0.0, |part| part.value);
        let cosine = explanation.cosine.unwrap_or_default();
        let place = match (&memory.scope, &services.project) {
            (_, None) => 0.0,
            (Scope::Project(scope), Some(project)) if scope == project => self.own_project,
            (_, Some(_)) => self.outside[usize::from(memory.category != Category::Preferences)],
        };
        let time = request
            .asked_time_of(memory)
            .map_or(0.0, |named| self.at_asked_time[named as usize]);
        let is_unfiled = services.inbox_ttl.is_overdue(memory, services.clock.now());
        sigmoid(
            self.offset
                + self.words * words
                + self.cosine * cosine
                + self.distance * (cosine - best_cosine)
                + place
                + time
                + if is_unfiled { self.unfiled } else { 0.0 },
        )
    }
}

/// Features of the prompt alone.
pub(super) struct RequestEvidence {
    /// The words that only frame the request, such as `run` in `run the tests`. They never match alone.
    frame: HashSet<String>,
    /// The time in question.
    time: Option<AskedTime>,
    zone: FixedOffset,
}

impl RequestEvidence {
    pub(super) fn of<Tz: TimeZone>(prompt: &str, now: &DateTime<Tz>) -> Self {
        let mut frame = HashSet::new();
        for range in framing_words(prompt) {
            tokenize(&prompt[range], &mut |token| {
                frame.insert(token.text.to_owned());
            });
        }
        Self {
            frame,
            time: AskedTime::of(prompt, now),
            zone: now.offset().fix(),
        }
    }

    /// Returns whether the time of the prompt is the present or the future.
    pub(super) fn asks_for_time(&self) -> bool {
        self.time.is_some()
    }

    fn asked_time_of(&self, memory: &Memory) -> Option<NamedTime> {
        let written = memory.created_at.with_timezone(&self.zone);
        self.time.as_ref()?.named_in(&memory.content, &written)
    }

    /// Returns whether all matches are of such words, or of numbers of one or two digits.
    fn frames_all(&self, matches: &[TermScore]) -> bool {
        let is_number =
            |term: &str| term.len() < 3 && term.bytes().all(|letter| letter.is_ascii_digit());
        !matches.is_empty()
            && matches
                .iter()
                .all(|own| self.frame.contains(&own.term) || is_number(&own.term))
    }
}

/// The notes among the matches of a prompt, each with the probability that it is useful.
pub(super) struct UsefulSelection {
    /// Those that are given, best first.
    pub(super) useful: Vec<(f32, Hit)>,
    /// The others, best first.
    pub(super) omitted: Vec<(f32, Hit)>,
}

/// Selects the notes among `hits` that are probably useful.
///
/// The hits of a store that explains no score have no floor.
pub(super) fn select_useful(
    services: &Services,
    mut hits: Vec<Hit>,
    request: &RequestEvidence,
    asks_for_several: bool,
) -> UsefulSelection {
    let mut ids = HashSet::new();
    hits.retain(|hit| ids.insert(hit.stored.memory.id));
    let best_cosine = hits
        .iter()
        .filter_map(|hit| hit.explanation.cosine)
        .max_by(f32::total_cmp);
    let usefulness = |hit: &Hit| {
        if hit.explanation.parts.is_empty() {
            1.0
        } else {
            let model = match hit.explanation.cosine {
                Some(_) => &WITH_VECTORS,
                None => &BY_WORDS,
            };
            model.probability(hit, services, request, best_cosine.unwrap_or_default())
        }
    };
    let mut useful: Vec<(f32, Hit)> = hits
        .into_iter()
        .map(|hit| (usefulness(&hit), hit))
        .collect();
    useful.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let above = useful.partition_point(|(usefulness, _)| MIN_USEFULNESS <= *usefulness);
    let omitted = useful.split_off(above.min(MAX_NOTES[usize::from(asks_for_several)]));
    UsefulSelection { useful, omitted }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::rank::RankFeature;
    use crate::testing::services;
    use crate::{Draft, MemStore, RankFeatureScore, ScoreExplanation, SecretPolicy, write};

    fn useful_notes(
        services: &Services,
        hits: Vec<Hit>,
        request: &RequestEvidence,
        asks_for_several: bool,
    ) -> Vec<Hit> {
        let UsefulSelection { useful, .. } =
            select_useful(services, hits, request, asks_for_several);
        useful.into_iter().map(|(_, hit)| hit).collect()
    }

    /// Returns a hit with the evidence of its words and, if there are vectors, its cosine.
    fn hit(services: &Services, draft: Draft, words: f32, cosine: Option<f32>) -> Hit {
        let id = write(services, draft, SecretPolicy::Refuse)
            .expect("it is kept")
            .id;
        let stored = services.store.get(&id).expect("it is read");
        let part = RankFeatureScore {
            part: RankFeature::Words,
            value: words,
            score: words,
        };
        Hit {
            snippet: stored.memory.content.clone(),
            stored,
            score: 0.5,
            marks: Vec::new(),
            explanation: ScoreExplanation {
                parts: vec![part],
                cosine,
                ..ScoreExplanation::default()
            },
        }
    }

    fn request() -> RequestEvidence {
        RequestEvidence::of("run the tests", &chrono::Utc.timestamp_nanos(0))
    }

    fn contents(hits: &[Hit]) -> Vec<&str> {
        hits.iter()
            .map(|hit| hit.stored.memory.content.as_str())
            .collect()
    }

    #[test]
    fn the_notes_that_are_not_given_are_known_best_first() {
        let services = services(Arc::new(MemStore::default()));
        let of = |text: &str, words| hit(&services, Draft::new(text), words, None);
        let useful = (0..8_u8).map(|number| of(&format!("note {number}"), f32::from(10 - number)));
        let hits = useful
            .chain([of("weakest", 0.0), of("weak", 0.2)])
            .collect();
        let UsefulSelection { omitted, .. } = select_useful(&services, hits, &request(), false);
        let is_below = |usefulness: &f32| *usefulness < MIN_USEFULNESS;
        let omitted: Vec<_> = omitted
            .iter()
            .map(|(usefulness, hit)| (hit.stored.memory.content.as_str(), is_below(usefulness)))
            .collect();
        let expected = [
            ("note 6", false),
            ("note 7", false),
            ("weak", true),
            ("weakest", true),
        ];
        assert_eq!(omitted, expected);
    }

    #[test]
    fn a_note_is_useful_by_its_words_or_by_its_meaning_and_few_are_given() {
        let services = services(Arc::new(MemStore::default()));
        let of = |text: &str, words, cosine| hit(&services, Draft::new(text), words, cosine);
        let hits = vec![
            of("a word in common", 0.3, Some(0.1)),
            of("near", 0.0, Some(0.5)),
            of("its words", 1.5, Some(0.3)),
        ];
        let useful = useful_notes(&services, hits, &request(), false);
        assert_eq!(contents(&useful), ["its words", "near"]);
        let hits = vec![of("some words", 0.3, None), of("many words", 0.9, None)];
        assert_eq!(
            contents(&useful_notes(&services, hits, &request(), false)),
            ["many words"]
        );
        let many = || {
            (0..30)
                .map(|number| of(&format!("note {number}"), 2.0, None))
                .collect::<Vec<_>>()
        };
        let counts =
            [false, true].map(|several| useful_notes(&services, many(), &request(), several).len());
        assert_eq!(counts, MAX_NOTES);
    }

    #[test]
    fn words_of_the_request_and_small_numbers_never_match_alone() {
        let services = services(Arc::new(MemStore::default()));
        let of = |text: &str, terms: &[&str]| {
            let own = hit(&services, Draft::new(text), 1.5, None);
            let term = |term: &&str| TermScore {
                term: (*term).to_owned(),
                frequency: 1,
                documents: 1,
                idf: 1.0,
                score: 1.0,
            };
            Hit {
                explanation: ScoreExplanation {
                    terms: terms.iter().map(term).collect(),
                    ..own.explanation
                },
                ..own
            }
        };
        let hits = vec![
            of("Never run this", &["run"]),
            of("It is due on day 17", &["17"]),
            of("Run the checks in order", &["run", "test"]),
        ];
        let useful = useful_notes(&services, hits, &request(), false);
        assert_eq!(contents(&useful), ["Run the checks in order"]);
    }

    #[test]
    fn the_place_of_a_note_and_its_time_in_the_inbox_count() {
        let services = services(Arc::new(MemStore::default()));
        let services = Services {
            project: Some("harbour".into()),
            ..services
        };
        let now = services.clock.now();
        let draft = |text: &str, project: Option<&str>, category, days| Draft {
            scope: project.map_or(Scope::Global, |name| Scope::Project(name.into())),
            category,
            created_at: Some(now - chrono::TimeDelta::days(days)),
            ..Draft::new(text)
        };
        let hits = [
            draft(
                "of the project",
                Some("harbour"),
                Some(Category::Knowledge),
                90,
            ),
            draft("in its inbox", Some("harbour"), None, 1),
            draft("filed by nobody", Some("harbour"), None, 90),
            draft("a preference", None, Some(Category::Preferences), 90),
            draft("of all places", None, Some(Category::Knowledge), 90),
        ]
        .map(|draft| hit(&services, draft, 0.4, Some(0.25)));
        let useful = useful_notes(&services, hits.to_vec(), &request(), false);
        assert_eq!(contents(&useful), ["of the project", "in its inbox"]);
        let hits = hits.map(|hit| Hit {
            explanation: ScoreExplanation {
                cosine: Some(0.45),
                ..hit.explanation
            },
            ..hit
        });
        let useful = useful_notes(&services, hits.to_vec(), &request(), false);
        assert_eq!(
            contents(&useful),
            [
                "of the project",
                "in its inbox",
                "a preference",
                "filed by nobody"
            ]
        );
    }
}
