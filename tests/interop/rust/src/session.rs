//! One connection of the SDK's client to a server process of its own. Ending it checks, over HTTP, that the
//! server ends with status 0 when it is asked to and has written nothing to standard error.

use crate::tap::{Error, Outcome, check, within};
use crate::{
    CallToolRequestParams, ClientRequest, MODERN, PeerRequestOptions, ProtocolVersion, Request,
};
use rmcp::handler::client::ClientHandler;
use rmcp::model::*;
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, RequestContext, RequestHandle,
    RunningService, ServiceError,
};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ErrorData, RoleClient};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::Notify;

pub fn over_http() -> bool {
    std::env::args().nth(1).as_deref() == Some("http")
}

fn program() -> PathBuf {
    let build =
        std::env::var("CLEAT_BUILD_DIR").expect("CLEAT_BUILD_DIR says where the server is; set it");
    PathBuf::from(build).join("tests/server_sdk")
}

// ---- what the client does when it is asked or told -----------------------------------------------

#[derive(Clone)]
pub struct Client {
    revision: String,
    notes: Arc<Mutex<Vec<(&'static str, Value)>>>,
    more: Arc<Notify>,
}

impl Client {
    fn push(&self, kind: &'static str, params: serde_json::Result<Value>) {
        self.notes
            .lock()
            .unwrap()
            .push((kind, params.unwrap_or_default()));
        self.more.notify_waiters();
    }
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let config = json!({
            "protocolVersion": self.revision,
            "clientInfo": { "name": "interop-rust", "version": "1.0" },
            "capabilities": { "roots": {}, "sampling": {}, "elicitation": { "form": {} } },
        });
        serde_json::from_value(config).expect("a configuration")
    }

    async fn create_message(
        &self,
        _params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Ok(CreateMessageResult::new(
            SamplingMessage::assistant_text("Paris"),
            "small-1".into(),
        ))
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![
            Root::new("file:///home/ann").with_name("Ann"),
        ]))
    }

    async fn create_elicitation(
        &self,
        _params: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let content = json!({ "name": "Ann", "mail": "ann@example.com", "age": 30, "color": "green",
            "member": false, "ok": true });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.push("progress", serde_json::to_value(params));
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.push("updated", serde_json::to_value(params));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.push("tools", Ok(Value::Null));
    }
}

// ---- the server ------------------------------------------------------------------------------------

struct Server {
    child: Child,
    stderr: BufReader<ChildStderr>,
    url: String,
}

impl Server {
    async fn start(options: &Options<'_>) -> Result<Server, Error> {
        let mut child = Command::new(program())
            .args(["--http", "127.0.0.1:0"])
            .args(options.args)
            .envs(options.env.iter().copied())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let mut stderr = BufReader::new(child.stderr.take().ok_or("no standard error")?);
        let mut line = String::new();
        stderr.read_line(&mut line).await?;
        let url = line
            .trim()
            .split(" listening on ")
            .nth(1)
            .ok_or(format!("did not start: {line}"))?;
        Ok(Server {
            url: url.to_string(),
            child,
            stderr,
        })
    }

    async fn end(mut self) -> Outcome {
        let id = self.child.id().ok_or("the server has gone")?;
        Command::new("kill").arg(id.to_string()).status().await?;
        let status = within("the end of the server", self.child.wait()).await??;
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).await?;
        check(status.success() && said.is_empty(), (status, said))
    }
}

// ---- sessions --------------------------------------------------------------------------------------

#[derive(Default)]
pub struct Options<'a> {
    pub env: &'a [(&'a str, &'a str)],
    pub args: &'a [&'a str],
    pub token: Option<&'a str>,
}

pub struct Session {
    pub client: RunningService<RoleClient, Client>,
    handler: Client,
    server: Option<Server>,
}

async fn connect(
    client: Client,
    url: Option<&str>,
    options: &Options<'_>,
) -> Result<RunningService<RoleClient, Client>, Error> {
    let lifecycle = if client.revision == MODERN {
        ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        }
    } else {
        ClientLifecycleMode::Initialize
    };
    if let Some(url) = url {
        let mut config = StreamableHttpClientTransportConfig::with_uri(url);
        if let Some(token) = options.token {
            config = config.auth_header(token);
        }
        let transport = StreamableHttpClientTransport::from_config(config);
        Ok(client.serve_with_lifecycle(transport, lifecycle).await?)
    } else {
        let mut command = Command::new(program());
        command.envs(options.env.iter().copied());
        Ok(client
            .serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle)
            .await?)
    }
}

fn client(revision: &str) -> Client {
    Client {
        revision: revision.into(),
        notes: Arc::default(),
        more: Arc::default(),
    }
}

impl Session {
    pub async fn open(revision: &str, options: Options<'_>) -> Result<Session, Error> {
        let server = if over_http() {
            Some(Server::start(&options).await?)
        } else {
            None
        };
        let handler = client(revision);
        let client = connect(
            handler.clone(),
            server.as_ref().map(|s| s.url.as_str()),
            &options,
        )
        .await?;
        Ok(Session {
            client,
            handler,
            server,
        })
    }

    /// Another client of the same server, which ends with this one.
    pub async fn beside(&self, revision: &str, token: Option<&str>) -> Result<Session, Error> {
        let handler = client(revision);
        let url = self.server.as_ref().map(|s| s.url.as_str());
        let client = connect(
            handler.clone(),
            url,
            &Options {
                token,
                ..Options::default()
            },
        )
        .await?;
        Ok(Session {
            client,
            handler,
            server: None,
        })
    }

    pub async fn end(self) -> Outcome {
        within("the end of the client", self.client.cancel()).await??;
        match self.server {
            Some(server) => server.end().await,
            None => Ok(()),
        }
    }

    fn request(name: &str, arguments: Value) -> CallToolRequestParams {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        CallToolRequestParams::new(name.to_string()).with_arguments(arguments)
    }

    pub async fn call(&self, name: &str, arguments: Value) -> Result<CallToolResult, ServiceError> {
        self.client.call_tool(Self::request(name, arguments)).await
    }

    pub async fn text(&self, name: &str, arguments: Value) -> Result<String, Error> {
        Ok(text(&self.call(name, arguments).await?))
    }

    /// A call that is answered later.
    pub async fn begin(
        &self,
        name: &str,
        arguments: Value,
    ) -> Result<RequestHandle<RoleClient>, ServiceError> {
        let request = ClientRequest::CallToolRequest(Request::new(Self::request(name, arguments)));
        self.client
            .send_cancellable_request(request, PeerRequestOptions::no_options())
            .await
    }

    pub async fn until_parked(&self, key: &str) -> Outcome {
        while self.text("parked", json!({ "key": key })).await? == "no" {}
        Ok(())
    }

    pub async fn refused(&self, name: &str, arguments: Value, code: i32) -> Outcome {
        match self.call(name, arguments).await {
            Err(ServiceError::McpError(error)) => check(error.code.0 == code, error),
            other => check(false, other),
        }
    }

    /// The n-th notification of a kind, when it has come.
    pub async fn heard(&self, kind: &str, n: usize) -> Result<Value, Error> {
        let came = async {
            loop {
                let more = self.handler.more.notified();
                let notes = self.handler.notes.lock().unwrap().clone();
                if let Some((_, note)) = notes.into_iter().filter(|(k, _)| *k == kind).nth(n - 1) {
                    return note;
                }
                more.await;
            }
        };
        within(kind, came).await
    }
}

fn text(result: &CallToolResult) -> String {
    let blocks = result.content.iter().filter_map(|block| block.as_text());
    blocks
        .map(|t| t.text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}
