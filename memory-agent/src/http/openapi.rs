//! Describes all routes as OpenAPI 3.1.

use serde_json::{Map, Value, json};

use crate::agent::Agent;
use crate::instance::{Backend, backends};
use memory_core::Code;

/// Returns the OpenAPI document of all routes.
///
/// See <https://spec.openapis.org/oas/v3.1.0>. The schemas are those that parameters are validated against.
pub fn openapi(agent: &Agent) -> Value {
    let mut paths = Map::new();
    let mut route = |path: String, methods: Value| paths.insert(path, methods);
    let health = json!({ "status": { "type": "string" }, "backends": { "type": "array", "items": { "type": "string" } } });
    let health =
        json!({ "type": "object", "properties": health, "required": ["status", "backends"] });
    let mut alive = operation("health", "Check that the server is running", &health);
    alive["security"] = json!([]);
    route("/v1/health".into(), json!({ "get": alive }));
    let status = json!({ "type": "object", "properties": { "status": { "type": "string" } }, "required": ["status"] });
    for (path, id, summary) in [
        ("/healthz", "liveness", "Check that the process works"),
        (
            "/readyz",
            "readiness",
            "Check that the memories can be read and written; status 503 gives the code of the reason",
        ),
    ] {
        let mut check = operation(id, summary, &status);
        check["security"] = json!([]);
        route(path.into(), json!({ "get": check }));
    }
    let list = json!({ "type": "array", "items": { "type": "object" } });
    let object = json!({ "type": "object" });
    route(
        "/v1/backends".into(),
        json!({ "get": operation("list_backends", "List the types of instances", &list) }),
    );
    let names: Vec<&str> = backends().iter().map(|backend| backend.name).collect();
    let mut one = operation(
        "show_backend",
        "Show a type of instances: its fields and actions with their schemas",
        &object,
    );
    one["parameters"] = json!([path_parameter(
        "backend",
        &json!({ "type": "string", "enum": names })
    )]);
    route("/v1/backends/{backend}".into(), json!({ "get": one }));
    route(
        "/v1/instances".into(),
        json!({ "get": operation("list_instances", "List the instances", &list) }),
    );
    for backend in backends() {
        add_action_routes(backend, &mut route);
    }
    let mut tools = operation("list_tools", "List the tools with their schemas", &object);
    tools["responses"]["200"]["content"]["application/json"]["schema"] =
        json!({ "type": "object", "properties": { "tools": list }, "required": ["tools"] });
    route("/v1/tools".into(), json!({ "get": tools }));
    for tool in agent.callable_tools() {
        let name = tool.name();
        let show = operation(
            &format!("show_{name}"),
            "Show the tool with its schema",
            &object,
        );
        let call = operation_with_body(
            &format!("call_{name}"),
            tool.description(),
            &tool.parameters(),
        );
        route(
            format!("/v1/tools/{name}"),
            json!({ "get": show, "post": call }),
        );
    }
    route(
        "/openapi.json".into(),
        json!({ "get": operation("openapi", "Return this OpenAPI document", &object) }),
    );
    let mut metrics = operation(
        "metrics",
        "Return metrics of requests and actions for Prometheus",
        &object,
    );
    metrics["responses"]["200"]["content"] =
        json!({ super::metrics::MEDIA_TYPE: { "schema": { "type": "string" } } });
    route("/metrics".into(), json!({ "get": metrics }));
    route("/mcp".into(), json!({ "post": mcp_operation() }));
    json!({
        "openapi": "3.1.0",
        "info": { "title": "memory", "version": env!("CARGO_PKG_VERSION"), "license": { "name": "MIT OR Apache-2.0" } },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "parameters": {
                "agent": header_parameter("Memory-Agent", "Name of the calling agent; limits the visible memories"),
                "project": header_parameter("Memory-Project", "Name of the current project; makes its memories visible"),
            },
            "responses": { "refusal": {
                "description": "The error",
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/error" } } }
            } },
            "schemas": { "error": error_schema() },
        }
    })
}

fn add_action_routes(backend: &Backend, route: &mut impl FnMut(String, Value) -> Option<Value>) {
    for action in &backend.actions {
        let id = format!("run_{}_{}", backend.name, action.name);
        let mut run = operation_with_body(&id, action.description, &action.parameters);
        let parameters = run["parameters"].as_array_mut().expect("it has some");
        let name = json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$", "examples": ["default"] });
        parameters.insert(0, path_parameter("name", &name));
        route(
            format!("/v1/run/{}/{{name}}/{}", backend.name, action.name),
            json!({ "post": run }),
        );
    }
}

/// Describes a request without parameters.
fn operation(id: &str, summary: &str, answer: &Value) -> Value {
    json!({
        "operationId": id,
        "summary": summary,
        "responses": {
            "200": { "description": "The result", "content": { "application/json": { "schema": answer } } },
            "default": { "$ref": "#/components/responses/refusal" }
        }
    })
}

/// Describes a request with a body that is an object of this schema.
fn operation_with_body(id: &str, summary: &str, schema: &Value) -> Value {
    let mut asked = operation(id, summary, &json!({}));
    asked["parameters"] = json!([{ "$ref": "#/components/parameters/agent" }, { "$ref": "#/components/parameters/project" }]);
    let needs = schema["required"]
        .as_array()
        .is_some_and(|required| !required.is_empty());
    asked["requestBody"] =
        json!({ "required": needs, "content": { "application/json": { "schema": schema } } });
    asked["responses"]["200"]["headers"] = json!({ "Memory-Warning": { "description": "Reason why the result is incomplete", "schema": { "type": "string" } } });
    asked
}

fn mcp_operation() -> Value {
    json!({
        "operationId": "mcp",
        "summary": "Model Context Protocol over streamable HTTP",
        "requestBody": { "required": true, "content": { "application/json": { "schema": { "type": "object" } } } },
        "responses": {
            "200": { "description": "As defined by the protocol", "content": { "application/json": {}, "text/event-stream": {} } },
            "default": { "description": "As defined by the protocol" }
        }
    })
}

fn path_parameter(name: &str, schema: &Value) -> Value {
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

fn header_parameter(name: &str, description: &str) -> Value {
    json!({ "name": name, "in": "header", "required": false, "description": description, "schema": { "type": "string" } })
}

fn error_schema() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let properties = json!({
        "code": { "type": "string", "enum": codes },
        "message": { "type": "string" },
        "hint": { "type": "string" }
    });
    json!({
        "type": "object",
        "properties": { "error": { "type": "object", "properties": properties, "required": ["code", "message"] } },
        "required": ["error"]
    })
}
