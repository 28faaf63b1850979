//! Chargebacks and won disputes: each is counted once, in whatever order they are reported.

use serde::{Deserialize, Serialize};

use super::draft::Draft;
use super::{Change, Discrepancy, DiscrepancyKind, Payment};
use crate::event::Cause;
use crate::money::Money;
use crate::state::{Refund, RefundStatus};
use crate::status::Status;
use crate::time::Timestamp;

/// Money that was taken back: all of it, an instalment, an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Chargeback {
    /// The acquirer's id of it.
    pub id: String,
    /// Amount; everything that came in when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<Money>,
    /// Time at which it was learnt. Earlier versions did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learnt_at: Option<Timestamp>,
    /// The won dispute about it. The chargeback is open while this is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub won: Option<WonDispute>,
}

impl Chargeback {
    /// Returns true if the money is still with the payer.
    pub const fn is_open(&self) -> bool {
        self.won.is_none()
    }

    /// Returns the status of the dispute about it.
    pub const fn status(&self) -> DisputeStatus {
        if self.is_open() { DisputeStatus::Open } else { DisputeStatus::Won }
    }
}

/// Status of the dispute about a chargeback. A dispute that was lost stays open: no acquirer reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DisputeStatus {
    /// The money is with the payer.
    Open,
    /// The money came back.
    Won,
}

impl DisputeStatus {
    /// Every status.
    pub const ALL: [Self; 2] = [Self::Open, Self::Won];

    /// Returns the API's spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Won => "won",
        }
    }

    /// Reads the API's spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// A dispute that was won.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WonDispute {
    /// The acquirer's id of this movement.
    pub id: String,
    /// True if it named the chargeback. One that did not has closed the oldest open one, and yields to one that does.
    pub names_chargeback: bool,
    /// Time at which it was learnt. Earlier versions did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learnt_at: Option<Timestamp>,
}

impl Payment {
    /// Returns the chargebacks that no won dispute has closed, oldest first.
    pub fn open_chargebacks(&self) -> impl Iterator<Item = &Chargeback> {
        self.chargebacks.iter().filter(|chargeback| chargeback.is_open())
    }

    /// Returns the amount of a chargeback: everything that came in, if it states none.
    pub fn amount_of(&self, chargeback: &Chargeback) -> Money {
        chargeback.amount.or(self.state.captured_amount).unwrap_or(self.order.amount)
    }

    /// Returns the time of a chargeback. If its own is not stored, returns the time of the payment's first one.
    pub fn time_of(&self, chargeback: &Chargeback) -> Option<Timestamp> {
        chargeback.learnt_at.or(self.state.chargeback_at)
    }

    fn chargeback(&self, id: &str) -> Option<&Chargeback> {
        self.chargebacks.iter().find(|chargeback| chargeback.id == id)
    }

    fn was_won_by_name(&self, chargeback: &str) -> bool {
        let won = self.chargeback(chargeback).and_then(|chargeback| chargeback.won.as_ref());
        won.is_some_and(|won| won.names_chargeback)
    }

    fn oldest_open_chargeback(&self) -> Option<String> {
        self.open_chargebacks().next().map(|chargeback| chargeback.id.clone())
    }
}

impl Draft {
    /// Learns a chargeback once. One that is reported again after its dispute was won is not a new one.
    pub(super) fn learn_charged_back(
        &mut self,
        id: String,
        amount: Option<Money>,
    ) -> Result<(), Discrepancy> {
        if self.payment.chargeback(&id).is_none() {
            match self.payment.status() {
                // A chargeback of money that was already refunded is reported to an operator.
                Status::Paid | Status::Approved | Status::Chargeback | Status::Refund => {}
                // The money that it takes back was not reported yet, so the notice waits for that report in the inbox.
                Status::Initial | Status::Pending | Status::Expired | Status::Cancelled => {
                    return Err(self.payment.too_early("charged back", Some(id)));
                }
                Status::Declined => return Err(self.payment.contradiction("charged back", Some(id))),
            }
            let learnt_at = Some(self.now());
            self.make(Change::ChargedBack(Chargeback { id: id.clone(), amount, learnt_at, won: None }));
            self.become_status(Status::Chargeback, None, Cause::Acquirer);
        }
        self.report_refunds_beside_chargebacks(|_, chargeback| chargeback.id == id);
        Ok(())
    }

    /// Learns a won dispute once: the payment is paid again if no other chargeback is open.
    pub(super) fn learn_dispute_won(
        &mut self,
        id: String,
        chargeback_id: Option<String>,
    ) -> Result<(), Discrepancy> {
        if self.payment.chargebacks.iter().filter_map(|one| one.won.as_ref()).any(|won| won.id == id) {
            return Ok(());
        }
        if self.payment.status() == Status::Declined {
            return Err(self.payment.contradiction("dispute won", Some(id)));
        }
        let names_chargeback = chargeback_id.is_some();
        let closed = match chargeback_id {
            None => self.payment.oldest_open_chargeback(),
            Some(named) if self.payment.was_won_by_name(&named) => return Ok(()),
            Some(named) => self.make_way_for(named),
        };
        // The won dispute overtook its chargeback, and waits in the inbox for it.
        let Some(closed) = closed else { return Err(self.payment.too_early("dispute won", Some(id))) };
        let learnt_at = Some(self.now());
        self.make(Change::DisputeWon(closed, WonDispute { id, names_chargeback, learnt_at }));
        if self.payment.status() == Status::Chargeback && self.payment.oldest_open_chargeback().is_none() {
            if self.payment.state.captured_amount.is_none() {
                self.learn_how_much_was_disputed();
            }
            self.become_status(Status::Paid, Some("dispute_won"), Cause::Acquirer);
        }
        Ok(())
    }

    /// Learns the amount of disputed money that was never reported as received. Others may have captured only part of
    /// the authorisation, so the acquirer is asked.
    fn learn_how_much_was_disputed(&mut self) {
        if self.payment.method().can_be_captured() {
            self.bring_check_forward(self.clock());
        } else {
            self.make(Change::Captured(self.payment.expected_settlement()));
        }
    }

    /// Returns the chargeback that a dispute names, if it is known. If a dispute without a name was assumed to be about
    /// it, that dispute closes the oldest other open one instead. Returns `None` while there is no other: that
    /// dispute's own chargeback is still to come.
    fn make_way_for(&mut self, named: String) -> Option<String> {
        let guessed = self.payment.chargeback(&named)?.won.clone();
        if let Some(guessed) = guessed {
            let other = self.payment.oldest_open_chargeback()?;
            self.make(Change::DisputeWon(other, guessed));
        }
        Some(named)
    }

    /// Reports each pair of a refund and an open chargeback, because the payer may have received the money twice.
    pub(super) fn report_refunds_beside_chargebacks(&mut self, which: impl Fn(&Refund, &Chargeback) -> bool) {
        // Reported again whenever either is repeated, which restores a report that was lost in a crash.
        let refunds = self.payment.state.refunds.iter();
        let done = refunds.filter(|refund| refund.status == RefundStatus::Succeeded);
        let pairs = done
            .flat_map(|refund| self.payment.open_chargebacks().map(move |chargeback| (refund, chargeback)));
        let of = |(refund, chargeback): (&Refund, &Chargeback)| {
            let taken_back =
                chargeback.amount.map_or_else(|| "the whole amount".to_owned(), |amount| amount.to_string());
            Discrepancy {
                kind: DiscrepancyKind::RefundedAndChargedBack,
                detail: format!(
                    "refund {} of {} was done, and chargeback {} took back {taken_back}",
                    refund.id, refund.amount, chargeback.id
                ),
                stated: "",
                about: Some(format!("{} {}", refund.id, chargeback.id)),
            }
        };
        let found: Vec<_> = pairs.filter(|(refund, chargeback)| which(refund, chargeback)).map(of).collect();
        self.discrepancies.extend(found);
    }
}
