//! A server written with the official Rust SDK, for our client: what tests/e2e/lib/client_cases.mjs expects of
//! a server.
//!
//!     fixture stdio | http
//!
//! On HTTP it says "listening on PORT".
#![allow(deprecated)] // sampling, roots and logging, which 2026-07-28 is fading out

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::{
    StreamableHttpService, session::local::LocalSessionManager,
};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::broadcast;

const WATCHED: &str = "test://watched";
const QUESTIONS: [&str; 3] = ["ask_form", "ask_model", "ask_roots"];

#[derive(Clone, Copy)]
enum Change {
    Tools,
    Watched,
}

struct Shared {
    cancelled: AtomicU64,
    grown: AtomicBool,
    changes: broadcast::Sender<Change>,
}

#[derive(Clone)]
struct Fixture(Arc<Shared>);

/// What stands in JSON is a value of the SDK's.
fn from<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|e| ErrorData::internal_error(e.to_string(), None))
}

fn failed(error: impl ToString) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn say(text: impl ToString) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::success(vec![ContentBlock::text(text.to_string())]).into())
}

fn tool(name: &str) -> Value {
    let properties = match name {
        "echo" | "speak" => json!({ "text": { "type": "string" } }),
        "add" => json!({ "a": { "type": "number" }, "b": { "type": "number" } }),
        "steps" => json!({ "n": { "type": "integer" } }),
        "ask_model" => json!({ "prompt": { "type": "string" } }),
        _ => json!({}),
    };
    let required: Vec<_> = properties.as_object().unwrap().keys().cloned().collect();
    json!({ "name": name, "inputSchema": { "type": "object", "properties": properties, "required": required } })
}

/// The question that a tool asks, as method and params.
fn question(name: &str, arguments: &Value) -> Value {
    match name {
        "ask_form" => {
            json!({ "method": "elicitation/create", "params": { "mode": "form", "message": "Who are you?",
            "requestedSchema": { "type": "object", "required": ["name"], "properties": {
                "name": { "type": "string" }, "age": { "type": "integer", "default": 30 } } } } })
        }
        "ask_model" => {
            json!({ "method": "sampling/createMessage", "params": { "maxTokens": 50, "messages": [
            { "role": "user", "content": { "type": "text", "text": arguments["prompt"] } }] } })
        }
        _ => json!({ "method": "roots/list" }),
    }
}

fn conclude(name: &str, answer: &Value) -> Result<CallToolResponse, ErrorData> {
    match name {
        "ask_form" => say(json!({ "action": answer["action"], "content": answer["content"] })),
        "ask_model" => {
            let content = answer["content"].get(0).unwrap_or(&answer["content"]);
            let (model, text) = (answer["model"].as_str(), content["text"].as_str());
            say(format!("{}: {}", model.unwrap_or(""), text.unwrap_or("")))
        }
        _ => say(&answer["roots"]),
    }
}

impl Fixture {
    async fn steps(&self, n: u64, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let Some(token) = context.meta.get_progress_token() else {
            return Ok(());
        };
        for i in 1..=n {
            let note = json!({ "progressToken": token, "progress": i, "total": n, "message": format!("step {i}") });
            context
                .peer
                .notify_progress(from(note)?)
                .await
                .map_err(failed)?;
        }
        Ok(())
    }

    /// With 2026-07-28 the question is the result; before, it is a request of its own.
    async fn ask(
        &self,
        request: &CallToolRequestParams,
        arguments: &Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        let asked = question(name, arguments);
        if context
            .protocol_version()
            .is_some_and(|v| v.as_str() >= "2026-07-28")
        {
            if let Some(answer) = request.input_responses.as_ref().and_then(|r| r.get("q")) {
                return conclude(name, &serde_json::to_value(answer).map_err(failed)?);
            }
            let result: InputRequiredResult = from(
                json!({ "resultType": "input_required", "inputRequests": { "q": asked }, "requestState": "asked" }),
            )?;
            return Ok(result.into());
        }
        let peer = &context.peer;
        let params = asked["params"].clone();
        let answer = match name {
            "ask_form" => serde_json::to_value(
                peer.create_elicitation(from(params)?)
                    .await
                    .map_err(failed)?,
            ),
            "ask_model" => {
                serde_json::to_value(peer.create_message(from(params)?).await.map_err(failed)?)
            }
            _ => serde_json::to_value(peer.list_roots().await.map_err(failed)?),
        };
        conclude(name, &answer.map_err(failed)?)
    }

    async fn change(
        &self,
        what: Change,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let _ = self.0.changes.send(what); // to subscriptions
        if context
            .protocol_version()
            .is_some_and(|v| v.as_str() >= "2026-07-28")
        {
            return Ok(());
        }
        match what {
            Change::Tools => context.peer.notify_tool_list_changed().await,
            Change::Watched => {
                let param = ResourceUpdatedNotificationParam::new(WATCHED);
                context.peer.notify_resource_updated(param).await
            }
        }
        .map_err(failed)
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        from(json!({
            "protocolVersion": "2026-07-28",
            "serverInfo": { "name": "fixture", "version": "1.2.3" },
            "instructions": "Ask \"anything\" – politely.",
            "capabilities": {
                "logging": {}, "completions": {}, "prompts": {}, "tools": { "listChanged": true },
                "resources": { "subscribe": true }
            },
        }))
        .expect("a configuration")
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut names = vec![
            "echo",
            "add",
            "fail",
            "steps",
            "speak",
            "wait",
            "cancelled",
            "grow",
            "touch",
        ];
        names.extend(QUESTIONS);
        if self.0.grown.load(Ordering::SeqCst) {
            names.push("grown");
        }
        from(
            json!({ "resultType": "complete", "tools": names.into_iter().map(tool).collect::<Vec<_>>() }),
        )
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let text = arguments["text"].as_str();
        match request.name.as_ref() {
            "echo" => match text {
                Some(text) => say(text),
                None => Err(ErrorData::invalid_params("text: required", None)),
            },
            "add" => {
                let sum =
                    arguments["a"].as_f64().unwrap_or(0.0) + arguments["b"].as_f64().unwrap_or(0.0);
                Ok(CallToolResult::structured(json!({ "sum": sum })).into())
            }
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("it failed")]).into()),
            "steps" => {
                self.steps(arguments["n"].as_u64().unwrap_or(0), &context)
                    .await?;
                say("done")
            }
            "speak" => {
                let note = json!({ "level": "warning", "logger": "fixture", "data": text });
                context
                    .peer
                    .notify_logging_message(from(note)?)
                    .await
                    .map_err(failed)?;
                say("spoken")
            }
            name if QUESTIONS.contains(&name) => self.ask(&request, &arguments, &context).await,
            "wait" => {
                context.ct.cancelled().await;
                self.0.cancelled.fetch_add(1, Ordering::SeqCst);
                say("cancelled")
            }
            "cancelled" => say(self.0.cancelled.load(Ordering::SeqCst)),
            "grow" => {
                self.0.grown.store(true, Ordering::SeqCst);
                self.change(Change::Tools, &context).await?;
                say("grew")
            }
            "grown" if self.0.grown.load(Ordering::SeqCst) => say("grown"),
            "touch" => {
                self.change(Change::Watched, &context).await?;
                say(WATCHED)
            }
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.0.changes.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => {
                    let sink = context.sink();
                    // What was not asked for is refused, and that is fine.
                    let _ = match change.map_err(failed)? {
                        Change::Tools => sink.notify_tool_list_changed().await,
                        Change::Watched => sink.notify_resource_updated(WATCHED).await,
                    };
                }
            }
        }
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let entry = |name| json!({ "name": name, "uri": format!("test://{name}") });
        let entries = ["text", "blob", "watched"].map(entry);
        from(json!({ "resultType": "complete", "resources": entries }))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        from(
            json!({ "resultType": "complete", "resourceTemplates": [{ "name": "item", "uriTemplate": "test://item/{id}" }] }),
        )
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let contents = match uri.strip_prefix("test://") {
            Some("text") => json!({ "uri": uri, "mimeType": "text/plain", "text": "some text" }),
            Some("blob") => {
                json!({ "uri": uri, "mimeType": "application/octet-stream", "blob": "AAEC/w==" })
            }
            Some("watched") => json!({ "uri": uri, "text": "watched" }),
            Some(path) if path.starts_with("item/") => {
                json!({ "uri": uri, "text": path.replacen('/', " ", 1) })
            }
            _ => return Err(ErrorData::resource_not_found("no such resource", None)),
        };
        let result: ReadResourceResult =
            from(json!({ "resultType": "complete", "contents": [contents] }))?;
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        from(
            json!({ "resultType": "complete", "prompts": [{ "name": "greet", "arguments": [{ "name": "name", "required": true }] }] }),
        )
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let name = request
            .arguments
            .as_ref()
            .and_then(|a| a["name"].as_str())
            .unwrap_or("");
        let text = json!({ "type": "text", "text": format!("Hello {name}") });
        let result: GetPromptResult = from(
            json!({ "resultType": "complete", "messages": [{ "role": "user", "content": text }] }),
        )?;
        Ok(result.into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let typed = &request.argument.value;
        let values: Vec<_> = ["Ann", "Anna", "Bob"]
            .into_iter()
            .filter(|n| n.starts_with(typed.as_str()))
            .collect();
        from(json!({ "resultType": "complete", "completion": { "values": values } }))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shared = Arc::new(Shared {
        cancelled: AtomicU64::new(0),
        grown: AtomicBool::new(false),
        changes: broadcast::channel(64).0,
    });
    if std::env::args().nth(1).as_deref() != Some("http") {
        let running = Fixture(shared).serve(rmcp::transport::stdio()).await?;
        running.waiting().await?;
        return Ok(());
    }
    let manager = Arc::new(LocalSessionManager::default());
    let make = move || Ok(Fixture(shared.clone()));
    let service = TowerToHyperService::new(StreamableHttpService::new(
        make,
        manager,
        Default::default(),
    ));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("listening on {}", listener.local_addr()?.port());
    loop {
        let io = TokioIo::new(listener.accept().await?.0);
        let service = service.clone();
        tokio::spawn(async move {
            Builder::new(TokioExecutor::new())
                .serve_connection(io, service)
                .await
        });
    }
}
