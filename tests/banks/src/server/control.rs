//! The control path: `POST /{do}` or `POST /{do}/{txid}` with a JSON object of further arguments, `GET /{do}` likewise.
//!
//! The server itself knows `clock` (`{"aheadMs": 3600000}`: that much further), `delay` (`{"ms": 50}` for all answers),
//! `forward` and `notices_to` (`{"to": …}`), and `notices` (how many arrived). All else is the counterparty's.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use serde_json::{Map, Value, json};

use super::exchange::{Cut, body, write};
use super::{Counterparty, Shared};
use crate::Response;

pub(super) async fn answer<C: Counterparty>(
    shared: Arc<Shared<C>>,
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Full<Bytes>>, Cut> {
    let path = request.uri().path().trim_start_matches('/').to_owned();
    let body = body(request.into_body()).await?;
    let told = match command(&path, &body) {
        Some(command) => act(&shared, &command),
        None => json!({"error": "the body is no JSON object"}),
    };
    let status = if told.get("error").is_some() { 400 } else { 200 };
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Ok(write(Response { status, headers, body: told.to_string().into_bytes() }))
}

fn command(path: &str, body: &[u8]) -> Option<Value> {
    let mut command: Map<String, Value> =
        if body.is_empty() { Map::new() } else { serde_json::from_slice(body).ok()? };
    let (name, txid) = path.split_once('/').map_or((path, None), |(name, txid)| (name, Some(txid)));
    command.insert("do".to_owned(), json!(name));
    if let Some(txid) = txid {
        command.insert("txid".to_owned(), json!(txid));
    }
    Some(Value::Object(command))
}

fn act<C: Counterparty>(shared: &Shared<C>, command: &Value) -> Value {
    let text = |name: &str| command.get(name).and_then(Value::as_str).map(str::to_owned);
    let ok = json!({"ok": true});
    match text("do").as_deref() {
        Some("clock") => {
            let ahead_ms = command.get("aheadMs").and_then(Value::as_i64).unwrap_or(0);
            shared.ahead_ms.fetch_add(ahead_ms, Ordering::SeqCst);
            shared.done.notify_one();
            ok
        }
        Some("delay") => {
            shared.delay_ms.store(command.get("ms").and_then(Value::as_u64).unwrap_or(0), Ordering::SeqCst);
            ok
        }
        Some("forward") => {
            *shared.forward.lock().unwrap_or_else(PoisonError::into_inner) = text("to");
            ok
        }
        Some("notices_to") => {
            *shared.notices_to.lock().unwrap_or_else(PoisonError::into_inner) = text("to");
            ok
        }
        Some("notices") => json!({
            "delivered": shared.delivered.load(Ordering::SeqCst), "failed": shared.failed.load(Ordering::SeqCst),
        }),
        Some(_) | None => {
            let now_ms = shared.now_ms();
            let told = shared.counterparty().control(command, now_ms);
            shared.done.notify_one();
            told
        }
    }
}
