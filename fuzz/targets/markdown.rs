//! Markdown from servers, for people and models: time and memory are bounded by its size.

use std::time::Duration;

use crate::cli::render::DisplayCapabilities;
use crate::cli::render::terminal::markdown::render;
use crate::text::cut_markdown;

use super::draw::Draw;
use super::{peak_of, thread_time};

const MOST: usize = 1 << 20;
/// The constant part of the memory limit.
const MEMORY: usize = 1 << 20;
const MEMORY_PER_BYTE: usize = 640;
const TIME: Duration = Duration::from_secs(2);
const TIME_PER_BYTE: Duration = Duration::from_micros(20);

pub fn run(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let how = draw.byte();
    let text = draw.swollen(MOST);
    let text = String::from_utf8_lossy(&text);
    let look =
        DisplayCapabilities { terminal: how & 1 == 1, color: how & 2 == 2, width: usize::from(how >> 2) + 1 };
    let begun = thread_time();
    let (page, peak) = peak_of(|| render(&text, &look));
    let took = thread_time() - begun;
    assert!(took < TIME + TIME_PER_BYTE * text.len() as u32, "{} bytes took {took:?}", text.len());
    assert!(peak < MEMORY + MEMORY_PER_BYTE * text.len(), "{} bytes took {peak} bytes", text.len());
    let hidden = |character: char| {
        let allowed = matches!(character, '\n' | '\t') || (look.color && character == '\u{1b}');
        (character.is_control() && !allowed)
            || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!page.contains(hidden), "{:?}", page.chars().find(|character| hidden(*character)));
    for most in [0, 10, 300, text.len() / 2] {
        let cut = cut_markdown(&text, most);
        assert!(cut.len() <= most.max(300) + 300, "{} of {most}", cut.len());
    }
}
