//! The MCP server with the fixtures of MCP's official conformance suite: tools, resources and
//! prompts with fixed answers. Test equipment.
//!
//! It is a cargo example. `conformance-server` serves on stdin and stdout, `conformance-server
//! http` on a loopback port that it prints to stderr, without a token. The workspace is the current
//! folder. The transports, both eras of the protocol, the subscriptions and all other parts that
//! the suite exercises are the product's own.
#![expect(deprecated, reason = "the suite asks for sampling, roots and logging, which 2026-07-28 deprecates")]

mod content;
mod fixtures;
mod forms;
mod handler;
mod input;
mod tools;

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};

use lsp_tools::internals::bridges::{
    HttpOptions, Listener, ServerOptions, serve_http_wrapped, serve_mcp_wrapped,
};
use lsp_tools::internals::runtime::LiveRuntime;
use lsp_tools::{Caller, Client, Runtime, RuntimeOptions};
use tokio_util::sync::CancellationToken;

use crate::handler::{FixtureServer, Fixtures};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::current_dir()?;
    // The program, which acts as supervisor, is one folder above the examples.
    let own = std::env::current_exe()?;
    let supervisor = own.ancestors().nth(2).map(|built| built.join("lsp-tools"));
    let runtime =
        Runtime::open(RuntimeOptions { cwd: folder.clone(), supervisor, ..RuntimeOptions::default() })?;
    let live = LiveRuntime::new(runtime);
    let server = ServerOptions {
        live: live.clone(),
        caller: Caller::default(),
        client: Client { cwd: Some(folder), ..Client::default() },
        text_answers: false,
        output_schemas: true,
    };
    let ended = CancellationToken::new();
    let fixtures = Fixtures::new()?;
    let wrap = move |conversation| FixtureServer::new(conversation, fixtures.clone());
    if std::env::args().nth(1).as_deref() == Some("http") {
        let listener = Listener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        eprintln!("MCP is served at http://{}/mcp, to everybody", listener.address());
        let options = HttpOptions { server, token: None, hosts: Vec::new(), allow_unseen: false };
        serve_http_wrapped(listener, options, wrap, ended).await?;
    } else {
        serve_mcp_wrapped(server, wrap, tokio::io::stdin(), tokio::io::stdout(), ended).await?;
    }
    live.shutdown().await;
    Ok(())
}
