//! The codes for signing in, each valid once, and the sessions that follow.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use memory_core::{Code, ContentHash, ToolError};
use subtle::ConstantTimeEq;

/// Time for which a code is valid.
const CODE_LIFETIME: Duration = Duration::from_mins(1);

/// Time for which a code for another device is valid: a person first gets there, and answers a warning about the certificate.
const DEVICE_CODE_LIFETIME: Duration = Duration::from_mins(5);

/// Number of wrong codes after which all valid codes become invalid.
const MAX_FAILURES: u32 = 5;

/// Maximum number of valid codes.
const MAX_CODES: usize = 8;

/// Time without a request after which a session ends.
const IDLE_TIME: Duration = Duration::from_hours(2);

/// Maximum number of sessions; a further one ends the one that was idle for the longest time.
const MAX_SESSIONS: usize = 16;

/// The characters of a code: digits and capital letters that are not mistaken for each other.
const CODE_ALPHABET: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// Number of characters of a code, which are 40 random bits.
const CODE_LENGTH: usize = 8;

/// The valid sign-in codes. They are only in main memory.
#[derive(Default)]
pub struct SignInCodes(Mutex<IssuedCodes>);

#[derive(Default)]
struct IssuedCodes {
    /// The codes with the ends of their validity.
    codes: Vec<(String, Instant)>,
    failures: u32,
}

impl SignInCodes {
    /// Returns a new code, which signs in once within 60 seconds, such as `K7QM-29XD`.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn issue(&self) -> Result<String, ToolError> {
        self.issue_at(Instant::now(), CODE_LIFETIME)
    }

    /// Returns a new code, which pairs another device once within five minutes.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn issue_for_device(&self) -> Result<String, ToolError> {
        self.issue_at(Instant::now(), DEVICE_CODE_LIFETIME)
    }

    fn issue_at(&self, now: Instant, lifetime: Duration) -> Result<String, ToolError> {
        let random = random_bytes::<CODE_LENGTH>()?;
        let code: String = random
            .iter()
            .map(|byte| char::from(CODE_ALPHABET[usize::from(byte % 32)]))
            .collect();
        let mut issued = self.lock();
        issued.remove_expired(now);
        if MAX_CODES <= issued.codes.len() {
            issued.codes.remove(0);
        }
        issued.failures = 0;
        issued.codes.push((code.clone(), now + lifetime));
        Ok(format!(
            "{}-{}",
            &code[..CODE_LENGTH / 2],
            &code[CODE_LENGTH / 2..]
        ))
    }

    /// Returns whether `text` is a valid code, and invalidates it.
    pub(super) fn redeem(&self, text: &str, now: Instant) -> bool {
        let text: String = text
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .map(|letter| letter.to_ascii_uppercase())
            .collect();
        let mut issued = self.lock();
        issued.remove_expired(now);
        // All codes are compared, so that the time reveals nothing.
        let matching = issued
            .codes
            .iter()
            .map(|(code, _)| bool::from(code.as_bytes().ct_eq(text.as_bytes())))
            .collect::<Vec<_>>();
        if let Some(number) = matching.iter().position(|matches| *matches) {
            issued.codes.remove(number);
            issued.failures = 0;
            return true;
        }
        issued.failures += 1;
        if MAX_FAILURES <= issued.failures {
            issued.codes.clear();
        }
        false
    }

    fn lock(&self) -> MutexGuard<'_, IssuedCodes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IssuedCodes {
    fn remove_expired(&mut self, now: Instant) {
        self.codes.retain(|(_, end)| now < *end);
    }
}

impl fmt::Debug for SignInCodes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SignInCodes")
            .finish_non_exhaustive()
    }
}

/// The sessions of all browsers. They are only in main memory.
#[derive(Debug, Default)]
pub(super) struct WebSessions(Mutex<Vec<Arc<WebSession>>>);

/// A session of a browser.
pub(super) struct WebSession {
    /// The value of the cookie.
    token: String,
    csrf: String,
    last_request: Mutex<Instant>,
    /// The paired device, whose session ends when it is revoked.
    device: Option<String>,
}

impl WebSessions {
    /// Starts a session.
    pub(super) fn begin(&self, now: Instant) -> Result<Arc<WebSession>, ToolError> {
        let session = Arc::new(WebSession {
            token: random_text()?,
            csrf: random_text()?,
            last_request: Mutex::new(now),
            device: None,
        });
        let mut sessions = self.lock();
        sessions.retain(|session| !session.is_idle(now));
        if MAX_SESSIONS <= sessions.len() {
            let oldest = sessions
                .iter()
                .enumerate()
                .min_by_key(|(_, session)| session.last_request())
                .map(|(number, _)| number);
            oldest.map(|number| sessions.remove(number));
        }
        sessions.push(Arc::clone(&session));
        Ok(session)
    }

    /// Returns the session with this token, unless it was idle for too long.
    pub(super) fn find(&self, token: &str, now: Instant) -> Option<Arc<WebSession>> {
        let mut sessions = self.lock();
        sessions.retain(|session| !session.is_idle(now));
        let found = sessions
            .iter()
            .find(|session| bool::from(session.token.as_bytes().ct_eq(token.as_bytes())))?;
        *found
            .last_request
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = now;
        Some(Arc::clone(found))
    }

    /// Returns whether a session has not ended. Unlike a request, this does not extend it.
    pub(super) fn is_active(&self, session: &WebSession, now: Instant) -> bool {
        !session.is_idle(now) && self.lock().iter().any(|own| own.token == session.token)
    }

    pub(super) fn end(&self, session: &WebSession) {
        self.lock().retain(|own| own.token != session.token);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<WebSession>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WebSession {
    /// Returns the session of a paired device. Its forms stay valid when the server starts again.
    pub(super) fn of_device(token: &str, id: &str) -> Arc<Self> {
        Arc::new(Self {
            token: token.to_owned(),
            csrf: ContentHash::of(&format!("token of forms {token}")).to_string(),
            last_request: Mutex::new(Instant::now()),
            device: Some(id.to_owned()),
        })
    }

    /// Returns the id of the paired device, if the session is that of one.
    pub(crate) fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// Returns the value of the cookie.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Returns the token that every form of this session carries.
    pub(super) fn csrf(&self) -> &str {
        &self.csrf
    }

    pub(super) fn has_csrf(&self, csrf: &str) -> bool {
        self.csrf.as_bytes().ct_eq(csrf.as_bytes()).into()
    }

    fn last_request(&self) -> Instant {
        *self
            .last_request
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn is_idle(&self, now: Instant) -> bool {
        IDLE_TIME <= now.saturating_duration_since(self.last_request())
    }
}

impl fmt::Debug for WebSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WebSession").finish_non_exhaustive()
    }
}

/// Returns 128 random bits as hexadecimal digits.
pub(super) fn random_text() -> Result<String, ToolError> {
    random_bytes::<16>().map(|bytes| format!("{:032x}", u128::from_le_bytes(bytes)))
}

fn random_bytes<const N: usize>() -> Result<[u8; N], ToolError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| {
        ToolError::new(
            Code::Internal,
            format!("cannot read random numbers: {error}"),
            Some("try again".into()),
        )
    })?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_signs_in_once_and_within_its_lifetime() {
        let (codes, now) = (SignInCodes::default(), Instant::now());
        let code = codes.issue_at(now, CODE_LIFETIME).unwrap();
        assert_eq!((code.len(), code.as_bytes()[4]), (9, b'-'));
        assert!(codes.redeem(&format!(" {} ", code.to_lowercase()), now));
        assert!(!codes.redeem(&code, now), "it was used");
        let code = codes.issue_at(now, CODE_LIFETIME).unwrap();
        assert!(!codes.redeem(&code, now + CODE_LIFETIME));
        let code = codes.issue_at(now, DEVICE_CODE_LIFETIME).unwrap();
        assert!(codes.redeem(&code, now + DEVICE_CODE_LIFETIME / 2));
        let code = codes.issue_at(now, DEVICE_CODE_LIFETIME).unwrap();
        assert!(!codes.redeem(&code, now + DEVICE_CODE_LIFETIME));
        assert!(!codes.redeem("", now));
        assert_eq!(format!("{codes:?}"), "SignInCodes { .. }");
    }

    #[test]
    fn codes_cannot_be_guessed_by_trying() {
        let (codes, now) = (SignInCodes::default(), Instant::now());
        let code = codes.issue_at(now, CODE_LIFETIME).unwrap();
        for _ in 0..MAX_FAILURES {
            assert!(!codes.redeem("AAAA-AAAA", now));
        }
        assert!(!codes.redeem(&code, now));
        let code = codes.issue_at(now, CODE_LIFETIME).unwrap();
        assert!(codes.redeem(&code, now), "a new code is valid");
    }

    #[test]
    fn a_session_ends_when_it_is_idle_or_signed_out() {
        let (sessions, now) = (WebSessions::default(), Instant::now());
        let session = sessions.begin(now).unwrap();
        let token = session.token.clone();
        let later = now + IDLE_TIME / 2;
        assert!(sessions.find(&token, later).is_some());
        assert!(
            sessions.find(&token, later + IDLE_TIME / 2).is_some(),
            "a request extends it"
        );
        assert!(sessions.find(&token, later + IDLE_TIME * 2).is_none());
        assert!(sessions.find(&token, now).is_none(), "it does not return");
        let session = sessions.begin(now).unwrap();
        assert!(sessions.find("", now).is_none() && sessions.find(&session.csrf, now).is_none());
        sessions.end(&session);
        assert!(sessions.find(&session.token, now).is_none());
        assert_eq!(format!("{session:?}"), "WebSession { .. }");
    }

    #[test]
    fn the_number_of_sessions_is_limited() {
        let (sessions, now) = (WebSessions::default(), Instant::now());
        let first = sessions.begin(now).unwrap();
        for number in 1..=MAX_SESSIONS {
            sessions
                .begin(now + Duration::from_secs(number as u64))
                .unwrap();
        }
        assert!(sessions.find(&first.token, now).is_none());
        assert_eq!(sessions.lock().len(), MAX_SESSIONS);
    }
}
