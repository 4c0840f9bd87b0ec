//! The official Rust SDK against our server, in every revision that it speaks: over stdio or, with the
//! argument `http`, over Streamable HTTP. Small on purpose: what is asked in detail, the Python and Go
//! clients ask.

#![allow(deprecated)] // what 2026-07-28 has deprecated is asked for, too

mod session;
mod tap;

use rmcp::model::{
    CallToolRequestParams, ClientRequest, ProtocolVersion, Request, SubscriptionFilter,
};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use session::{Options, Session};
use tap::{Outcome, Suite, check};

const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];
const MODERN: &str = "2026-07-28";
const WATCHED: &str = "test://watched-resource";
const TOKEN: &str = "correct-horse-battery-staple";

async fn connects(revision: &str) -> Outcome {
    let s = Session::open(revision, Options::default()).await?;
    let info = s
        .client
        .peer_info()
        .ok_or("nothing is known of the server")?;
    check(
        info.protocol_version.as_str() == revision,
        &info.protocol_version,
    )?;
    let server = info.server_info.as_ref().ok_or("the server has no name")?;
    check(
        (server.name.as_str(), server.version.as_str()) == ("sdk-server", "1.2.3"),
        server,
    )?;
    let me: Value = serde_json::from_str(&s.text("whoami", json!({})).await?)?;
    check(
        me["revision"] == revision && me["client"]["name"] == "interop-rust",
        &me,
    )?;
    check(me["sampling"] == true && me["roots"] == true, &me)?;
    s.end().await
}

async fn lists(revision: &str) -> Outcome {
    let s = Session::open(revision, Options::default()).await?;
    let tools = s.client.list_all_tools().await?;
    let forecast = tools
        .iter()
        .find(|t| t.name == "forecast")
        .ok_or("forecast is not listed")?;
    check(
        forecast.title.is_some() == (revision >= "2025-06-18"),
        forecast,
    )?;
    check(
        !s.client.list_all_resources().await?.is_empty(),
        "resources",
    )?;
    check(
        !s.client.list_all_resource_templates().await?.is_empty(),
        "templates",
    )?;
    check(!s.client.list_all_prompts().await?.is_empty(), "prompts")?;
    s.end().await?;

    let paged = Session::open(
        revision,
        Options {
            env: &[("SERVER_PAGE", "3")],
            ..Options::default()
        },
    );
    let paged = paged.await?;
    check(
        paged.client.list_all_tools().await?.len() == tools.len(),
        "pages do not add up",
    )?;
    paged.end().await
}

async fn calls(revision: &str) -> Outcome {
    let s = Session::open(revision, Options::default()).await?;
    for sample in ["äöü € 漢字 😀", "line\nfeed \"quotes\" \\ \u{2028}", ""] {
        check(
            s.text("echo", json!({ "text": sample })).await? == sample,
            sample,
        )?;
    }
    let result = s
        .call("forecast", json!({ "city": "Köln", "days": 1 }))
        .await?;
    let structured = result
        .structured_content
        .as_ref()
        .is_some_and(|v| v["city"] == "Köln");
    check(structured == (revision >= "2025-06-18"), &result)?;
    let failed = s.call("test_error_handling", json!({})).await?;
    check(failed.is_error == Some(true), &failed)?;
    s.refused("no_such_tool", json!({}), -32602).await?;
    s.refused(
        "reject",
        json!({ "code": -32050, "why": "because" }),
        -32050,
    )
    .await?;
    s.end().await
}

async fn many(revision: &str) -> Outcome {
    let s = Session::open(revision, Options::default()).await?;
    let mut open = Vec::new();
    for i in 0..10 {
        open.push((i, s.begin("park", json!({ "key": i.to_string() })).await?));
    }
    for i in 0..10 {
        s.until_parked(&i.to_string()).await?;
    }
    check(
        s.text("release_all", json!({})).await? == "released 10",
        "release",
    )?;
    for (i, handle) in open {
        let answer = serde_json::to_value(handle.await_response().await?)?;
        check(
            answer["content"][0]["text"] == format!("parked {i}"),
            &answer,
        )?;
    }
    s.end().await
}

async fn progress(revision: &str) -> Outcome {
    let s = Session::open(revision, Options::default()).await?;
    let handle = s.begin("park", json!({ "key": "k" })).await?;
    s.until_parked("k").await?;
    for (n, done) in [(1, 1.0), (2, 2.5)] {
        s.call("step", json!({ "key": "k", "done": done, "total": 4 }))
            .await?;
        let note = s.heard("progress", n).await?;
        check(note["progress"] == done && note["total"] == 4.0, &note)?;
        check(
            note["progressToken"] == serde_json::to_value(&handle.progress_token)?,
            &note,
        )?;
    }
    s.call("release", json!({ "key": "k" })).await?;
    handle.await_response().await?;
    s.end().await
}

async fn cancelling(revision: &str) -> Outcome {
    let s = Session::open(revision, Options::default()).await?;
    let handle = s
        .begin("park_until_cancelled", json!({ "key": "k" }))
        .await?;
    s.until_parked("k").await?;
    handle.cancel(Some("enough".into())).await?;
    while s.text("parked", json!({ "key": "k" })).await? == "yes" {}
    check(
        s.text("echo", json!({ "text": "alive" })).await? == "alive",
        "not alive",
    )?;
    s.end().await
}

async fn asks(revision: &str) -> Outcome {
    let s = Session::open(revision, Options::default()).await?;
    let said = s.text("test_sampling", json!({ "prompt": "x" })).await?;
    check(said.contains("Paris"), &said)?;
    let roots: Value = serde_json::from_str(&s.text("roots", json!({})).await?)?;
    check(
        roots == json!([{ "uri": "file:///home/ann", "name": "Ann" }]),
        &roots,
    )?;
    if revision >= "2025-06-18" {
        let said = s.text("ask_profile", json!({})).await?;
        check(said == "Ann <ann@example.com>, 30, green", &said)?;
        let said = s
            .text("test_input_required_result_request_state", json!({}))
            .await?;
        check(said == "state-ok", &said)?;
    }
    s.end().await
}

async fn changes(revision: &str) -> Outcome {
    let s = Session::open(revision, Options::default()).await?;
    if revision == MODERN {
        let filter = SubscriptionFilter::builder()
            .tools_list_changed()
            .resource_subscription(WATCHED);
        let mut subscription = s.client.listen(filter.build()).await?;
        for (tool, arguments) in [("touch", json!({ "uri": WATCHED })), ("grow", json!({}))] {
            s.call(tool, arguments).await?;
            let told = tap::within("a change", subscription.next()).await??;
            check(told.is_some(), "the subscription ended")?;
        }
        subscription.cancel().await?;
    } else {
        let params = serde_json::from_value(json!({ "uri": WATCHED }))?;
        s.client.subscribe(params).await?;
        s.call("touch", json!({ "uri": WATCHED })).await?;
        check(
            s.heard("updated", 1).await?["uri"] == WATCHED,
            "another one",
        )?;
        s.call("grow", json!({})).await?;
        s.heard("tools", 1).await?;
    }
    s.end().await
}

async fn comes_back(revision: &str) -> Outcome {
    let s = Session::open(revision, Options::default()).await?;
    let said = s.text("test_reconnection", json!({})).await?;
    check(said == "Reconnection test completed", &said)?;
    s.end().await
}

async fn tokens(revision: &str) -> Outcome {
    let file = std::env::temp_dir().join(format!("interop-rust-{}", std::process::id()));
    std::fs::write(&file, format!("ann {TOKEN}\n"))?;
    let name = file.to_str().ok_or("an odd path")?;
    let options = Options {
        args: &["--token-file", name],
        token: Some(TOKEN),
        ..Options::default()
    };
    let s = Session::open(revision, options).await;
    std::fs::remove_file(&file)?;
    let s = s?;
    check(
        s.text("echo", json!({ "text": "in" })).await? == "in",
        "not in",
    )?;
    let other = s.beside(revision, Some("wrong-horse-battery-staple")).await;
    check(
        other.is_err_and(|e| e.to_string().contains("uth")),
        "was let in, or fails otherwise",
    )?;
    s.end().await
}

async fn closing(revision: &str) -> Outcome {
    let s = Session::open(revision, Options::default()).await?;
    s.begin("park_until_cancelled", json!({ "key": "k" }))
        .await?;
    s.until_parked("k").await?;
    s.end().await
}

#[tokio::main]
async fn main() {
    let http = session::over_http();
    let mut suite = Suite::new(if http { "rust http" } else { "rust" });
    for revision in REVISIONS {
        suite.add(
            revision,
            "connect shows the server, and the server knows the client",
            connects(revision),
        );
        suite.add(
            revision,
            "lists are complete, also in small pages",
            lists(revision),
        );
        suite.add(
            revision,
            "tools are called, and errors arrive with their codes",
            calls(revision),
        );
        suite.add(
            revision,
            "ten calls are in flight at once, and each gets its own answer",
            many(revision),
        );
        suite.add(revision, "progress arrives in order", progress(revision));
        suite.add(
            revision,
            "a cancelled call ends in the handler, and the server lives on",
            cancelling(revision),
        );
        suite.add(
            revision,
            "the server asks for a form, the model and the roots",
            asks(revision),
        );
        suite.add(
            revision,
            "changes are told to who wants to know",
            changes(revision),
        );
        suite.add(
            revision,
            "closing with a call open ends it",
            closing(revision),
        );
        if http {
            suite.add(
                revision,
                "who has a token is served, and who has a wrong one is not",
                tokens(revision),
            );
        }
        if http && revision == "2025-11-25" {
            suite.add(
                revision,
                "a client that is sent away comes back for the answer",
                comes_back(revision),
            );
        }
    }
    suite.run().await
}
