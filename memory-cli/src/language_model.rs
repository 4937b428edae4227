//! The language model in the settings.

use std::fmt::{self, Debug, Formatter};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use chrono::{NaiveDate, Offset, Utc};
use memory_agent::model::{ApiKey, ChatSettings, RemoteChat};
use memory_core::{
    Budget, BudgetStatus, ChatAnswer, ChatError, ChatFailure, ChatModel, ChatRequest, Clock,
    MeteredModel, StoreError,
};
use memory_store::Ledger;

use crate::config::{Environment, LlmSettings, Settings, SettingsLayer};
use crate::zone::{NamedZone, UserTimeZone};

/// Returns the configured model, if any, with the budget of the settings; it is opened on first use.
pub(crate) fn open_lazily(
    settings: &Settings,
    clock: Arc<dyn Clock>,
) -> Option<Arc<dyn ChatModel>> {
    let (llm, environment) = (settings.llm.clone(), settings.environment.clone());
    let root = settings.root.value.clone();
    let (is_named, budget) = (llm.is_named(), llm.budget());
    let open = move || {
        let model = open(&llm, &environment)?;
        Ok((model, Ledger::open(&root).map_err(ChatError::Meter)?))
    };
    is_named.then(|| LazyChatModel::shared(open, settings, budget, clock))
}

/// Returns a model with a budget; it is opened on first use.
///
/// Usage is recorded below the first of `roots`, which is created if it is missing, or below the second one if the
/// first cannot be opened. Earlier usage below the second one is also counted.
pub(crate) fn with_budget<M: ChatModel + 'static>(
    open: impl Fn() -> M + Send + Sync + 'static,
    roots: [PathBuf; 2],
    settings: &Settings,
    budget: Budget,
    clock: Arc<dyn Clock>,
) -> Arc<dyn ChatModel> {
    let open = move || Ok((open(), open_ledger(&roots).map_err(ChatError::Meter)?));
    LazyChatModel::shared(open, settings, budget, clock)
}

/// Returns the current day of the budget.
pub(crate) fn budget_day(settings: &Settings) -> NaiveDate {
    let clock = settings.clock();
    clock
        .now()
        .with_timezone(&budget_zone(settings.timezone.value))
        .date_naive()
}

/// Returns the time zone of budget days.
///
/// Without a setting it is UTC rather than local time, because a machine may travel and the budget must not change.
fn budget_zone(setting: Option<NamedZone>) -> UserTimeZone {
    setting.map_or_else(|| UserTimeZone::Fixed(Utc.fix()), UserTimeZone::Named)
}

/// A model with a budget, which is opened with its ledger on first use.
struct LazyChatModel<M> {
    open: Box<dyn Fn() -> Result<(M, Ledger), ChatError> + Send + Sync>,
    zone: UserTimeZone,
    clock: Arc<dyn Clock>,
    budget: Budget,
    opened: OnceLock<MeteredModel<M, UserTimeZone>>,
}

impl<M: ChatModel + 'static> LazyChatModel<M> {
    fn shared(
        open: impl Fn() -> Result<(M, Ledger), ChatError> + Send + Sync + 'static,
        settings: &Settings,
        budget: Budget,
        clock: Arc<dyn Clock>,
    ) -> Arc<dyn ChatModel> {
        Arc::new(Self {
            open: Box::new(open),
            zone: budget_zone(settings.timezone.value),
            clock,
            budget,
            opened: OnceLock::new(),
        })
    }

    fn get_or_open(&self) -> Result<&MeteredModel<M, UserTimeZone>, ChatError> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let (model, ledger) = (self.open)()?;
        Ok(self.opened.get_or_init(|| MeteredModel {
            model,
            meter: Arc::new(ledger),
            clock: Arc::clone(&self.clock),
            zone: self.zone,
            budget: self.budget,
        }))
    }
}

impl<M: ChatModel + 'static> ChatModel for LazyChatModel<M> {
    fn answer(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        self.get_or_open()?.answer(request)
    }

    fn allowance(&self) -> Result<BudgetStatus, ChatError> {
        self.get_or_open()?.allowance()
    }
}

impl<M: Debug> Debug for LazyChatModel<M> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LazyChatModel")
            .field("budget", &self.budget)
            .field("opened", &self.opened)
            .finish_non_exhaustive()
    }
}

/// Opens the ledger below the first root, and also counts the usage below the second one.
fn open_ledger([root, other]: &[PathBuf; 2]) -> Result<Ledger, StoreError> {
    match Ledger::open(root) {
        // A missing ledger is not created.
        Ok(ledger) if other.join("usage").is_dir() => {
            Ok(ledger.with_other_ledger(Ledger::open(other)?))
        }
        Ok(ledger) => Ok(ledger),
        Err(error) => Ledger::open(other).map_err(|_| error),
    }
}

fn open(llm: &LlmSettings, environment: &Environment) -> Result<RemoteChat, ChatError> {
    let missing = |what: &str, key: &str| {
        let hint = Some(format!("set {key} in config.yaml"));
        ChatError::Unusable(ChatFailure {
            why: what.to_owned(),
            hint,
        })
    };
    let base_url = llm
        .base_url
        .value
        .as_ref()
        .ok_or_else(|| missing("llm.model is set, but llm.base_url is not", "llm.base_url"))?;
    let model = llm
        .model
        .value
        .as_deref()
        .ok_or_else(|| missing("llm.base_url is set, but llm.model is not", "llm.model"))?;
    let api_key = api_key(llm, &|name| environment.variable(name))?;
    let usual = ChatSettings::new(base_url.expose_secret(), model);
    RemoteChat::new(ChatSettings {
        api_key,
        timeout: llm.timeout.value,
        certificates: environment.certificates.clone(),
        ..usual
    })
}

/// Returns the API key: that of the environment, else of the named variable, else of the file.
fn api_key(
    llm: &LlmSettings,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<ApiKey>, ChatError> {
    let LlmSettings {
        api_key,
        api_key_env,
        ..
    } = llm;
    let Some(name) = api_key_env
        .value
        .as_deref()
        .filter(|_| api_key.from != SettingsLayer::Environment)
    else {
        return Ok(api_key.value.clone());
    };
    let unusable = |why: String| {
        let hint = Some(format!(
            "set {name} or correct llm.api_key_env in config.yaml"
        ));
        ChatError::Unusable(ChatFailure { why, hint })
    };
    match variable(name).filter(|value| !value.is_empty()) {
        Some(value) => value.parse().map(Some).map_err(|error| {
            unusable(format!(
                "environment variable {name} contains no valid API key: {error}"
            ))
        }),
        None if api_key.value.is_some() => Ok(api_key.value.clone()),
        None => Err(unusable(format!(
            "environment variable {name} is not set; it must contain the API key"
        ))),
    }
}

#[cfg(test)]
mod tests;
