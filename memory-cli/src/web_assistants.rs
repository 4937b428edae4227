//! The assistants, their review and the projects, as the page changes them.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use memory_agent::web::{
    Assistant, AssistantHost, ChangedSettingsFile, Connection, ConnectionChange, ConnectionPlan,
    ProjectRepositories,
};
use memory_core::text::format_error_chain;
use memory_core::topic::Topics;
use memory_core::{
    AgentName, Code, ContentHash, Embedder, ReviewPolicy, ReviewRule, ScopePattern, ToolError,
    WritePolicy,
};
use memory_store::{Projects, RepositoryId, edit_file};

use crate::config::{Settings, SettingsLayer, set_list, set_value};
use crate::embedding;
use crate::failure::Failure;
use crate::install::{
    Client, ClientFileChange, ClientFolders, ClientSetup, EntryOptions, InstallLevel, PlannedChange,
};
use crate::project::HomeProjects;
use crate::topics;

/// The assistants and projects of a home, as the page shows and changes them.
#[derive(Debug)]
pub(crate) struct PageAssistants {
    settings: Arc<Settings>,
    /// The actor of changes.
    actor: &'static str,
    /// The project of the folder from which the page was started; it is determined once, because that may call git.
    own_project: OnceLock<Option<String>>,
}

impl PageAssistants {
    pub(crate) fn new(settings: &Arc<Settings>, actor: &'static str) -> Self {
        Self {
            settings: Arc::clone(settings),
            actor,
            own_project: OnceLock::new(),
        }
    }

    /// Returns the home that the flag names.
    fn root(&self) -> Option<&Path> {
        let root = &self.settings.root;
        (root.from == SettingsLayer::Flag).then_some(root.value.as_path())
    }

    /// Returns the settings as the file says now.
    fn current_settings(&self) -> Result<Settings, Failure> {
        Ok(Settings::load(self.root(), &self.settings.environment)?)
    }

    fn plan(
        &self,
        assistant: &str,
        change: ConnectionChange,
    ) -> Result<(ClientSetup, Vec<PlannedChange>), Failure> {
        let client = Client::named(assistant).ok_or_else(|| {
            let message = format!("the assistant {assistant} is unknown");
            ToolError::new(Code::InvalidInput, message, None)
        })?;
        let environment = &self.settings.environment;
        let setup = ClientSetup::new(client, InstallLevel::User, self.root(), environment)?;
        let (setup, changes) = match change {
            ConnectionChange::Connect { replaces } => {
                let setup = setup.with_options(&EntryOptions {
                    name: None,
                    replace: replaces,
                });
                let changes = setup.plan_install()?;
                (setup, changes)
            }
            ConnectionChange::Disconnect => {
                let changes = setup.plan_uninstall()?;
                (setup, changes)
            }
        };
        Ok((setup, changes))
    }

    fn connection(
        &self,
        client: &'static Client,
        folders: &ClientFolders,
    ) -> Result<Connection, Failure> {
        let is_changed = |change: ConnectionChange| {
            let (_, changes) = self.plan(client.name, change)?;
            let has_effect = |own: &PlannedChange| own.change != ClientFileChange::Unchanged;
            Ok::<_, Failure>(changes.iter().any(has_effect))
        };
        let has_entries = match is_changed(ConnectionChange::Disconnect) {
            // A file that does not name this program has no entry of it, whatever its other content.
            Err(error)
                if error.core_code() == Code::FileDamaged && !client.may_have_entries(folders) =>
            {
                false
            }
            other => other?,
        };
        if !has_entries {
            return Ok(Connection::Absent);
        }
        Ok(
            if is_changed(ConnectionChange::Connect { replaces: false })? {
                Connection::Different
            } else {
                Connection::Complete
            },
        )
    }
}

impl AssistantHost for PageAssistants {
    fn assistants(&self) -> Result<Vec<Assistant>, ToolError> {
        let folders =
            ClientFolders::of(&self.settings.environment).map_err(|error| page_error(&error))?;
        let assistant = |client: &'static Client| Assistant {
            name: client.name.to_owned(),
            title: client.title.to_owned(),
            is_present: client.is_present(&folders),
            connection: self
                .connection(client, &folders)
                .map_err(|error| format_error_chain(&error)),
        };
        Ok(Client::ALL.into_iter().map(assistant).collect())
    }

    fn plan_connection(
        &self,
        assistant: &str,
        change: ConnectionChange,
    ) -> Result<ConnectionPlan, ToolError> {
        let (_, changes) = self
            .plan(assistant, change)
            .map_err(|error| page_error(&error))?;
        let file = |change: &PlannedChange| ChangedSettingsFile {
            path: change.path.clone(),
            change: change.change.as_str(),
            diff: change.diff(),
        };
        Ok(ConnectionPlan {
            files: changes.iter().map(file).collect(),
            note: Client::named(assistant).and_then(|client| client.note.map(str::to_owned)),
            fingerprint: fingerprint(&changes),
        })
    }

    fn change_connection(
        &self,
        assistant: &str,
        change: ConnectionChange,
        planned: &str,
    ) -> Result<bool, ToolError> {
        let apply = || {
            let (setup, mut changes) = self.plan(assistant, change)?;
            let is_same = fingerprint(&changes) == planned;
            if is_same {
                setup.apply(&mut changes)?;
            }
            Ok::<_, Failure>(is_same)
        };
        apply().map_err(|error| page_error(&error))
    }

    fn client_embedder(&self) -> Option<Arc<dyn Embedder>> {
        embedding::open_built_in(&self.settings)
    }

    fn review(&self) -> Result<ReviewPolicy, ToolError> {
        let settings = self.current_settings();
        Ok(settings.map_err(|error| page_error(&error))?.review)
    }

    fn set_review(&self, agent: Option<&AgentName>, policy: WritePolicy) -> Result<(), ToolError> {
        let set = || {
            let current = self.current_settings()?;
            let environment = &self.settings.environment;
            edit_file(&current.file, |text| {
                let before = Settings::with_text(text, self.root(), environment)?.review;
                let wanted = with_policy(&before, agent, policy);
                let by_hand = || {
                    let place = current.file.display();
                    let message = format!(
                        "the review in {place} is written in a form that only you can change"
                    );
                    ToolError::new(
                        Code::ConfigInvalid,
                        message,
                        Some("change it in the file, then load this page again".into()),
                    )
                };
                let edited = if agent.is_none() {
                    set_value(text, "review.policy", policy.as_str())
                } else {
                    let rules: Vec<String> = wanted.rules.iter().map(ToString::to_string).collect();
                    set_list(text, "review.rules", &rules.join("\n"))
                };
                let edited = edited.ok_or_else(by_hand)?;
                // What does not read as intended is never written.
                if Settings::with_text(&edited, self.root(), environment)?.review == wanted {
                    Ok(edited)
                } else {
                    Err(by_hand().into())
                }
            })
        };
        set().map_err(|error: Failure| page_error(&error))
    }

    fn projects(&self) -> Result<Vec<ProjectRepositories>, ToolError> {
        let projects = Projects::load(&self.settings.root.value)?;
        let names = |ids: &[RepositoryId]| ids.iter().map(ToString::to_string).collect();
        Ok(projects
            .iter()
            .map(|(name, entry)| ProjectRepositories {
                name: name.to_owned(),
                repositories: names(&entry.repositories),
                candidates: names(&entry.candidates),
            })
            .collect())
    }

    fn confirm_repository(&self, project: &str, repository: &str) -> Result<(), ToolError> {
        let mut is_known = false;
        Projects::edit(&self.settings.root.value, |projects| {
            let others = projects.others(project);
            let id = others.iter().find(|id| id.to_string() == repository);
            is_known = id.is_some();
            if let Some(id) = id {
                projects.bind(project, id);
            }
        })?;
        if is_known {
            return Ok(());
        }
        Err(ToolError::new(
            Code::InvalidInput,
            "this repository does not wait for the project",
            Some("load the page of the project again".into()),
        ))
    }

    fn project_topics(&self, project: &str) -> Result<Option<Topics>, ToolError> {
        let own = self.own_project.get_or_init(|| {
            let folder = self.settings.environment.folder.as_deref()?;
            HomeProjects::new(&self.settings).bound_project(folder)
        });
        let topics = match topics::open_in_home(&self.settings, project, self.actor) {
            None if own.as_deref() == Some(project) => {
                topics::open(&self.settings, None, self.actor)
                    .map_err(|error| page_error(&error))?
            }
            found => found,
        };
        Ok(topics)
    }
}

/// Returns the policy in which all changes by `agent`, or those that no rule covers, are treated as `policy` says.
fn with_policy(
    before: &ReviewPolicy,
    agent: Option<&AgentName>,
    policy: WritePolicy,
) -> ReviewPolicy {
    let mut after = before.clone();
    let Some(agent) = agent else {
        after.default = policy;
        return after;
    };
    let is_own =
        |rule: &ReviewRule| rule.agent.as_ref() == Some(agent) && rule.scope == ScopePattern::Any;
    after.rules.retain(|rule| !is_own(rule));
    let is_covered = after
        .rules
        .iter()
        .any(|rule| rule.agent.as_ref().is_none_or(|own| own == agent));
    if is_covered || after.default != policy {
        // The first rule decides.
        let rule = ReviewRule {
            agent: Some(agent.clone()),
            scope: ScopePattern::Any,
            policy,
        };
        after.rules.insert(0, rule);
    }
    after
}

/// Returns a text that differs if the planned changes differ.
fn fingerprint(changes: &[PlannedChange]) -> String {
    let parts = changes.iter().map(|change| {
        format!(
            "{}\0{:?}\0{:?}\0",
            change.path.display(),
            change.before,
            change.after
        )
    });
    ContentHash::of(&parts.collect::<String>()).to_string()
}

/// Returns an error without the advice for the command line.
fn page_error(error: &Failure) -> ToolError {
    ToolError::new(error.core_code(), format_error_chain(error), None)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;
    use crate::config::Environment;

    const CONNECT: ConnectionChange = ConnectionChange::Connect { replaces: false };

    struct AssistantHome {
        folder: TempDir,
        page: PageAssistants,
    }

    impl AssistantHome {
        /// Creates a folder of a user with this file of settings of the memories.
        fn with_settings(text: &str) -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let root = folder.path().join(".memory");
            fs::create_dir(&root).expect("a folder");
            fs::write(root.join("config.yaml"), text).expect("a file");
            let environment = Environment::default()
                .with_home(folder.path())
                .with_folder(folder.path())
                .with_program("/usr/bin/memory".as_ref());
            let settings = Arc::new(Settings::load(None, &environment).expect("settings"));
            Self {
                page: PageAssistants::new(&settings, "web"),
                folder,
            }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.path(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.path(name)).expect("a file")
        }

        fn assistant(&self, name: &str) -> Assistant {
            let mut all = self.page.assistants().expect("assistants").into_iter();
            all.find(|own| own.name == name).expect("an assistant")
        }

        fn change(&self, name: &str, change: ConnectionChange) -> Result<bool, ToolError> {
            let plan = self.page.plan_connection(name, change)?;
            self.page.change_connection(name, change, &plan.fingerprint)
        }
    }

    #[test]
    fn each_assistant_is_connected_and_disconnected() {
        for client in Client::ALL {
            let home = AssistantHome::with_settings("");
            let state = || home.assistant(client.name).connection;
            assert_eq!(state(), Ok(Connection::Absent), "{}", client.name);
            assert_eq!(
                home.change(client.name, CONNECT),
                Ok(true),
                "{}",
                client.name
            );
            assert_eq!(state(), Ok(Connection::Complete), "{}", client.name);
            assert_eq!(
                home.change(client.name, ConnectionChange::Disconnect),
                Ok(true)
            );
            assert_eq!(state(), Ok(Connection::Absent), "{}", client.name);
        }
    }

    #[test]
    fn a_plan_writes_nothing_and_all_other_settings_stay() {
        let home = AssistantHome::with_settings("");
        let before = "# mine\nmodel = \"x\"\n";
        home.write(".codex/config.toml", before);
        assert!(home.assistant("codex").is_present);
        let plan = home.page.plan_connection("codex", CONNECT).expect("a plan");
        assert!(plan.files[0].diff.contains("+[mcp_servers.memory]"));
        assert_eq!(home.read(".codex/config.toml"), before);
        assert_eq!(home.change("codex", CONNECT), Ok(true));
        assert!(home.read(".codex/config.toml").starts_with(before));
        assert_eq!(home.change("codex", ConnectionChange::Disconnect), Ok(true));
        assert_eq!(home.read(".codex/config.toml"), before);
        assert!(!home.path(".codex/hooks.json").exists());
    }

    #[test]
    fn a_file_that_changed_after_the_plan_is_left_alone() {
        let home = AssistantHome::with_settings("");
        home.write(".gemini/settings.json", "{}");
        let plan = home
            .page
            .plan_connection("gemini", CONNECT)
            .expect("a plan");
        home.write(".gemini/settings.json", "{\"theme\": \"x\"}");
        let done = home
            .page
            .change_connection("gemini", CONNECT, &plan.fingerprint);
        assert_eq!(done, Ok(false));
        assert_eq!(home.read(".gemini/settings.json"), "{\"theme\": \"x\"}");
    }

    #[test]
    fn an_entry_of_another_program_is_a_conflict_until_it_is_replaced() {
        let home = AssistantHome::with_settings("");
        let other = "{\"mcpServers\": {\"memory\": {\"command\": \"other\"}}}";
        home.write(".cursor/mcp.json", other);
        let error = home.change("cursor", CONNECT).expect_err("a conflict");
        assert_eq!(error.code, Code::Conflict);
        assert_eq!(home.read(".cursor/mcp.json"), other);
        let replaced = ConnectionChange::Connect { replaces: true };
        assert_eq!(home.change("cursor", replaced), Ok(true));
        assert!(home.read(".cursor/mcp.json").contains("/usr/bin/memory"));
    }

    #[test]
    fn a_damaged_file_is_named_and_the_other_assistants_are_listed() {
        let home = AssistantHome::with_settings("");
        home.write(".cursor/mcp.json", "{\"memory\": ");
        let why = home.assistant("cursor").connection.expect_err("a problem");
        assert!(why.contains("mcp.json"), "{why}");
        assert_eq!(home.assistant("codex").connection, Ok(Connection::Absent));
    }

    #[test]
    fn a_switch_changes_only_the_rules_of_the_settings() {
        let text = "# mine\ntimezone: UTC # home\n";
        let home = AssistantHome::with_settings(text);
        let codex: AgentName = "codex".parse().expect("a name");
        let decide = || {
            let review = home.page.review().expect("a review");
            review.decide(Some(&codex), &memory_core::Scope::Global)
        };
        assert_eq!(decide(), WritePolicy::Direct);
        home.page
            .set_review(Some(&codex), WritePolicy::Propose)
            .expect("it is set");
        assert_eq!(decide(), WritePolicy::Propose);
        let with_rule = format!("{text}review:\n  rules:\n    - codex * propose\n");
        assert_eq!(home.read(".memory/config.yaml"), with_rule);
        home.page
            .set_review(Some(&codex), WritePolicy::Direct)
            .expect("it is set");
        assert_eq!(
            home.read(".memory/config.yaml"),
            format!("{text}review:\n  rules:\n")
        );
        home.page
            .set_review(None, WritePolicy::Propose)
            .expect("it is set");
        assert_eq!(decide(), WritePolicy::Propose);
    }

    #[test]
    fn a_switch_has_precedence_over_the_rules_of_the_person() {
        let home =
            AssistantHome::with_settings("review:\n  rules:\n    - codex global propose # mine\n");
        let codex: AgentName = "codex".parse().expect("a name");
        home.page
            .set_review(Some(&codex), WritePolicy::Direct)
            .expect("it is set");
        let expected =
            "review:\n  rules:\n    - codex * direct\n    - codex global propose # mine\n";
        assert_eq!(home.read(".memory/config.yaml"), expected);
    }

    #[test]
    fn only_a_repository_that_waits_is_confirmed() {
        let home = AssistantHome::with_settings("");
        let file =
            "{\"web\": {\"repositories\": [], \"candidates\": [\"remote:example.org/web\"]}}";
        home.write(".memory/projects.json", file);
        let confirm = |repository| home.page.confirm_repository("web", repository);
        assert!(confirm("remote:example.org/other").is_err());
        confirm("remote:example.org/web").expect("it is confirmed");
        let [project] = &home.page.projects().expect("projects")[..] else {
            panic!("one project");
        };
        assert_eq!(project.repositories, ["remote:example.org/web"]);
        assert!(project.candidates.is_empty());
    }

    #[test]
    fn the_name_of_a_project_is_no_path_to_topics() {
        let home = AssistantHome::with_settings("");
        home.write(".memory/topics/web/a.md", "a");
        home.write("elsewhere/a.md", "a");
        let topics = |name| home.page.project_topics(name).expect("they are opened");
        assert!(topics("web").is_some());
        for name in ["", "..", "../../elsewhere", "web/../web"] {
            assert!(topics(name).is_none(), "{name}");
        }
    }
}
