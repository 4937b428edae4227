//! Why a language model gave no answer.

use crate::{Code, MeterError, Shortage, Spent, StoreError, Tokens};

/// Why a language model gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// It is not set up so that it could be asked.
    #[error("the language model cannot be asked: {}", .0.why)]
    Unusable(Trouble),
    /// Nobody was there to be asked.
    #[error("the language model gave no answer: {}", .0.why)]
    Unreachable(Trouble),
    /// It was asked, and the connection broke before the answer was there.
    #[error("the language model gave no answer: {}", .0.why)]
    Lost(Trouble),
    /// It was asked, and did not answer in time.
    #[error("the language model gave no answer: {}", .0.why)]
    Timeout(Trouble),
    /// It, or who offers it, refuses to answer.
    #[error("the language model gave no answer: {}", trouble.why)]
    Refused {
        /// Why, and what to do about it.
        trouble: Trouble,
        /// What that took.
        tokens: Tokens,
    },
    /// It answered with something else than it was asked for, or its answer breaks off.
    #[error("the language model gave no answer that can be used: {}", trouble.why)]
    Unreadable {
        /// Why, and what to do about it.
        trouble: Trouble,
        /// What that took.
        tokens: Tokens,
    },
    /// It was not asked, because that may cost more than is left of the day's budget.
    #[error(transparent)]
    Exhausted(#[from] Shortage),
    /// It was not asked, because what that costs cannot be written down.
    #[error("the language model was not asked, because what is spent cannot be kept")]
    Meter(#[source] StoreError),
}

/// What went wrong with a language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What happened.
    pub why: String,
    /// What to do about it, if there is something to be said.
    pub hint: Option<String>,
}

impl ChatError {
    /// Returns the permanent name.
    pub fn code(&self) -> Code {
        match self {
            Self::Unusable(_) => Code::ConfigInvalid,
            Self::Unreachable(_) | Self::Lost(_) => Code::ModelFailed,
            Self::Timeout(_) => Code::ModelTimeout,
            Self::Refused { .. } => Code::ModelRefused,
            Self::Unreadable { .. } => Code::ModelUnreadable,
            Self::Exhausted(_) => Code::BudgetExhausted,
            Self::Meter(error) => error.code(),
        }
    }

    /// Returns what to do about it, if there is something to be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unusable(trouble) | Self::Unreachable(trouble) | Self::Lost(trouble) | Self::Timeout(trouble) => {
                trouble.hint.clone()
            }
            Self::Refused { trouble, .. } | Self::Unreadable { trouble, .. } => trouble.hint.clone(),
            Self::Exhausted(shortage) => Some(shortage.hint()),
            Self::Meter(error) => error.hint(),
        }
    }

    /// Returns what the failure cost, where `reserved` was set aside for the answer.
    ///
    /// Whoever was asked and did not answer may have worked all the same, and charge for it.
    pub(super) fn spent(&self, reserved: Spent) -> Spent {
        match self {
            Self::Unusable(_) | Self::Unreachable(_) | Self::Exhausted(_) | Self::Meter(_) => Spent::default(),
            Self::Lost(_) | Self::Timeout(_) => reserved,
            Self::Refused { tokens, .. } | Self::Unreadable { tokens, .. } => Spent::one_call(*tokens),
        }
    }
}

impl From<MeterError> for ChatError {
    fn from(error: MeterError) -> Self {
        match error {
            MeterError::Exhausted(shortage) => Self::Exhausted(shortage),
            MeterError::Store(error) => Self::Meter(error),
        }
    }
}
