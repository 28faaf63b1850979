//! Merchants: they create payments, repeat requests until they have an answer, and cancel, capture and refund
//! concurrently through several nodes.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::{JoinSet, spawn_local};
use tokio::time::{sleep, timeout};

use crate::books::{DECLINED_CENTS, DISPUTED_CENTS};
use crate::dice::Dice;
use crate::told::Promise;
use crate::upgrade;
use crate::wire::{Answer, Call, CallError};
use crate::world::World;

/// Time-out of a client for one request.
const PATIENCE: Duration = Duration::from_secs(4);

/// Operation that a client wants to perform on its payment.
#[derive(Debug, Clone, Copy)]
enum RequestedOperation {
    Cancel,
    Capture(Option<u64>),
    Refund(Option<u64>),
}

/// Works until it is told to stop, and finishes what it has begun.
pub(crate) async fn work(world: Rc<World>, number: u64, stop: Rc<Cell<bool>>) {
    let dice = Rc::new(Dice::new(world.seed, &format!("client {number}")));
    let mut operations = JoinSet::new();
    let mut count = 0;
    while !stop.get() {
        count += 1;
        let reference = format!("r{}-c{number}-{count}", world.round);
        if let Some((id, method, cents)) = payment(&world, &dice, &reference).await {
            let world = Rc::clone(&world);
            let dice = Rc::clone(&dice);
            operations.spawn_local(async move {
                look(&world, &dice, &id).await;
                operate(&world, &dice, &id, method, cents).await;
                look(&world, &dice, &id).await;
            });
        }
        sleep(dice.millis(0, world.pause_ms)).await;
    }
    while operations.join_next().await.is_some() {}
}

/// Creates one payment, and returns what the client needs for operations on it.
async fn payment(world: &Rc<World>, dice: &Rc<Dice>, reference: &str) -> Option<(String, &'static str, u64)> {
    let (body, cents, method) = request(world, dice, reference);
    let has_key = dice.percent(85);
    {
        let mut intents = world.told.intents.borrow_mut();
        let intent = intents.entry(reference.to_owned()).or_default();
        (intent.cents, intent.has_key) = (cents, has_key);
    }
    // Some creations are sent twice concurrently, through different nodes.
    let times = if has_key && dice.percent(10) { 2 } else { 1 };
    let mut posts = JoinSet::new();
    for _ in 0..times {
        let (world, dice, reference, body) =
            (Rc::clone(world), Rc::clone(dice), reference.to_owned(), body.clone());
        posts.spawn_local(async move { create(&world, &dice, &reference, &body, has_key).await });
    }
    let mut record = None;
    while let Some(created) = posts.join_next().await {
        record = created.ok().flatten().or(record);
    }
    let id = record?["transactionId"].as_str().unwrap_or_default().to_owned();
    (cents % 100 != DISPUTED_CENTS).then_some((id, method, cents))
}

/// Returns a creation request.
fn request(world: &World, dice: &Dice, reference: &str) -> (Value, u64, &'static str) {
    let method = ["pix", "pix", "boleto", "card", "card", "authorisation", "authorisation"][dice.index(7)];
    let hundreds = dice.between(10, 5_000) * 100;
    let cents = match (method, dice.between(0, 10)) {
        ("card", 0) => hundreds + DECLINED_CENTS,
        ("card", 1) => hundreds + DISPUTED_CENTS,
        _ => hundreds + 10,
    };
    let mut body = json!({
        "paymentMethod": method,
        "amount": cents,
        "currency": "BRL",
        "externalReference": reference,
        "postbackUrl": world.postback_url(dice),
        "paymentDetails": {
            "firstName": "Maria", "lastName": "da Silva", "document": "52998224725", "documentType": "CPF",
            "email": "maria.silva@example.com", "phoneNumber": "11987654321",
            "address": {
                "street": "Rua Augusta", "number": "100", "neighborhood": "Consolação", "city": "São Paulo",
                "state": "SP", "zipCode": "01304000",
            },
        },
    });
    if world.upgrade.is_some() && dice.percent(10) {
        body["metadata"] = json!({ "made-up-form": "yes" });
    }
    if matches!(method, "card" | "authorisation") {
        body["paymentMethod"] = "credit_card".into();
        body["installments"] = 1.into();
        body["capture"] = (method == "card").into();
        body["creditCard"] = json!({
            "number": "4242424242424242", "holderName": "MARIA DA SILVA", "expirationMonth": 12,
            "expirationYear": 2049, "cvv": "123",
        });
    }
    (body, cents, method)
}

/// Repeats the request until there is an answer. Without a key it is sent once.
async fn create(world: &World, dice: &Dice, reference: &str, body: &Value, has_key: bool) -> Option<Value> {
    let told = ask_for(world, dice, reference, body, has_key).await;
    world.told.ends(reference);
    told
}

async fn ask_for(world: &World, dice: &Dice, reference: &str, body: &Value, has_key: bool) -> Option<Value> {
    let text = body.to_string();
    loop {
        if let Some(intent) = world.told.intents.borrow_mut().get_mut(reference) {
            intent.tries += 1;
        }
        world.told.asks(reference);
        let key = has_key.then_some(reference);
        let answer = send(world, dice, "POST", "/pay/payments", key, text.as_bytes()).await;
        match answer {
            Some((200 | 201, record)) => {
                world.told.created(reference, &record);
                return Some(record);
            }
            Some((500, body)) => world.told.violation(format!("{reference}: 500: {body}")),
            Some((409, body)) if body["code"] == "store_form" && upgrade::may_lack_form(world) => {
                return None;
            }
            Some((400..500, body)) => {
                world.told.violation(format!("{reference}: a right creation was refused: {body}"));
                return None;
            }
            Some(_) | None => {}
        }
        if !has_key {
            return None;
        }
        sleep(dice.millis(50, 500)).await;
    }
}

/// Reads a known payment on any node. It must exist, and must not be older than an answer before.
async fn look(world: &World, dice: &Dice, id: &str) {
    let told = world.told.highest_version(id).unwrap_or(0);
    match send(world, dice, "GET", &format!("/pay/payments/{id}"), None, b"").await {
        Some((200, record)) => {
            world.told.read(record["version"].as_u64().unwrap_or(0) < told);
            world.told.saw(&record);
        }
        Some((404, body)) => world.told.violation(format!("{id} was told and is not found: {body}")),
        Some(_) | None => {}
    }
}

/// Performs operations on a payment, several at once.
async fn operate(world: &Rc<World>, dice: &Rc<Dice>, id: &str, method: &str, cents: u64) {
    let half = cents / 2;
    let requested_operations: Vec<RequestedOperation> = match (method, dice.between(0, 10)) {
        ("pix" | "boleto", 0..=1) => vec![RequestedOperation::Cancel],
        ("pix" | "boleto", 2) => vec![RequestedOperation::Cancel, RequestedOperation::Cancel],
        ("card", 0..=2) => vec![RequestedOperation::Refund(None)],
        ("card", 3..=4) => {
            vec![RequestedOperation::Refund(Some(half)), RequestedOperation::Refund(Some(half))]
        }
        ("card", 5) => vec![
            RequestedOperation::Refund(Some(half)),
            RequestedOperation::Refund(Some(cents)),
            RequestedOperation::Refund(Some(1)),
        ],
        ("authorisation", 0..=2) => vec![RequestedOperation::Capture(None)],
        ("authorisation", 3) => vec![RequestedOperation::Capture(Some(half))],
        ("authorisation", 4..=5) => vec![RequestedOperation::Capture(None), RequestedOperation::Cancel],
        ("authorisation", 6) => vec![
            RequestedOperation::Capture(None),
            RequestedOperation::Capture(Some(half)),
            RequestedOperation::Cancel,
        ],
        ("authorisation", 7) => vec![RequestedOperation::Cancel],
        ("pix" | "boleto", 3..=4) => {
            sleep(dice.millis(500, 4_000)).await;
            vec![RequestedOperation::Refund(Some(half)), RequestedOperation::Refund(None)]
        }
        _ => return,
    };
    let tasks: Vec<_> = requested_operations
        .into_iter()
        .enumerate()
        .map(|(place, requested)| {
            let world = Rc::clone(world);
            let dice = Rc::clone(dice);
            let id = id.to_owned();
            spawn_local(async move { insist(&world, &dice, &id, place, requested).await })
        })
        .collect();
    for task in tasks {
        drop(task.await);
    }
}

/// Requests one operation under one key until its outcome is known.
async fn insist(world: &World, dice: &Dice, id: &str, place: usize, requested: RequestedOperation) {
    insist_on(world, dice, id, place, requested).await;
    world.told.ends(&format!("{id} {place} {requested:?}"));
}

async fn insist_on(world: &World, dice: &Dice, id: &str, place: usize, requested: RequestedOperation) {
    let (verb, amount) = match requested {
        RequestedOperation::Cancel => ("cancel", None),
        RequestedOperation::Capture(amount) => ("capture", amount),
        RequestedOperation::Refund(amount) => ("refunds", amount),
    };
    let path = format!("/pay/payments/{id}/{verb}");
    let key = format!("{verb}-{place}");
    let body = amount.map_or_else(|| json!({}), |amount| json!({"amount": amount})).to_string();
    loop {
        world.told.asks(&format!("{id} {place} {requested:?}"));
        match send(world, dice, "POST", &path, Some(&key), body.as_bytes()).await {
            Some((200 | 201, answer)) => {
                let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
                let promise = match requested {
                    RequestedOperation::Cancel => Promise::Cancelled,
                    RequestedOperation::Capture(_) => Promise::Captured,
                    RequestedOperation::Refund(_) => {
                        let refund_id = text("refundId");
                        let amount = text("amount");
                        Promise::Refunded { refund_id, amount, status: text("status") }
                    }
                };
                if !matches!(requested, RequestedOperation::Refund(_)) {
                    world.told.saw(&answer);
                }
                world.told.promises.borrow_mut().push((id.to_owned(), promise));
                return;
            }
            Some((404, body)) => {
                world.told.violation(format!("{id} was told and is not found: {body}"));
                return;
            }
            Some((500, body)) => world.told.violation(format!("{id}: 500: {body}")),
            Some((400..500, _)) => return,
            Some(_) | None => {}
        }
        sleep(dice.millis(50, 500)).await;
    }
}

/// Sends one request through a random node. Returns `None` if the client gave up or the connection broke.
async fn send(
    world: &World,
    dice: &Dice,
    method: &str,
    path: &str,
    key: Option<&str>,
    body: &[u8],
) -> Option<(u16, Value)> {
    let node = &world.nodes[dice.index(world.nodes.len())];
    let authorization = format!("Bearer {}", world.key);
    let mut headers = vec![("authorization", authorization.as_str()), ("content-type", "application/json")];
    headers.extend(key.map(|key| ("idempotency-key", key)));
    let call = Call { method, path, headers: &headers, body };
    // Sometimes a client gives up almost at once.
    let patience = if dice.percent(5) { dice.millis(5, 150) } else { PATIENCE };
    let answer: Option<Result<Answer, CallError>> = timeout(patience, call.to(node.front.address)).await.ok();
    let answer = answer.and_then(Result::ok);
    world.told.answered(answer.as_ref().map(|answer| answer.status));
    answer.map(|answer| (answer.status, serde_json::from_slice(&answer.body).unwrap_or(Value::Null)))
}
