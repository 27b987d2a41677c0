//! MCP servers of others among our tools: real ones of both eras over stdin and HTTP, and ones that mean harm.

mod hostile;
mod house;
mod http;
mod input;
mod real;
mod rules;
