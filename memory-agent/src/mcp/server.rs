//! Handles the requests of one MCP client.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use memory_core::{AnswerDetail, RecallInterface, View, escape_tags};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, ContentBlock, CustomRequest, CustomResult,
    DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::answer::AnswerForm;
use super::caller::{Caller, ClientIdentity, FoundProject, is_self_contained, request_principal};
use super::subscriptions::{ListenLimit, Subscriptions};
use super::{answer, instructions, prompts, resources};
use crate::agent::{Agent, Session, SessionOrigin};

/// The server side of one client connection.
#[derive(Debug, Clone)]
pub(super) struct McpServer {
    agent: Arc<Agent>,
    identity: ClientIdentity,
    /// The caller of a connection that begins with `initialize`.
    caller: Arc<OnceLock<Caller>>,
    /// The session of that client.
    session: Arc<OnceCell<Arc<Session>>>,
    /// Why that client does not receive the memories of the project of its root; the next tool result contains it.
    withheld: Arc<Mutex<Option<String>>>,
    subscriptions: Subscriptions,
}

/// The methods that are served to all clients and have parameters.
const METHODS: [&str; 8] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
];

/// The further methods with parameters of a connection that begins with `initialize`.
const SESSION_METHODS: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];

/// The further methods with parameters of self-contained requests.
const SELF_CONTAINED_METHODS: [&str; 2] = ["server/discover", "subscriptions/listen"];

/// Time for which a client may cache the lists of tools, prompts and templates, in milliseconds.
///
/// They change only when the server is started with other settings.
const LIST_TTL: u64 = 300_000;

/// All results are for one person.
const CACHE_SCOPE: CacheScope = CacheScope::Private;

/// Maximum time that a client gets to report its roots.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(1);

impl McpServer {
    /// Creates the server side of a new connection, which ends with `end` at the latest.
    pub(super) fn new(
        agent: &Arc<Agent>,
        identity: &ClientIdentity,
        listens: &ListenLimit,
        end: &CancellationToken,
    ) -> Self {
        Self {
            agent: Arc::clone(agent),
            identity: identity.clone(),
            caller: Arc::default(),
            session: Arc::default(),
            withheld: Arc::default(),
            subscriptions: Subscriptions::new(end, listens),
        }
    }

    /// Returns the session of a self-contained request, else that of the connection, which is opened on first use.
    async fn session(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Session>, ErrorData> {
        let open = |view: &View, origin| {
            Arc::new(
                Session::begin(&self.agent, view)
                    .with_origin(origin)
                    .with_detail(AnswerDetail::Brief),
            )
        };
        if is_self_contained(&context.meta) {
            let origin = SessionOrigin::request(RecallInterface::Mcp, None);
            return Ok(open(&self.identity.caller(context)?.view, origin));
        }
        let principal = request_principal(context);
        let opened = self.session.get_or_try_init(|| async {
            let Caller { mut view, .. } = self
                .caller
                .get()
                .cloned()
                .map_or_else(|| self.identity.caller(context), Ok)?;
            if view.project.is_none() {
                let found = self.project_of_roots(context).await;
                if let Some(FoundProject::Withheld(why)) = &found {
                    *self.lock_withheld() = Some(format!("You are in no project: {why}."));
                }
                view.project = found.and_then(FoundProject::name);
            }
            Ok(open(&view, SessionOrigin::connection(RecallInterface::Mcp)))
        });
        let session = opened.await?;
        let view = session.view().cloned().unwrap_or_default();
        if view.principal == principal {
            return Ok(Arc::clone(session));
        }
        // The scopes of the principal have changed.
        Ok(open(
            &View { principal, ..view },
            SessionOrigin::connection(RecallInterface::Mcp),
        ))
    }

    /// Returns the project of the first folder that the client reports as a root.
    #[expect(
        deprecated,
        reason = "clients of revisions before 2026-07-28 have roots"
    )]
    async fn project_of_roots(&self, context: &RequestContext<RoleServer>) -> Option<FoundProject> {
        let discovery = self.identity.discovery.clone()?;
        context.client_capabilities()?.roots?;
        let listed = timeout(ROOTS_TIMEOUT, context.peer.list_roots())
            .await
            .ok()?
            .ok()?;
        let find = move || discovery.of_roots(listed.roots.iter().map(|root| root.uri.as_str()));
        tokio::task::spawn_blocking(find).await.ok()?
    }

    fn lock_withheld(&self) -> MutexGuard<'_, Option<String>> {
        self.withheld.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the instructions for the model of `caller`.
    async fn instructions(&self, caller: Caller) -> String {
        let agent = Arc::clone(&self.agent);
        let write = move || {
            instructions::write_instructions(&agent, &caller.view, caller.project_note.as_deref())
        };
        tokio::task::spawn_blocking(write)
            .await
            .unwrap_or_else(|_| instructions::BASIC.to_owned())
    }

    /// Returns whether the tools that are served reach memories; otherwise no resource does either.
    fn has_memories(&self) -> bool {
        self.agent.serves_models("memory_")
    }

    /// Runs blocking work on a thread pool, until the client cancels the request.
    async fn run_blocking<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Session) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let session = self.session(context).await?;
        let work = tokio::task::spawn_blocking(move || work(&session));
        tokio::select! {
            done = work => done.map_err(|error| ErrorData::internal_error(format!("the call failed: {error}"), None)),
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources();
        ServerConfig::new(capabilities.enable_resources_subscribe().build())
            .with_server_info(Implementation::new("memory", env!("CARGO_PKG_VERSION")))
            .with_instructions(instructions::BASIC)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        let caller = self.identity.caller(&context)?;
        // A repeated handshake does not change the caller.
        let caller = self.caller.get_or_init(|| caller).clone();
        result.instructions = Some(self.instructions(caller).await);
        Ok(result)
    }

    async fn discover(
        &self,
        context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        result.instructions = Some(self.instructions(self.identity.caller(&context)?).await);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        refuse_cursor(request.as_ref())?;
        let form = AnswerForm::of_version(context.protocol_version().as_ref());
        let result = ListToolsResult::with_all_items(answer::describe_tools(&self.agent, form));
        Ok(if is_self_contained(&context.meta) {
            result.with_ttl_ms(LIST_TTL).with_cache_scope(CACHE_SCOPE)
        } else {
            result
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let token = context.meta.get_progress_token();
        if let Some(token) = token.clone() {
            let begun = ProgressNotificationParam::new(token, 0.0).with_total(1.0);
            // A client that receives no progress notification still gets the result.
            let _ = context.peer.notify_progress(begun).await;
        }
        let (name, parameters) = (
            request.name.into_owned(),
            Value::Object(request.arguments.unwrap_or_default()),
        );
        let called = name.clone();
        let done = self
            .run_blocking(&context, move |session| session.call(&called, parameters))
            .await?;
        if let Some(token) = token {
            let _ = context
                .peer
                .notify_progress(ProgressNotificationParam::new(token, 1.0).with_total(1.0))
                .await;
        }
        let form = AnswerForm::of_version(context.protocol_version().as_ref());
        let mut result = answer::tool_result(self.agent.built_in_name(&name), done, form)?;
        if let Some(why) = self.lock_withheld().take() {
            result.content.push(ContentBlock::text(escape_tags(&why)));
        }
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if !self.has_memories() {
            return Ok(ListResourcesResult::default());
        }
        let cursor = request.and_then(|request| request.cursor);
        self.run_blocking(&context, move |session| {
            resources::list(&session.services(), cursor.as_deref())
        })
        .await?
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        refuse_cursor(request.as_ref())?;
        let templates = self.has_memories().then(resources::template);
        let result = ListResourceTemplatesResult::with_all_items(templates.into_iter().collect());
        Ok(if is_self_contained(&context.meta) {
            result.with_ttl_ms(LIST_TTL).with_cache_scope(CACHE_SCOPE)
        } else {
            result
        })
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if !self.has_memories() {
            let why = format!(
                "{}: memories are not served",
                memory_core::text::to_one_line(&request.uri, 200)
            );
            return Err(ErrorData::resource_not_found(why, None));
        }
        let read = self
            .run_blocking(&context, move |session| {
                resources::read(session, &request.uri)
            })
            .await?;
        read.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (session, uri) = (self.session(&context).await?, request.uri);
        self.subscriptions.add(&session, &context.peer, uri).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let uris = requested
            .resource_subscriptions
            .iter()
            .flatten()
            .filter(|uri| resources::is_resource(uri));
        Some(
            SubscriptionFilter::builder()
                .resource_subscriptions(uris)
                .build(),
        )
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let session = self.session(context.request_context()).await?;
        self.subscriptions.listen(&session, &context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // The SDK passes known methods to this handler if their parameters are invalid.
        let further = if is_self_contained(&context.meta) {
            &SELF_CONTAINED_METHODS[..]
        } else {
            &SESSION_METHODS
        };
        if METHODS
            .iter()
            .chain(further)
            .any(|method| *method == request.method)
        {
            let reason = text_error(&request).map_or_else(String::new, |why| format!(": {why}"));
            return Err(ErrorData::invalid_params(
                format!("invalid parameters for {}{reason}", request.method),
                None,
            ));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            request.method,
            None,
        ))
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        refuse_cursor(request.as_ref())?;
        let result = ListPromptsResult::with_all_items(prompts::all(&self.agent));
        Ok(if is_self_contained(&context.meta) {
            result.with_ttl_ms(LIST_TTL).with_cache_scope(CACHE_SCOPE)
        } else {
            result
        })
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let prompt = self
            .run_blocking(&context, move |session| {
                prompts::get(session, &request.name, &arguments)
            })
            .await?;
        prompt.map(Into::into)
    }
}

/// Returns why the text is invalid that a known method requires, such as the name of a tool.
fn text_error(request: &CustomRequest) -> Option<String> {
    let field = match request.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        _ => return None,
    };
    let value = request.params.as_ref().and_then(|own| own.get(field));
    let why = match value {
        None | Some(Value::Null) => "missing",
        Some(Value::String(_)) => return None,
        Some(_) => "not a string",
    };
    Some(format!("params.{field}: {why}"))
}

/// Returns an error if a request for a list of one page names another page.
fn refuse_cursor(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor.as_ref()) {
        Some(_) => Err(ErrorData::invalid_params("invalid cursor", None)),
        None => Ok(()),
    }
}
