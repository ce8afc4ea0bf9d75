//! A stream's bytes arrive cut anywhere, with any line ends, and parts are passed on as soon as
//! they are there.

use futures_util::StreamExt;
use stance_llm::Part;
use tokio::sync::oneshot;

use super::fixture::{Reply, Server, Step, answer_to, frames, hello, hello_text, model, request};

#[tokio::test]
async fn every_byte_on_its_own() {
    let bytes = frames(&hello()).into_bytes();
    let steps = bytes.into_iter().map(|byte| Step::Bytes(vec![byte]));
    let answer = answer_to(Reply::steps(steps.collect())).await.unwrap();
    assert_eq!(answer.blocks, [hello_text()]);
}

#[tokio::test]
async fn cut_in_two_at_every_byte() {
    let bytes = frames(&hello()).into_bytes();
    let replies = (1..bytes.len()).map(|cut| {
        let (front, back) = bytes.split_at(cut);
        Reply::steps(vec![Step::Bytes(front.to_vec()), Step::Bytes(back.to_vec())])
    });
    let server = Server::start(replies).await;
    let asked = model(&server);
    for cut in 1..bytes.len() {
        let last = asked.stream(request("m")).collect::<Vec<_>>().await.pop();
        let Some(Ok(Part::Done(answer))) = last else {
            panic!("cut at {cut}: {last:?}");
        };
        assert_eq!(answer.blocks, [hello_text()], "cut at {cut}");
    }
}

#[tokio::test]
async fn carriage_returns_comments_and_a_byte_order_mark() {
    let plain = frames(&hello());
    for written in [
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{plain}"),
        plain.replace("event: ping\n", ": keep alive\nevent: ping\nid: 7\nretry: 1000\n"),
        plain.replace("data: ", "data:"),
    ] {
        let answer = answer_to(Reply::stream(&written)).await.unwrap();
        assert_eq!(answer.blocks, [hello_text()], "{written}");
    }
}

#[tokio::test]
async fn parts_come_while_the_server_still_thinks() {
    let written = hello();
    let (front, back) = written.split_at(4);
    let (go_on, waiting) = oneshot::channel();
    let server = Server::start([Reply::steps(vec![
        Step::Bytes(frames(front).into_bytes()),
        Step::Wait(waiting),
        Step::Bytes(frames(back).into_bytes()),
    ])])
    .await;
    let mut stream = model(&server).stream(request("m"));
    // The server goes on only after this part was read.
    assert_eq!(stream.next().await, Some(Ok(Part::Text("Grüße, ".into()))));
    go_on.send(()).unwrap();
    assert_eq!(stream.next().await, Some(Ok(Part::Text("🌍".into()))));
    assert!(matches!(stream.next().await, Some(Ok(Part::Done(_)))));
    assert_eq!(stream.next().await, None);
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn nothing_is_read_after_the_last_frame() {
    let (_never, waiting) = oneshot::channel();
    let answer = answer_to(Reply::steps(vec![
        Step::Bytes(frames(&hello()).into_bytes()),
        Step::Wait(waiting),
    ]))
    .await
    .unwrap();
    assert_eq!(answer.blocks, [hello_text()]);
}

#[tokio::test]
async fn dropping_the_stream_abandons_the_request() {
    let (mut go_on, waiting) = oneshot::channel::<()>();
    let server = Server::start([Reply::steps(vec![
        Step::Bytes(frames(&hello()[..4]).into_bytes()),
        Step::Wait(waiting),
    ])])
    .await;
    let mut stream = model(&server).stream(request("m"));
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    // The server notices that nobody listens and drops its end.
    go_on.closed().await;
}
