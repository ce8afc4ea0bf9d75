//! The bounded record of one output stream.

use std::collections::VecDeque;

/// Which end of an output is kept when it is longer than its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The first bytes.
    Head,
    /// The last bytes.
    Tail,
}

/// What was kept of an output stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The kept bytes, as written by the program.
    pub bytes: Vec<u8>,
    /// How many bytes were written and not kept.
    pub dropped: u64,
}

impl Captured {
    /// The kept bytes as text, each invalid sequence replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Collects a stream, never holding more than its limit.
#[derive(Debug)]
pub(crate) struct Capture {
    keep: Keep,
    limit: usize,
    kept: VecDeque<u8>,
    dropped: u64,
}

impl Capture {
    pub(crate) fn new(keep: Keep, limit: usize) -> Self {
        Self {
            keep,
            limit,
            kept: VecDeque::new(),
            dropped: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let total = self.kept.len() + bytes.len();
        let surplus = total.saturating_sub(self.limit);
        self.dropped += surplus as u64;
        match self.keep {
            Keep::Head => self.kept.extend(bytes.iter().take(bytes.len() - surplus)),
            Keep::Tail => {
                let from_kept = surplus.min(self.kept.len());
                self.kept.drain(..from_kept);
                self.kept.extend(bytes.iter().skip(surplus - from_kept));
            }
        }
    }

    pub(crate) fn finish(self) -> Captured {
        Captured {
            bytes: self.kept.into(),
            dropped: self.dropped,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn captured(keep: Keep, limit: usize, parts: &[&str]) -> (String, u64) {
        let mut capture = Capture::new(keep, limit);
        for part in parts {
            capture.push(part.as_bytes());
        }
        let captured = capture.finish();
        (captured.text(), captured.dropped)
    }

    #[test]
    fn each_end_is_kept_across_writes() {
        let parts = ["abc", "defgh", "i"];
        assert_eq!(captured(Keep::Head, 4, &parts), ("abcd".into(), 5));
        assert_eq!(captured(Keep::Tail, 4, &parts), ("fghi".into(), 5));
        assert_eq!(captured(Keep::Tail, 9, &parts), ("abcdefghi".into(), 0));
        assert_eq!(captured(Keep::Head, 0, &parts), (String::new(), 9));
        assert_eq!(captured(Keep::Tail, 0, &parts), (String::new(), 9));
    }

    proptest! {
        #[test]
        fn what_is_kept_is_an_end_of_everything_and_the_rest_is_counted(
            parts in vec(vec(any::<u8>(), 0..20), 0..10),
            limit in 0_usize..64,
        ) {
            let all = parts.concat();
            for keep in [Keep::Head, Keep::Tail] {
                let mut capture = Capture::new(keep, limit);
                for part in &parts {
                    capture.push(part);
                }
                let captured = capture.finish();
                let kept = all.len().min(limit);
                let expected = match keep {
                    Keep::Head => &all[..kept],
                    Keep::Tail => &all[all.len() - kept..],
                };
                prop_assert_eq!(captured.bytes.as_slice(), expected);
                prop_assert_eq!(captured.dropped, (all.len() - kept) as u64);
            }
        }
    }
}
