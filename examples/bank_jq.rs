//! Writes values to a bank and queries them with jq: `cargo run -p examples --bin bank_jq [FILTER]`.

use std::env;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use memory_core::SecretPolicy;
use memory_core::bank::{
    BankLimits, BankQueryTarget, BankWriteCondition, BankWriteRequest, Banks, JsonFilter,
    JsonFilterError, ScopeChoice, query, write,
};
use memory_core::json::JsonText;
use memory_store::bank::{BankFolder, BankOptions, JsonSchemaValidator};
use memory_store::jq::{JqOutputFormat, JqProgram};
use memory_store::{RandomIds, SystemClock};

/// Runs filters in this process, without limits; `memory_store::jq::run_bounded` runs untrusted ones.
#[derive(Debug)]
struct TrustedFilter;

impl JsonFilter for TrustedFilter {
    fn run(&self, filter: &str, input: &str) -> Result<Vec<JsonText>, JsonFilterError> {
        let failed = |message: String| JsonFilterError::Failed { message };
        let program = JqProgram::parse(filter).map_err(|error| failed(error.to_string()))?;
        let outputs = program.run(input).map(|output| {
            let text = output
                .map_err(|error| failed(error.to_string()))?
                .print(JqOutputFormat::Compact);
            text.parse::<JsonText>()
                .map_err(|error| failed(error.to_string()))
        });
        outputs.collect()
    }

    fn run_with_timeout(
        &self,
        filter: &str,
        input: &str,
        _: Duration,
    ) -> Result<Vec<JsonText>, JsonFilterError> {
        self.run(filter, input)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let filter = env::args().nth(1).unwrap_or_else(|| {
        ".entries | to_entries[] | select(.value.value.port > 8000) | .key".to_owned()
    });
    let folder = tempfile::tempdir()?;
    let banks = Banks {
        user: Arc::new(BankFolder::new(folder.path(), BankOptions::default())),
        project: None,
        further: Vec::new(),
        new_project: None,
        filter: Arc::new(TrustedFilter),
        schemas: Arc::new(JsonSchemaValidator),
        limits: BankLimits::default(),
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds),
        actor: "bank_jq".to_owned(),
    };
    for (key, value) in [
        ("web", r#"{"port": 8080}"#),
        ("ssh", r#"{"port": 22}"#),
        ("metrics", r#"{"port": 9090}"#),
    ] {
        let (bank, key, value) = ("services".parse()?, key.parse()?, value.parse()?);
        let (condition, scope, secrets) = (
            BankWriteCondition::Any,
            ScopeChoice::default(),
            SecretPolicy::Refuse,
        );
        write(
            &banks,
            &BankWriteRequest {
                bank,
                key,
                value,
                ttl: None,
                condition,
                scope,
                secrets,
            },
        )?;
    }
    for result in query(
        &banks,
        &"services".parse()?,
        BankQueryTarget::Bank,
        &filter,
        ScopeChoice::default(),
    )?
    .results
    {
        println!("{result}");
    }
    Ok(())
}
