//! The bounded output of a command: its beginning, its end, and the amount left out between them.

use std::collections::VecDeque;

/// The divisor for the share of the beginning in the kept output. The end gets more, because errors
/// tend to be there.
const OUTPUT_HEAD_DIVISOR: usize = 3;

/// The output of a stream since it was last taken, up to a limit.
#[derive(Debug)]
pub(crate) struct Ring {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    left_out: u64,
}

/// The content of a ring.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The first bytes.
    pub head: Vec<u8>,
    /// The number of bytes that were dropped between the two.
    pub left_out: u64,
    /// The last bytes.
    pub tail: Vec<u8>,
}

impl Ring {
    /// A ring that keeps `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        let head_limit = limit / OUTPUT_HEAD_DIVISOR;
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit,
            tail_limit: limit - head_limit,
            left_out: 0,
        }
    }

    /// Appends output of the stream.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(self.head_limit - self.head.len()));
        self.head.extend_from_slice(first);
        let kept = &rest[rest.len().saturating_sub(self.tail_limit)..];
        let surplus = (self.tail.len() + kept.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..surplus);
        self.tail.extend(kept);
        self.left_out += (rest.len() - kept.len() + surplus) as u64;
    }

    /// Returns true if the ring is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_empty() && self.tail.is_empty() && self.left_out == 0
    }

    /// Takes the content out of the ring.
    pub(crate) fn take(&mut self) -> Excerpt {
        Excerpt {
            head: std::mem::take(&mut self.head),
            left_out: std::mem::take(&mut self.left_out),
            tail: std::mem::take(&mut self.tail).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ring_buffer_keeps_head_and_tail_and_counts_the_rest(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
            limit in 0_usize..60,
        ) {
            let mut ring = Ring::new(limit);
            chunks.iter().for_each(|chunk| ring.push(chunk));
            let all = chunks.concat();
            prop_assert_eq!(ring.is_empty(), all.is_empty());
            let excerpt = ring.take();
            prop_assert_eq!(excerpt.head.len() + excerpt.tail.len() + excerpt.left_out as usize, all.len());
            prop_assert!(all.starts_with(&excerpt.head) && all.ends_with(&excerpt.tail));
            prop_assert_eq!(excerpt.head.len() + excerpt.tail.len(), all.len().min(limit));
            prop_assert!(ring.is_empty());
            prop_assert_eq!(ring.take(), Excerpt::default());
        }
    }
}
