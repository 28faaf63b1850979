//! End of a run: waits for the remaining events, then asks for the final status of every payment.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream;
use uuid::Uuid;

use super::board::{Board, Phase};
use super::merchant::Merchant;
use super::verdict::Verdict;

/// Time without arrivals after which everything counts as arrived: a repetition may follow the last event.
const QUIET: Duration = Duration::from_secs(1);
/// Time between two checks.
const STEP: Duration = Duration::from_millis(50);
/// Time between two questions about a payment that is not yet as it should be.
const ASK_AGAIN: Duration = Duration::from_millis(500);
/// Number of concurrent questions.
const CHECKS: usize = 32;

/// Waits until the end of every payment was reported and no more events arrive, at most until `deadline`.
pub(super) async fn wait(board: &Board, deadline: Instant) {
    board.enter(Phase::Settling { until: deadline });
    let mut received = 0;
    let mut quiet_since = Instant::now();
    while Instant::now() < deadline {
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

/// Asks the service about every payment, and until `deadline` again about those that are not as they should be.
pub(super) async fn check(merchant: &Merchant, deadline: Instant) {
    let mut open: Vec<_> = merchant.board.ledger().accounts().map(|(transaction, _)| transaction).collect();
    loop {
        // A service that was away may be back.
        merchant.look_again().await;
        ask(merchant, open).await;
        open = with_verdict(&merchant.board, Verdict::may_change);
        if open.is_empty() || Instant::now() >= deadline {
            return;
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

/// Asks for the deliveries of every payment that lacks an event: one still to be delivered is late, not missing.
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
        let status_before = merchant.board.ledger().last_status(transaction);
        let found = merchant.check(transaction).await;
        merchant.board.ledger().find(transaction, status_before, found);
        merchant.board.answered();
    };
    stream::iter(transactions).for_each_concurrent(CHECKS, ask).await;
}

fn with_verdict(board: &Board, wanted: impl Fn(Verdict) -> bool) -> Vec<Uuid> {
    let ledger = board.ledger();
    let matching = ledger.accounts().filter(|(_, account)| wanted(Verdict::of(account)));
    matching.map(|(transaction, _)| transaction).collect()
}
