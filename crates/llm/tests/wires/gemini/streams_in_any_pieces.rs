//! A stream's bytes arrive cut anywhere, and parts are passed on as soon as they are there.

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
    let model = model(&server);
    for cut in 1..bytes.len() {
        let last = model.stream(request("m")).collect::<Vec<_>>().await.pop();
        let Some(Ok(Part::Done(answer))) = last else {
            panic!("cut at {cut}: {last:?}");
        };
        assert_eq!(answer.blocks, [hello_text()], "cut at {cut}");
    }
}

#[tokio::test]
async fn parts_come_while_the_server_still_thinks() {
    let written = hello();
    let (go_on, waiting) = oneshot::channel();
    let server = Server::start([Reply::steps(vec![
        Step::Bytes(frames(&written[..1]).into_bytes()),
        Step::Wait(waiting),
        Step::Bytes(frames(&written[1..]).into_bytes()),
    ])])
    .await;
    let mut stream = model(&server).stream(request("m"));
    // The server goes on only after this part was read.
    assert_eq!(stream.next().await, Some(Ok(Part::Text("Grüße, ".into()))));
    go_on.send(()).unwrap();
    assert_eq!(stream.next().await, Some(Ok(Part::Text("🌍".into()))));
    assert!(matches!(stream.next().await, Some(Ok(Part::Done(_)))));
    assert_eq!(stream.next().await, None);
}
