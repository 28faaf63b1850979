//! The bytes between the sender and a receiver: each event gets its own answer, however that is framed, or none.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use quita_machine::SystemClock;
use quita_ports::{WebhookRequest, WebhookSender, WebhookSenderFactory};
use quita_webhook_http::{AddressPolicy, WebhookHttpFactory};
use quita_wire::{Asked, Expected, Server, Step, cases, frame};
use tokio::time::Instant;

fn sender() -> Rc<dyn WebhookSender> {
    let factory = WebhookHttpFactory::new(AddressPolicy::Any, Arc::new(SystemClock)).unwrap();
    factory.with_time_out_ms(20_000).build()
}

fn event(server: &Server, number: u32) -> WebhookRequest {
    WebhookRequest {
        url: server.url("/hook"),
        id: format!("evt_{number}"),
        timestamp_s: 1_614_265_330,
        signature: "v1,c2lnbmF0dXJl".into(),
        body: r#"{"status":"paid"}"#.into(),
    }
}

#[tokio::test]
async fn every_event_gets_its_own_answer_however_the_receiver_frames_it() {
    for case in cases() {
        let steps = case.steps;
        let server = Server::start(move |asked: &Asked| match asked.number {
            1 => steps(500, "refused"),
            _ => frame(202, "taken"),
        })
        .await;
        let sender = sender();
        let first = sender.send(event(&server, 1)).await.attempt;
        assert!(!first.is_confirmed(), "{}: {first:?}", case.name);
        let heard = (first.status, first.error.as_deref());
        match case.expected {
            Expected::Whole => {
                assert_eq!(heard, (Some(500), None), "{}", case.name);
                assert_eq!(first.answer.as_deref(), Some("refused"), "{}", case.name);
            }
            Expected::Broken => assert_eq!(heard, (Some(500), Some("protocol")), "{}", case.name),
            Expected::None => assert_eq!(heard, (None, Some("protocol")), "{}", case.name),
        }
        server.at_rest().await;
        let second = sender.send(event(&server, 2)).await.attempt;
        let heard = (second.status, second.answer.as_deref());
        assert_eq!(heard, (Some(202), Some("taken")), "{}: another's answer", case.name);
        assert_eq!(server.asked().len(), 2, "{}", case.name);
    }
}

#[tokio::test]
async fn an_event_on_a_connection_that_its_receiver_had_closed_is_sent_again_at_once() {
    let server = Server::start(|asked: &Asked| match asked.number {
        2 => vec![Step::Close],
        _ => frame(200, ""),
    })
    .await;
    let sender = sender();
    assert!(sender.send(event(&server, 1)).await.attempt.is_confirmed());
    let begun = Instant::now();
    let attempt = sender.send(event(&server, 2)).await.attempt;
    assert!(attempt.is_confirmed() && begun.elapsed() < Duration::from_secs(4), "{attempt:?}");
    assert_eq!(server.connections(), [1, 1, 2]);
    let asked = server.asked();
    assert_eq!(asked[1].text, asked[2].text, "the same event, with the same id and signature");
}

#[tokio::test]
async fn words_in_a_coding_that_nobody_asked_for_are_not_kept() {
    let server = Server::start(|_: &Asked| {
        vec![Step::send("HTTP/1.1 400 No\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxy")]
    })
    .await;
    let attempt = sender().send(event(&server, 1)).await.attempt;
    assert_eq!((attempt.status, attempt.error, attempt.answer), (Some(400), None, None));
}
