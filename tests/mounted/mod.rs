//! Mounted MCP servers among our tools: real ones of both eras over stdin and HTTP, and malicious
//! ones.

mod hostile;
mod house;
mod http;
mod input;
mod real;
mod rules;
