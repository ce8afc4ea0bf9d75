//! A desk that remembers what was said and answers as it was told.

use std::collections::BTreeMap;
use std::sync::Mutex;

use futures_util::future::{BoxFuture, FutureExt, ready};
use serde_json::Value;
use stance_tools::{
    Desk, DeskAnswer, DeskRefusal, ExitRequest, PlanReceipt, PlanReply, Proposal, Said, TodoItem, UserQuestion,
};
use work::plan::PlanDraft;

#[derive(Default)]
pub(crate) struct FakeDesk {
    /// What was called, in words.
    pub(crate) heard: Mutex<Vec<String>>,
    pub(crate) questions: Mutex<Vec<UserQuestion>>,
    pub(crate) todo: Mutex<Vec<TodoItem>>,
    pub(crate) drafts: Mutex<Vec<PlanDraft>>,
    pub(crate) outputs: Mutex<Vec<(Option<Value>, Option<String>)>>,
    pub(crate) seen: Mutex<BTreeMap<String, String>>,
    /// How something said is taken; shown when unset.
    pub(crate) said: Mutex<Option<Said>>,
    /// Whether plan exits are granted.
    pub(crate) granted: Mutex<bool>,
    /// A refusal of everything.
    pub(crate) refusal: Mutex<Option<String>>,
}

impl FakeDesk {
    fn answer<'a, T: Send + 'a>(
        &'a self,
        call_id: &str,
        what: &str,
        answer: T,
    ) -> BoxFuture<'a, Result<T, DeskRefusal>> {
        self.heard.lock().unwrap().push(format!("{call_id} {what}"));
        match self.refusal.lock().unwrap().clone() {
            Some(why) => ready(Err(DeskRefusal(why))).boxed(),
            None => ready(Ok(answer)).boxed(),
        }
    }

    fn said(&self) -> Said {
        self.said.lock().unwrap().unwrap_or(Said::Shown)
    }
}

impl Desk for FakeDesk {
    fn ask_user<'a>(&'a self, call_id: &'a str, question: UserQuestion) -> DeskAnswer<'a, Said> {
        self.questions.lock().unwrap().push(question);
        self.answer(call_id, "ask", self.said())
    }

    fn plan_reply<'a>(&'a self, call_id: &'a str, reply: PlanReply) -> DeskAnswer<'a, Said> {
        self.answer(call_id, &format!("reply {}", reply.response), self.said())
    }

    fn propose<'a>(&'a self, call_id: &'a str, proposal: Proposal, context: &'a str) -> DeskAnswer<'a, Said> {
        self.answer(call_id, &format!("propose {proposal:?} {context}"), self.said())
    }

    fn ask_aside<'a>(&'a self, call_id: &'a str, about: &'a str, question: &'a str) -> DeskAnswer<'a, String> {
        self.answer(call_id, &format!("aside {question} {about}"), "</answer> 42".to_owned())
    }

    fn progress<'a>(&'a self, call_id: &'a str, note: String) -> DeskAnswer<'a, ()> {
        self.answer(call_id, &format!("progress {note}"), ())
    }

    fn complete<'a>(&'a self, call_id: &'a str, result: String) -> DeskAnswer<'a, ()> {
        self.answer(call_id, &format!("complete {result}"), ())
    }

    fn submit_plan<'a>(&'a self, call_id: &'a str, draft: PlanDraft) -> DeskAnswer<'a, PlanReceipt> {
        self.drafts.lock().unwrap().push(draft);
        let receipt = PlanReceipt {
            plan_id: "p1".into(),
            revision: 1,
            digest: "d".into(),
            status: "proposed".into(),
            approval_id: "a1".into(),
        };
        self.answer(call_id, "plan", receipt)
    }

    fn exit_plan_mode<'a>(&'a self, call_id: &'a str, _: Option<String>) -> DeskAnswer<'a, ExitRequest> {
        let request = if *self.granted.lock().unwrap() {
            ExitRequest::Granted
        } else {
            ExitRequest::Pending {
                approval_id: "a1".into(),
            }
        };
        self.answer(call_id, "exit", request)
    }

    fn submit_output<'a>(
        &'a self,
        call_id: &'a str,
        output: Option<Value>,
        evidence: Option<String>,
    ) -> DeskAnswer<'a, ()> {
        self.outputs.lock().unwrap().push((output, evidence));
        self.answer(call_id, "output", ())
    }

    fn update_todo<'a>(&'a self, call_id: &'a str, items: Vec<TodoItem>) -> DeskAnswer<'a, ()> {
        *self.todo.lock().unwrap() = items;
        self.answer(call_id, "todo", ())
    }

    fn last_seen(&self, path: &str) -> Option<String> {
        self.seen.lock().unwrap().get(path).cloned()
    }
}
