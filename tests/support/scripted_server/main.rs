//! A language server with scripted behaviour, faults included: test equipment.
//!
//! It is a cargo example. `scripted-server SCENARIO` speaks LSP on stdin and stdout; SCENARIO is
//! JSON, or the path of a JSON file. `{}` is a well-behaved server. Every key is optional and
//! unknown keys are refused.
//!
//! # Its language
//!
//! Files contain words. `def NAME` defines NAME; every other occurrence refers to it; every
//! occurrence of `WRONG` is one error with the message `WRONG` and the code `W1`. So the right
//! answer to any question follows from the text:
//! - hover: `NAME v3 len=12 hash=…` (version, length in bytes and FNV-1a hash of the server's
//!   text): an answer from a stale or a corrupted text is visible at once;
//! - definition, references, documentSymbol, workspace/symbol: over the open documents and the
//!   files of the same extension on disk below the root.
//!
//! # The scenario
//!
//! | key | meaning |
//! |---|---|
//! | `behaves` | true: built on tower-lsp, one message after the other. False (default): raw frames. The keys marked `*`, `diagnostics.idle` and answers to rarer methods need raw frames |
//! | `log` | file that gets one JSON object a line, see below |
//! | `server_info` | `serverInfo` of the initialize result |
//! | `capabilities` | merged over the capabilities (null removes a key); providers for the methods in `answers` are announced by themselves |
//! | `sync` | `incremental` (default), `full`, `none` |
//! | `encoding`, `announce` | `utf-16` (default), `utf-8`, `utf-32`; announced and used if the client offers it; with `announce: false` it is used unannounced |
//! | `hover_version` | false: hover omits the version, so that answers for the same text are the same |
//! | `answers` | method → [`scenario::Answer`]: `result` (any JSON; `${uri}` and `${root}` are replaced), `error {code, message, data}`, `delay_ms`, `never`*, `while_indexing` (result until the index is done), `first {times, error}` (the first tries fail: ContentModified -32801, ServerCancelled -32802 with data `{"retriggerRequest": true}`), `frame`* and `reply`* (how it is sent), `ignores_cancel`* |
//! | `diagnostics` | [`scenario::Diagnostics`]: `mode` (`push_versioned` (default), `push_unversioned`, `pull`, `none`), `register_after_ms` (pull only: registered dynamically, refused before), `debounce_ms`, `stale_first`, `twice`, `empty_pushes`, `empty_delay_ms`, `only_on_save`, `silent_when_same`, `version_offset` (lies about the version), `items` (published as they are, right or not), `idle {method, field, busy, done}` (a notification around each run) |
//! | `index` | [`scenario::Index`]: `ms`, `title`, `steps`, `begins_on` (`initialized` or `did_open`), `delay_ms`, `progress`, `server_status` (`experimental/serverStatus`), `never_ends`. References are half until it is done |
//! | `configuration`* | `{sections, holds, exits_on_null}`: asks `workspace/configuration` (id `configuration`) after `initialized`; `holds`: no answer before the client's; `exits_on_null`: status 1 if that has a null |
//! | `crash`* | [`scenario::Crash`]: `at` (`start`, `initialize`, `initialized`, `did_open`, `did_change`, `did_save`, `first_request`, `mid_reply` (half of the first reply after initialize), `shutdown`), `code`, `abort`, `stderr`, `times` (only the first N starts, counted in the file `<log>.starts`) |
//! | `rules`* | list of `{at, when, times, delay_ms, do}`: `at` is `start`, `first_request` or a method received; `when` is `before` or `after` (default) its handling; `times` is 1 by default, 0 is always; `do` is a [`scenario::Action`]: `junk` (lines on stdout), `bytes` (as they are), `frame` (a harmless notification in a faulty frame), `message` (any JSON, well framed: null ids, unknown ids, duplicates), `notify`, `request` (any id), `flood {count}`, `huge {bytes}`, `drip {text, every_ms}` (a byte at a time, and nothing else meanwhile), `deaf {}` (reads nothing from then on), `complain` (lines on stderr; `${root}` is replaced), `crash` |
//! | `frame`* | frame style of everything sent |
//! | `stderr` | lines written to stderr at start |
//! | `exit`* | `normal` (default), `needs_eof` (after `exit` it waits for the end of stdin), `refuses` (deaf to shutdown, exit, end of stdin and SIGTERM; it ends by itself after `lives_s`) |
//! | `fork_child` | `{marker, ignores_sigterm, setsid, holds_stdout}`: a grandchild with `marker` in its arguments, which ends by itself after `lives_s` |
//! | `lives_s` | 120: the time limit of all processes of this server |
//!
//! Frame styles ([`frames::Style`]): `good`, `lower_case`, `lf_only`, `no_space`, `extra_header`,
//! `length_too_long`, `length_too_short`, `length_negative`, `length_huge` (10 GB),
//! `length_not_a_number`, `length_missing`, `invalid_utf8`, `not_json`, `half`. Replies
//! ([`scenario::Reply`]): `normal`, `twice`, `null_id`, `unknown_id`, `string_id`, `empty` (neither
//! result nor error).
//!
//! # The log
//!
//! Each line has `ms` (Unix time), `pid` and one of: `got` (a received message, whole), `sent`
//! (method or id of a sent message), `event` with more: `start` (`number`, `cwd`), `text` (`uri`,
//! `version`, `fingerprint`, and `text` below 64 KB, after each change), `violation` (`what`: the
//! client violated the protocol), `eof`, `sigterm`, `exit` (`code`).

mod behaving;
mod brain;
mod documents;
mod endings;
#[path = "../fingerprint.rs"]
mod fingerprint;
mod frames;
mod journal;
mod lookups;
mod raw;
mod scenario;

use std::process::ExitCode;
use std::sync::Arc;

use crate::brain::Brain;
use crate::journal::Journal;
use crate::scenario::Scenario;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let started = match arguments.as_slice() {
        [flag, spec] if flag == endings::GRANDCHILD => endings::be_grandchild(spec),
        [scenario] => start(scenario),
        _ => Err("usage: scripted-server SCENARIO (JSON, or the path of a file with JSON)".into()),
    };
    match started {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("scripted-server: {problem}");
            ExitCode::from(2)
        }
    }
}

fn start(scenario: &str) -> Result<(), Box<dyn std::error::Error>> {
    let scenario = Scenario::load(scenario)?;
    let number = endings::count_start(&scenario)?;
    let journal = Arc::new(Journal::open(scenario.log.as_deref())?);
    journal.event("start", serde_json::json!({"number": number, "cwd": std::env::current_dir()?}));
    for line in &scenario.stderr {
        eprintln!("{line}");
    }
    endings::limit_life(&scenario);
    endings::fork_child(&scenario)?;
    let brain = Arc::new(Brain::new(scenario, number, journal));
    if brain.scenario.behaves { behaving::serve(brain) } else { raw::serve(brain) }
}
