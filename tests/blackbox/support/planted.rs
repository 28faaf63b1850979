//! A small service that keeps the contract of the API, but for one planted fault.

use std::collections::HashMap;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use uuid::Uuid;

use super::client::Client;
use super::signature::sign;
use super::wire::{Message, read_message};

/// The payment that the fault befalls.
const BEFALLEN: usize = 3;

/// The mistake of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// None.
    Nothing,
    /// The event that it was paid is never sent.
    DropsEvent,
    /// The same, but the event is still to be delivered.
    DelaysEvent,
    /// An event is sent again as another one.
    RepeatsUnderNewId,
    /// An event is sent again as the same one, which is allowed.
    RepeatsUnderSameId,
    /// The second event is sent before the first.
    SwapsOrder,
    /// A payment that was reported as paid is shown as pending.
    WrongStatus,
    /// An event is signed with another secret.
    WrongSecret,
    /// A payment that was created is not found.
    Forgets,
    /// A creation is answered with 500.
    Fails,
    /// The connection of a creation is closed without an answer, once.
    CutsOnce,
    /// The connection of every creation is closed without an answer.
    CutsAll,
    /// From the creation on, a proxy answers 502 for a service that is gone.
    GoesBehindProxy,
}

/// A service that runs. Dropping it stops it.
pub(crate) struct PlantedService {
    address: SocketAddr,
    is_stopping: Arc<AtomicBool>,
}

struct Shared {
    fault: Fault,
    payments: Mutex<Payments>,
}

#[derive(Default)]
struct Payments {
    asked_for: usize,
    statuses: HashMap<String, &'static str>,
    /// The state of the last event's delivery, where it is not `delivered`.
    delivery_states: HashMap<String, &'static str>,
    /// Gone once it was read.
    forgotten: Option<String>,
}

impl PlantedService {
    /// The secret that its webhooks are signed with.
    pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    pub(crate) fn start(fault: Fault) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let is_stopping = Arc::new(AtomicBool::new(false));
        let should_stop = Arc::clone(&is_stopping);
        let shared = Arc::new(Shared { fault, payments: Mutex::default() });
        thread::spawn(move || {
            for stream in listener.incoming() {
                if should_stop.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), shared) = (stream, Arc::clone(&shared)) else { continue };
                thread::spawn(move || shared.answer(stream));
            }
        });
        Self { address, is_stopping }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for PlantedService {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    fn answer(self: Arc<Self>, mut stream: TcpStream) {
        drop(stream.set_read_timeout(Some(Duration::from_secs(20))));
        let Some(message) = read_message(&mut stream) else { return };
        let path = message.first_line.split(' ').nth(1).unwrap_or_default().to_owned();
        let (status, body) = if message.first_line.starts_with("POST ") {
            match self.create(&message) {
                Some(created) => created,
                None => return,
            }
        } else if self.is_gone() {
            (502, json!("Bad Gateway"))
        } else if let Some(query) = path.strip_prefix("/pay/webhooks/deliveries?transactionId=") {
            self.deliveries(query.split('&').next().unwrap_or_default())
        } else if path.starts_with("/pay/payments?") {
            (200, json!({"data": [], "hasMore": false, "nextCursor": null}))
        } else {
            self.read(path.rsplit('/').next().unwrap_or_default())
        };
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status} Status\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        drop(stream.write_all(format!("{head}{body}").as_bytes()));
    }

    /// The answer; none if the connection is to be closed without one.
    fn create(self: &Arc<Self>, message: &Message) -> Option<(u16, Value)> {
        let request: Value = serde_json::from_slice(&message.body).unwrap();
        let id = Uuid::now_v7().to_string();
        let mut payments = self.payments.lock().unwrap();
        payments.asked_for += 1;
        let fault = if payments.asked_for == BEFALLEN { self.fault } else { Fault::Nothing };
        if fault == Fault::CutsOnce || self.fault == Fault::CutsAll {
            return None;
        }
        if fault == Fault::Fails {
            return Some((500, json!({})));
        }
        if self.fault == Fault::GoesBehindProxy && payments.asked_for >= BEFALLEN {
            return Some((502, json!("Bad Gateway")));
        }
        payments.statuses.insert(id.clone(), "pending");
        payments.forgotten = payments.forgotten.take().or((fault == Fault::Forgets).then(|| id.clone()));
        drop(payments);
        let shared = Arc::clone(self);
        let told = id.clone();
        let url = request["postbackUrl"].to_string();
        thread::spawn(move || shared.tell(&told, url.trim_matches('"'), fault));
        Some((201, json!({"transactionId": id, "status": "pending"})))
    }

    fn is_gone(&self) -> bool {
        self.fault == Fault::GoesBehindProxy && self.payments.lock().unwrap().asked_for >= BEFALLEN
    }

    fn read(&self, id: &str) -> (u16, Value) {
        let mut payments = self.payments.lock().unwrap();
        let Some(status) = payments.statuses.get(id).copied() else {
            return (404, json!({"code": "not_found", "message": "transaction not found"}));
        };
        if payments.forgotten.as_deref() == Some(id) {
            payments.statuses.remove(id);
        }
        (200, json!({"transactionId": id, "status": status}))
    }

    fn deliveries(&self, id: &str) -> (u16, Value) {
        let payments = self.payments.lock().unwrap();
        let last = payments.delivery_states.get(id).copied().unwrap_or("delivered");
        (
            200,
            json!({"data": [{"state": last}, {"state": "delivered"}], "hasMore": false, "nextCursor": null}),
        )
    }

    fn tell(&self, id: &str, url: &str, fault: Fault) {
        let pending = (1, "pending", "a");
        let paid = (2, "paid", "b");
        let events = match fault {
            Fault::DropsEvent | Fault::DelaysEvent => vec![pending],
            Fault::RepeatsUnderNewId => vec![pending, paid, (2, "paid", "c")],
            Fault::RepeatsUnderSameId => vec![pending, paid, paid],
            Fault::SwapsOrder => vec![paid, pending],
            Fault::Nothing
            | Fault::WrongStatus
            | Fault::WrongSecret
            | Fault::Forgets
            | Fault::Fails
            | Fault::CutsOnce
            | Fault::CutsAll
            | Fault::GoesBehindProxy => vec![pending, paid],
        };
        if fault == Fault::DelaysEvent {
            self.payments.lock().unwrap().delivery_states.insert(id.to_owned(), "pending");
        }
        if !matches!(fault, Fault::WrongStatus | Fault::Forgets) {
            self.payments.lock().unwrap().statuses.insert(id.to_owned(), "paid");
        }
        for (sequence, status, name) in events {
            send(id, url, sequence, status, name, fault == Fault::WrongSecret);
        }
    }
}

fn send(id: &str, url: &str, sequence: u32, status: &str, name: &str, is_wrong: bool) {
    let body = json!({
        "transactionId": id, "sequence": sequence, "status": status, "event": format!("payment.{status}"),
        "occurredAt": "2026-01-01T00:00:00.000Z", "data": {},
    });
    let body = body.to_string();
    let webhook_id = format!("{id}-{name}");
    let timestamp = Uuid::now_v7().get_timestamp().unwrap().to_unix().0.to_string();
    let secret = if is_wrong { "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" } else { PlantedService::SECRET };
    let signature = sign(secret, &webhook_id, &timestamp, body.as_bytes());
    let headers = [
        ("Content-Type", "application/json"),
        ("webhook-id", &*webhook_id),
        ("webhook-timestamp", &*timestamp),
        ("webhook-signature", &*signature),
    ];
    // The receiver may be gone when a test ends early.
    drop(Client::new("", None).try_send("POST", url, &headers, body.as_bytes()));
}
