//! Numbers of slips that an acquirer leaves to us: each is stored with its charge before anything is sent.

use std::sync::Arc;
use std::time::Duration;

use quita_domain::acquiring::{Identified, Reference};
use quita_domain::payment::{Decision, Discrepancy, DiscrepancyKind};
use quita_ports::StoreError;
use tokio::time::timeout;

use super::{Core, first_charge};
use crate::acquirers::call::Identify;
use crate::acquirers::our_numbers::OurNumbers;
use crate::acquirers::routing::Route;

/// Time for the bank's answer before the first number of a process. Without that answer, answers to charges reveal
/// numbers in use.
const FIRST_NUMBER_WITHIN: Duration = Duration::from_secs(2);

/// Number that was given to a charge before it is stored.
pub(super) struct Allotted {
    numbers: Arc<OurNumbers>,
    number: u32,
}

impl Allotted {
    /// Gives back the number of a creation, if it has one. No payment may have this number.
    pub(super) async fn give_back(of_creation: Option<Self>) {
        if let Some(Self { numbers, number }) = of_creation {
            numbers.give_back(number).await;
        }
    }
}

impl Core {
    /// Assigns a slip number to the charge that a decision sends, if its acquirer leaves that to us. It is stored with
    /// the charge, so that inquiries about an unknown outcome can use it. If no number is left, the charge fails there.
    pub(super) async fn allot(&self, decision: &mut Decision) -> Result<Option<Allotted>, StoreError> {
        self.note_foreign_number(decision).await;
        let Some(acquirer) = first_charge(&decision.effects) else { return Ok(None) };
        let Some(payment) = decision.next.as_mut().filter(|payment| payment.lacks_number()) else {
            return Ok(None);
        };
        let Some(numbers) = self.route(payment, acquirer).and_then(|route| route.numbers.as_ref()) else {
            return Ok(None);
        };
        let Some(number) = numbers.next().await? else { return Ok(None) };
        payment.allot(number);
        Ok(Some(Allotted { numbers: Arc::clone(numbers), number }))
    }

    /// Records a number that turned out to be somebody else's at the acquirer of the charge.
    async fn note_foreign_number(&self, decision: &Decision) {
        let is_taken = |known: &&Discrepancy| known.kind == DiscrepancyKind::NumberTaken;
        let taken = decision.discrepancies.iter().find(is_taken);
        let number = taken.and_then(|known| known.about.as_deref()?.parse().ok());
        let (Some(number), Some(payment)) = (number, &decision.next) else { return };
        let route = payment.acquirer().and_then(|acquirer| self.route(payment, acquirer));
        if let Some(numbers) = route.and_then(|route| route.numbers.as_ref()) {
            numbers.was_foreign(number).await;
        }
    }

    /// Gives back the number of a creation that lost against another write. Not if the stored payment has it: that is
    /// this creation, whose write seemed to be lost.
    pub(super) async fn give_back_unless_stored(&self, allotted: Option<Allotted>) {
        let (Some(allotted), Some(known)) = (allotted, self.memory.payment()) else { return };
        if known.state.attempts.iter().all(|attempt| attempt.our_number != Some(allotted.number)) {
            Allotted::give_back(Some(allotted)).await;
        }
    }
}

/// Asks the acquirer of a route, once, whether it knows the first number of this process. Returns true if it was asked
/// now.
pub(super) async fn ask_before_first_number(route: &Route, numbers: &OurNumbers) -> bool {
    let is_known = async |number: u32| {
        let reference = Reference::none().with(Reference::OUR_NUMBER, &number.to_string());
        match route.slot.mailbox().ask(Identify(reference)).await {
            Ok(Identified::Payment(_) | Identified::Unknown) => true,
            Ok(Identified::NotFound | Identified::Failed(_)) | Err(_) => false,
        }
    };
    let asked = timeout(FIRST_NUMBER_WITHIN, numbers.ask_before_first(is_known)).await;
    asked.map_or(true, |asked| asked.unwrap_or_default())
}
