//! Stored state, as the service shows it through its own API on every node.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;
use tokio::time::timeout;

use crate::node::Node;
use crate::wire::Call;
use crate::world::World;

const PATIENCE: Duration = Duration::from_secs(20);

/// All stored data of one payment.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) record: Value,
    pub(crate) events: Vec<Value>,
}

/// Returns all payments by their ids, as the first node lists them, with their events.
pub(crate) async fn all_payments(world: &World) -> anyhow::Result<BTreeMap<String, Stored>> {
    let mut payments = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let page = get(world, &world.nodes[0], &format!("/pay/payments?limit=100{cursor}")).await?;
        for record in page["data"].as_array().context("a page has data")? {
            let id = text(&record["transactionId"]);
            let events = get(world, &world.nodes[0], &format!("/pay/payments/{id}/events")).await?;
            let events = events["data"].as_array().context("events are data")?.clone();
            payments.insert(id, Stored { record: record.clone(), events });
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(payments),
        }
    }
}

/// Sends a GET to one node; 404 gives `null`.
pub(crate) async fn get(world: &World, node: &Rc<Node>, path: &str) -> anyhow::Result<Value> {
    let authorization = format!("Bearer {}", world.key);
    let headers = [("authorization", authorization.as_str())];
    // The timer and the webhooks may occupy the store for a moment, so a 503 is repeated.
    for _ in 0..20 {
        let call = Call { method: "GET", path, headers: &headers, body: b"" };
        if let Ok(Ok(answer)) = timeout(PATIENCE, call.to(node.front.address)).await {
            match answer.status {
                200 => return Ok(serde_json::from_slice(&answer.body)?),
                404 => return Ok(Value::Null),
                503 => {}
                status => anyhow::bail!("{path}: {status}: {}", String::from_utf8_lossy(&answer.body)),
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    anyhow::bail!("{} does not answer {path}", node.name())
}

/// Returns the deliveries in this state.
pub(crate) async fn deliveries(world: &World, state: &str) -> anyhow::Result<Vec<Value>> {
    let page =
        get(world, &world.nodes[0], &format!("/pay/webhooks/deliveries?limit=100&state={state}")).await?;
    Ok(page["data"].as_array().cloned().unwrap_or_default())
}

/// Returns the exceptions, which need a person.
pub(crate) async fn exceptions(world: &World) -> anyhow::Result<Vec<Value>> {
    let answer = world.nodes[0].ops("/ops/exceptions").await;
    let answer = answer.map_err(|error| anyhow::anyhow!("/ops/exceptions: {error:?}"))?;
    let body: Value = serde_json::from_slice(&answer.body)?;
    Ok(body["data"].as_array().cloned().unwrap_or_default())
}

/// Returns the sum of a metric over its labels; 0 if it was never counted.
pub(crate) async fn metric(node: &Node, name: &str) -> anyhow::Result<u64> {
    let answer = node.ops("/metrics").await.map_err(|error| anyhow::anyhow!("/metrics: {error:?}"))?;
    let text = String::from_utf8(answer.body)?;
    let lines = text.lines().filter(|line| {
        line.strip_prefix(name).is_some_and(|rest| rest.starts_with('{') || rest.starts_with(' '))
    });
    Ok(lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum())
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
