//! Structured input from bytes: choices, texts, JSON.

use serde_json::{Map, Value};

/// Bytes consumed from the front. When they are used up, every choice is the first one.
pub struct Draw<'a>(&'a [u8]);

impl<'a> Draw<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    pub fn number(&mut self) -> u64 {
        (0..8).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }

    /// A number below `end`, which must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        let byte = usize::from(self.byte());
        if end > 256 { (byte << 8 | usize::from(self.byte())) % end } else { byte % end }
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// The bytes up to the next 0x1f, or the end.
    pub fn part(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0x1f).unwrap_or(self.0.len());
        let part = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        part
    }

    /// The rest, as at most `most` bytes: unchanged, or with its middle part repeated. Long input
    /// tests limits, and the fuzzer cannot mutate megabytes.
    pub fn swollen(&mut self, most: usize) -> Vec<u8> {
        let times = self.byte();
        if times == 0 {
            return self.0[..self.0.len().min(most)].to_vec();
        }
        let (head, unit, tail) = (self.part(), self.part(), self.0);
        self.0 = &[];
        let times = (1_usize << (times % 21)).min(most / unit.len().max(1));
        let mut text = head.to_vec();
        for _ in 0..times {
            text.extend_from_slice(unit);
        }
        text.extend_from_slice(tail);
        text.truncate(most);
        text
    }

    /// One of `words`, or a text from the input.
    pub fn word(&mut self, words: &[&str]) -> String {
        if self.byte().is_multiple_of(4) {
            let length = self.below(40).min(self.0.len());
            let (text, rest) = self.0.split_at(length);
            self.0 = rest;
            return String::from_utf8_lossy(text).into_owned();
        }
        self.one_of(words).to_owned()
    }

    /// Any JSON, with keys and texts mostly from `words`.
    pub fn json(&mut self, words: &[&str], depth: usize) -> Value {
        if self.is_empty() {
            return Value::Null;
        }
        match self.byte() % 16 {
            0 => Value::Null,
            1 => Value::from(self.byte().is_multiple_of(2)),
            2 => Value::from(self.number()),
            3 => Value::from(self.number() as i64),
            4 => Value::from(f64::from_bits(self.number())),
            5..=7 => Value::from(self.byte() % 9),
            8..=10 => Value::from(self.word(words)),
            11 | 12 if depth < 6 => (0..self.below(5)).map(|_| self.json(words, depth + 1)).collect(),
            13..=15 if depth < 6 => {
                let count = self.below(6);
                let pairs = (0..count).map(|_| (self.word(words), self.json(words, depth + 1)));
                Value::Object(pairs.collect())
            }
            _ => Value::from(self.byte()),
        }
    }

    /// A value that `schema`, a part of `whole`, usually accepts.
    pub fn fitting(&mut self, whole: &Value, schema: &Value, words: &[&str], depth: usize) -> Value {
        let dice = self.byte();
        if dice < 16 || depth > 5 {
            return self.json(words, 4);
        }
        if let Some(name) = schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/")) {
            return self.fitting(whole, &whole["$defs"][name], words, depth + 1);
        }
        for key in ["enum", "anyOf", "oneOf"] {
            if let Some(choices) = schema[key].as_array().filter(|choices| !choices.is_empty()) {
                let choice = &choices[usize::from(dice) % choices.len()];
                return if key == "enum" {
                    choice.clone()
                } else {
                    self.fitting(whole, choice, words, depth + 1)
                };
            }
        }
        match schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or_default() {
            "object" => self.object(whole, schema, words, depth),
            "array" => {
                (0..dice % 4).map(|_| self.fitting(whole, &schema["items"], words, depth + 1)).collect()
            }
            "string" => self.word(words).into(),
            "integer" if dice.is_multiple_of(4) => (self.number() as i64).into(),
            "integer" => (i64::from(self.byte() % 52) - 2).into(),
            "boolean" => dice.is_multiple_of(2).into(),
            _ => self.json(words, 2),
        }
    }

    fn object(&mut self, whole: &Value, schema: &Value, words: &[&str], depth: usize) -> Value {
        let none = Map::new();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut object = Map::new();
        for (name, property) in schema["properties"].as_object().unwrap_or(&none) {
            let needed = required.iter().any(|known| known == name);
            if self.byte() % 100 < if needed { 96 } else { 45 } {
                object.insert(name.clone(), self.fitting(whole, property, words, depth + 1));
            }
        }
        Value::Object(object)
    }
}
