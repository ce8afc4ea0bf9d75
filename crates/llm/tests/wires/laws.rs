//! What holds of every wire, whatever its protocol: where bytes are cut does not matter, an answer
//! that breaks off is a failure with what had come of it, and nothing is read or given twice.

use futures_util::StreamExt;
use serde_json::Value;
use stance_llm::{Block, ErrorKind, Message, Part};
use tokio::sync::oneshot;

use crate::server::{KEY, Reply, Server, Step, answer_to, parts, request, sent};

/// A whole answer of a protocol, as its bytes come.
pub(crate) struct Sample {
    pub(crate) preset: &'static str,
    pub(crate) content_type: &'static str,
    /// Its events, each whole.
    pub(crate) events: Vec<Vec<u8>>,
    /// What it says.
    pub(crate) blocks: Vec<Block>,
    /// How many events there are before the last one that an answer cannot do without.
    pub(crate) needed: usize,
}

impl Sample {
    fn reply(&self, steps: Vec<Step>) -> Reply {
        Reply::steps(steps).header("content-type", self.content_type)
    }

    fn bytes(&self) -> Vec<u8> {
        self.events.concat()
    }

    /// Everything that holds of every wire whose last event ends the answer.
    pub(crate) async fn holds(&self) {
        self.nothing_is_read_after_the_last_event().await;
        self.holds_until_the_stream_ends().await;
    }

    /// Everything that holds of every wire.
    pub(crate) async fn holds_until_the_stream_ends(&self) {
        self.every_byte_on_its_own().await;
        self.cut_in_two_at_every_byte().await;
        self.broken_off_at_every_byte().await;
        self.parts_come_while_the_server_still_thinks().await;
        self.dropping_the_stream_abandons_the_request().await;
        self.what_is_answered_can_be_sent_back().await;
        self.a_key_is_not_in_the_body().await;
    }

    async fn every_byte_on_its_own(&self) {
        let steps = self.bytes().into_iter().map(|byte| Step::Bytes(vec![byte]));
        let answer = answer_to(self.preset, self.reply(steps.collect())).await.unwrap();
        assert_eq!(answer.blocks, self.blocks);
    }

    async fn cut_in_two_at_every_byte(&self) {
        let bytes = self.bytes();
        let replies = (1..bytes.len()).map(|cut| {
            let (front, back) = bytes.split_at(cut);
            self.reply(vec![Step::Bytes(front.to_vec()), Step::Bytes(back.to_vec())])
        });
        let server = Server::start(replies).await;
        let model = server.model(self.preset);
        for cut in 1..bytes.len() {
            let Some(Ok(Part::Done(answer))) = parts(model.as_ref(), request("m")).await.pop() else {
                panic!("cut at {cut}");
            };
            assert_eq!(answer.blocks, self.blocks, "cut at {cut}");
        }
    }

    /// No cut makes another answer: it is the whole one, or a failure that may be tried again.
    async fn broken_off_at_every_byte(&self) {
        let bytes = self.bytes();
        let needed = self.events[..=self.needed].concat().len();
        let replies = (1..bytes.len()).map(|cut| self.reply(vec![Step::Bytes(bytes[..cut].to_vec()), Step::Break]));
        let server = Server::start(replies).await;
        let model = server.model(self.preset);
        for cut in 1..bytes.len() {
            match parts(model.as_ref(), request("m")).await.pop() {
                Some(Ok(Part::Done(answer))) => {
                    assert!(cut >= needed, "ended at {cut} of {needed}");
                    assert_eq!(answer.blocks, self.blocks, "broken at {cut}");
                }
                Some(Err(error)) => {
                    assert_eq!(error.kind, ErrorKind::Dropped, "broken at {cut}: {error}");
                    assert!(error.kind.retryable());
                }
                other => panic!("broken at {cut}: {other:?}"),
            }
        }
    }

    async fn parts_come_while_the_server_still_thinks(&self) {
        for place in 1..self.needed {
            let (front, back) = self.events.split_at(place);
            let (go_on, waiting) = oneshot::channel();
            let server = Server::start([self.reply(vec![
                Step::Bytes(front.concat()),
                Step::Wait(waiting),
                Step::Bytes(back.concat()),
            ])])
            .await;
            let alone = Server::start([self.reply(vec![Step::Bytes(front.concat())])]).await;
            let early = parts(alone.model(self.preset).as_ref(), request("m")).await.len() - 1;
            let mut stream = server.model(self.preset).stream(request("m"));
            for _ in 0..early {
                assert!(stream.next().await.unwrap().is_ok());
            }
            // The server goes on only after everything that could be shown was read.
            go_on.send(()).unwrap();
            let rest = stream.collect::<Vec<_>>().await;
            assert!(
                matches!(rest.last(), Some(Ok(Part::Done(_)))),
                "paused at {place}: {rest:?}"
            );
        }
    }

    async fn nothing_is_read_after_the_last_event(&self) {
        let (_never, waiting) = oneshot::channel();
        let steps = vec![
            Step::Bytes(self.bytes()),
            Step::Bytes(self.events.last().unwrap().clone()),
            Step::Wait(waiting),
        ];
        let answer = answer_to(self.preset, self.reply(steps)).await.unwrap();
        assert_eq!(answer.blocks, self.blocks);
    }

    async fn dropping_the_stream_abandons_the_request(&self) {
        let (mut go_on, waiting) = oneshot::channel::<()>();
        let front = self.events[..self.needed].concat();
        let server = Server::start([self.reply(vec![Step::Bytes(front), Step::Wait(waiting)])]).await;
        let mut stream = server.model(self.preset).stream(request("m"));
        assert!(stream.next().await.unwrap().is_ok());
        drop(stream);
        // The server notices that nobody listens and drops its end.
        go_on.closed().await;
    }

    /// An answer that goes back is understood as it was: what came of it in the body is stable.
    async fn what_is_answered_can_be_sent_back(&self) {
        let mut asked = request("m");
        asked.messages.push(Message::assistant(self.blocks.clone()));
        asked.messages.push(Message::user(vec![Block::Text("and?".into())]));
        let whole = || self.reply(vec![Step::Bytes(self.bytes())]);
        let once = sent(self.preset, whole(), asked.clone()).await;
        let again = sent(self.preset, whole(), asked).await;
        assert_eq!(once.body.to_string(), again.body.to_string());
    }

    async fn a_key_is_not_in_the_body(&self) {
        let seen = sent(self.preset, self.reply(vec![Step::Bytes(self.bytes())]), request("m")).await;
        assert!(!seen.body.to_string().contains(KEY));
        assert!(!seen.path.contains(KEY));
    }
}

/// Server-sent events with `data` and nothing else.
pub(crate) fn data(events: &[Value]) -> Vec<Vec<u8>> {
    events
        .iter()
        .map(|event| format!("data: {event}\n\n").into_bytes())
        .collect()
}
