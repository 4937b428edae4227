//! Identifies the agent and the project of an MCP request.
//!
//! A connection that begins with `initialize` is one session. Since the revision 2026-07-28 of the protocol, each request is
//! self-contained: it names its protocol version and its client, and no earlier request of the connection matters.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memory_core::{AgentName, ParseError, PrincipalAccess, Scope, View};
use percent_encoding::percent_decode_str;
use rmcp::model::{ProtocolVersion, RequestMetaObject};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

/// The agent and project of a connection, as far as they are configured.
#[derive(Debug, Clone, Default)]
pub struct ClientIdentity {
    /// The agent; if unset, the agent that a request names, else the name of the client.
    pub agent: Option<AgentName>,
    /// The project of the agent; if unset, the project that a request names, else that of a folder.
    pub project: Option<String>,
    /// The discovery of the project by folder, if any.
    pub discovery: Option<ProjectDiscovery>,
}

/// Discovers the project of a client that names none.
#[derive(Debug, Clone)]
pub struct ProjectDiscovery {
    /// The folder in which the client started the server.
    ///
    /// If it is in no project, the first folder that the client reports as a root is used.
    pub working_folder: Option<PathBuf>,
    /// Finds the project of a folder.
    pub finder: Arc<dyn ProjectFinder>,
}

/// Finds the projects of folders.
pub trait ProjectFinder: Debug + Send + Sync {
    /// Returns the project of a folder for an agent.
    fn find_project(&self, folder: &Path) -> FoundProject;
}

/// The project of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundProject {
    /// The folder is in no project.
    None,
    /// The folder is in the project with this name.
    Named(String),
    /// The folder may be in a project, whose memories an agent does not receive for this reason.
    Withheld(String),
}

impl FoundProject {
    /// Returns the name of the project that an agent in the folder works in.
    pub fn name(self) -> Option<String> {
        match self {
            Self::Named(name) => Some(name),
            Self::None | Self::Withheld(_) => None,
        }
    }
}

/// The caller of a request.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    /// The agent and the project.
    pub view: View,
    /// How the project was detected, or why its memories are withheld.
    pub project_note: Option<String>,
}

/// The field of `_meta` that names the agent of a request.
const AGENT_KEY: &str = "memory/agent";

/// The field of `_meta` that names the project of a request.
const PROJECT_KEY: &str = "memory/project";

impl ClientIdentity {
    /// Returns the caller of a request, without the project of a root.
    ///
    /// # Errors
    /// If the request names an invalid agent or project.
    pub(super) fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
        let client = context.client_info().map(|client| client.name);
        let (agent, project) = stated_identity(context)?;
        let agent = self
            .agent
            .clone()
            .or(agent)
            .or_else(|| agent_name(&client?));
        let configured = self
            .project
            .clone()
            .map(|project| (project, "set by --project".to_owned()));
        let stated = configured.or_else(|| Some((project?, "named by the client".to_owned())));
        let (project, project_note) = match (stated, &self.discovery) {
            (Some((project, origin)), _) => (Some(project), Some(origin)),
            (None, Some(discovery)) => discovery.of_working_folder(),
            (None, None) => (None, None),
        };
        Ok(Caller {
            view: View {
                agent,
                project,
                principal: request_principal(context),
            },
            project_note,
        })
    }
}

impl ProjectDiscovery {
    /// Returns the project of the working folder, and how it was detected, or why its memories are withheld.
    fn of_working_folder(&self) -> (Option<String>, Option<String>) {
        let Some(folder) = self.working_folder.as_deref() else {
            return (None, None);
        };
        match self.finder.find_project(folder) {
            FoundProject::Named(name) => {
                let origin = format!("git repository around {}", folder.display());
                (Some(name), Some(origin))
            }
            FoundProject::Withheld(why) => (None, Some(why)),
            FoundProject::None => (None, None),
        }
    }

    /// Returns the project of the first root that is a folder of this machine.
    pub(super) fn of_roots<'a>(
        &self,
        mut roots: impl Iterator<Item = &'a str>,
    ) -> Option<FoundProject> {
        Some(self.finder.find_project(&roots.find_map(local_folder)?))
    }
}

/// Returns whether a request names its own protocol version and client, so that it belongs to no session.
pub(super) fn is_self_contained(meta: &RequestMetaObject) -> bool {
    meta.protocol_version()
        .is_some_and(|version| ProtocolVersion::V_2026_07_28 <= version)
}

/// Returns the agent and the project that the headers of a request name, else those that its `_meta` names.
fn stated_identity(
    context: &RequestContext<RoleServer>,
) -> Result<(Option<AgentName>, Option<String>), ErrorData> {
    let stated = |header: &str, key: &str| match header_text(context, header)? {
        Some(text) => Ok(Some(text)),
        None => meta_text(&context.meta, key),
    };
    let refused = |error: ParseError| ErrorData::invalid_params(error.to_string(), None);
    let agent = stated("memory-agent", AGENT_KEY)?
        .map(|name| name.parse())
        .transpose()
        .map_err(refused)?;
    let project = stated("memory-project", PROJECT_KEY)?
        .map(|name| parse_project(&name))
        .transpose()
        .map_err(refused)?;
    Ok((agent, project))
}

fn meta_text(meta: &RequestMetaObject, key: &str) -> Result<Option<String>, ErrorData> {
    match meta.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(ErrorData::invalid_params(
            format!("_meta.{key}: not a string"),
            None,
        )),
    }
}

fn header_text(
    context: &RequestContext<RoleServer>,
    name: &str,
) -> Result<Option<String>, ErrorData> {
    let header = context
        .extensions
        .get::<axum::http::request::Parts>()
        .and_then(|parts| parts.headers.get(name));
    let text = header
        .map(|value| value.to_str().map(str::to_owned))
        .transpose();
    text.map_err(|_| {
        ErrorData::invalid_params(format!("the header {name} is not ASCII text"), None)
    })
}

/// Returns the principal whose token an HTTP request has, if the view is that of the principal.
pub(super) fn request_principal(context: &RequestContext<RoleServer>) -> Option<PrincipalAccess> {
    let parts = context.extensions.get::<axum::http::request::Parts>()?;
    crate::http::RequestCaller::of(&parts.extensions).cloned()
}

fn parse_project(name: &str) -> Result<String, ParseError> {
    match format!("project:{name}").parse() {
        Ok(Scope::Project(name)) => Ok(name),
        _ => Err(ParseError::new(name, "a project name")),
    }
}

/// Returns the folder that a URI with the scheme `file` denotes, if it exists on this machine.
fn local_folder(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let path = PathBuf::from(percent_decode_str(path).decode_utf8().ok()?.into_owned());
    (path.is_absolute() && path.is_dir()).then_some(path)
}

/// Returns the agent name for a client name.
fn agent_name(client: &str) -> Option<AgentName> {
    let plain: String = client
        .trim()
        .chars()
        .map(|letter| if letter.is_whitespace() { '-' } else { letter })
        .collect();
    plain.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names projects by their folders.
    #[derive(Debug)]
    struct ByName;
    impl ProjectFinder for ByName {
        fn find_project(&self, folder: &Path) -> FoundProject {
            let name = folder.file_name().expect("a name");
            FoundProject::Named(name.to_string_lossy().into_owned())
        }
    }

    #[test]
    fn the_project_is_that_of_the_first_root_that_is_a_folder_here() {
        let home = tempfile::tempdir().expect("a folder");
        let folder = home.path().join("a b");
        std::fs::create_dir(&folder).expect("a folder");
        let discovery = ProjectDiscovery {
            working_folder: None,
            finder: Arc::new(ByName),
        };
        let root = format!(
            "file://{}",
            folder.display().to_string().replace(' ', "%20")
        );
        let project = |roots: &[&str]| {
            discovery
                .of_roots(roots.iter().copied())
                .and_then(FoundProject::name)
        };
        assert_eq!(
            project(&[
                "https://example.com/x",
                "file://host/x",
                "file:///no/such/folder",
                &root
            ])
            .as_deref(),
            Some("a b")
        );
        assert_eq!(
            project(&[&root.replace("file://", "file://localhost")]).as_deref(),
            Some("a b")
        );
        for none in ["", "file://", "file:x", "x", "file:///%ff"] {
            assert_eq!(project(&[none]), None, "{none}");
        }
    }
}
