//! End of a run: waits for the remaining events, then queries the final status of every payment.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::Notify;
use uuid::Uuid;

use super::board::{Board, Phase};
use super::ledger::Account;
use super::merchant::Merchant;
use super::verdict::{Verdict, is_overtaken};

/// Time without arrivals after which all events count as arrived: a repetition may follow the last event.
const QUIET: Duration = Duration::from_secs(1);
/// Maximum time by which the service's silence extends the deadline.
const MAX_EXTENSION: Duration = Duration::from_secs(60);
/// Time between two checks.
const STEP: Duration = Duration::from_millis(50);
/// Time between two queries about a payment that is not yet as expected.
const ASK_AGAIN: Duration = Duration::from_millis(500);
/// Number of concurrent queries.
const CHECKS: usize = 32;

/// Waits until every payment's end was reported and no more events arrive, but at most until `deadline`. Meanwhile, it
/// keeps probing whether the service still answers.
pub(super) async fn wait(merchant: &Merchant, deadline: Instant) {
    let end = Notify::new();
    let events = async {
        wait_for_events(&merchant.board, deadline).await;
        end.notify_one();
    };
    tokio::join!(events, merchant.watch(&end));
}

/// Returns the extended deadline for a service that was silent after the load: that time does not count.
fn extended(board: &Board, deadline: Instant) -> Instant {
    // Bounded, because a service that never answers again must not keep the run from ending.
    deadline + board.measures().contact.lost_after_load().min(MAX_EXTENSION)
}

async fn wait_for_events(board: &Board, deadline: Instant) {
    let mut received = 0;
    let mut quiet_since = Instant::now();
    loop {
        let until = extended(board, deadline);
        if Instant::now() >= until {
            return;
        }
        board.enter(Phase::Settling { until });
        let now_received = board.measures().webhooks.received;
        if now_received != received {
            received = now_received;
            quiet_since = Instant::now();
        }
        if board.ledger().unsettled() == 0 && quiet_since.elapsed() >= QUIET {
            return;
        }
        tokio::time::sleep(STEP).await;
    }
}

/// Queries every payment, and repeats the query until `deadline` for those that are not as expected.
pub(super) async fn check(merchant: &Merchant, deadline: Instant) {
    let mut open: Vec<_> = merchant.board.ledger().accounts().map(|(transaction, _)| transaction).collect();
    loop {
        // A service that was away may be back.
        merchant.look_again().await;
        merchant.check_pace.end_at(extended(&merchant.board, deadline));
        ask(merchant, open).await;
        if Instant::now() >= extended(&merchant.board, deadline) {
            break;
        }
        open = with_verdict(&merchant.board, Verdict::may_change);
        if open.is_empty() {
            return;
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
    // An answer overtaken by an event proves nothing, so the status is queried once more.
    let overtaken = matching(&merchant.board, is_overtaken);
    if !overtaken.is_empty() {
        ask(merchant, overtaken).await;
    }
}

/// Queries the deliveries of every payment that is missing an event: one still to be delivered is late, not missing.
pub(super) async fn trace(merchant: &Merchant) {
    let missing = with_verdict(&merchant.board, |verdict| verdict == Verdict::MissingEvent);
    merchant.board.enter(Phase::Tracing { done: 0, total: missing.len() });
    let trace = |transaction| async move {
        let deliveries = merchant.trace(transaction).await;
        merchant.board.ledger().find_deliveries(transaction, deliveries);
        merchant.board.answered();
    };
    stream::iter(missing).for_each_concurrent(CHECKS, trace).await;
}

async fn ask(merchant: &Merchant, transactions: Vec<Uuid>) {
    merchant.board.enter(Phase::Checking { done: 0, total: transactions.len() });
    let ask = |transaction| async move {
        // Read before the query: an event that arrives during it may be newer than the answer.
        let status_before = merchant.board.ledger().last_status(transaction);
        let found = merchant.check(transaction).await;
        let (silent, trouble_end) = {
            let measures = merchant.board.measures();
            (measures.contact.lost(), measures.trouble_end(Instant::now()))
        };
        let mut ledger = merchant.board.ledger();
        ledger.allow(silent, trouble_end);
        ledger.find(transaction, status_before, found);
        drop(ledger);
        merchant.board.answered();
    };
    stream::iter(transactions).for_each_concurrent(CHECKS, ask).await;
}

fn with_verdict(board: &Board, wanted: impl Fn(Verdict) -> bool) -> Vec<Uuid> {
    matching(board, |account| wanted(Verdict::of(account)))
}

fn matching(board: &Board, wanted: impl Fn(&Account) -> bool) -> Vec<Uuid> {
    let ledger = board.ledger();
    let matching = ledger.accounts().filter(|(_, account)| wanted(account));
    matching.map(|(transaction, _)| transaction).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use actix_web::{HttpRequest, HttpResponse};
    use quita_domain::status::Status;

    use super::super::super::test_server::test_server;
    use super::super::ledger::{Ledger, Notice};
    use super::super::plan::Method;
    use super::*;

    const PAYMENT: Uuid = Uuid::from_u128(7);

    fn hear(board: &Board, sequence: u32, status: Status, webhook_id: &str) {
        let transaction = PAYMENT;
        board.ledger().hear(&Notice { transaction, sequence, status, webhook_id, is_signed_well: true });
    }

    /// Asks a server whose n-th answer this function gives, and returns the verdict.
    async fn verdict(
        patience: Duration,
        answer: impl Fn(&Board, u64) -> HttpResponse + Send + Clone + 'static,
    ) -> Verdict {
        let board = Arc::new(Board::new(Ledger::new(0), 1).unwrap());
        board.ledger().created(PAYMENT, Method::Pix, Instant::now());
        hear(&board, 1, Status::Pending, "a");
        let served = Arc::clone(&board);
        let asked = Arc::new(AtomicU64::new(0));
        let server = test_server(move |_: HttpRequest| answer(&served, asked.fetch_add(1, Ordering::SeqCst)));
        check(&Merchant::of_test_server(&board, server.url.as_str()), Instant::now() + patience).await;
        server.stop().await;
        board.ledger().accounts().map(|(_, account)| Verdict::of(account)).next().unwrap()
    }

    fn record(status: &str) -> HttpResponse {
        HttpResponse::Ok().json(serde_json::json!({ "transactionId": PAYMENT, "status": status }))
    }

    #[actix_web::test]
    async fn an_answer_that_an_event_overtook_is_asked_for_again_even_after_the_deadline() {
        let verdict = verdict(Duration::ZERO, |board, asked| {
            if asked > 0 {
                return record("paid");
            }
            hear(board, 2, Status::Paid, "b");
            record("pending")
        });
        assert_eq!(verdict.await, Verdict::Complete);
    }

    #[actix_web::test]
    async fn a_payment_that_is_not_found_is_asked_for_again_before_it_counts_as_lost() {
        let once_lost = verdict(Duration::from_secs(5), |board, asked| {
            if asked == 0 {
                hear(board, 2, Status::Paid, "b");
                return HttpResponse::NotFound()
                    .json(serde_json::json!({ "code": "not_found", "message": "transaction not found" }));
            }
            record("paid")
        });
        assert_eq!(once_lost.await, Verdict::Complete);
        let page =
            verdict(Duration::ZERO, |_, _| HttpResponse::NotFound().body("<html>404 Not Found</html>"));
        assert_eq!(page.await, Verdict::Unjudged, "a proxy knows no payments");
    }
}
