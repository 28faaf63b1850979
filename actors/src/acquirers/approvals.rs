//! Recent approval rate of an acquirer: the results of its last tries for one method, by card brand.
//!
//! A try is a charge whose outcome is known, counted when it ends. An issuer's irreversible decline is not the
//! acquirer's doing, and does not count as a try. Nor does a charge that was never delivered: no issuer was asked, and
//! the breaker counts it. A charge that the acquirer explicitly refused counts as not approved, like a decline. A PIX
//! or boleto charge that the acquirer accepted counts as approved.

use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_domain::acquiring::DeclineKind;
use quita_domain::card::Brand;
use quita_domain::numbering::AttemptNumber;
use quita_domain::payment::Payment;
use quita_domain::routing::{Approvals, Attempt, ChargeEnd, TRIES};
use quita_domain::status::Status;

/// Windows of one acquirer for one method: one for each brand, and one for charges without a brand.
const WINDOWS: usize = Brand::ALL.len() + 1;

/// Recent approvals of one acquirer for one method.
#[derive(Debug, Default)]
pub(crate) struct ApprovalWindows(Mutex<[Window; WINDOWS]>);

impl ApprovalWindows {
    fn windows(&self) -> MutexGuard<'_, [Window; WINDOWS]> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a try that ended.
    pub(crate) fn add(&self, brand: Option<Brand>, is_approved: bool) {
        if let Some(window) = self.windows().get_mut(place(brand)) {
            window.add(is_approved);
        }
    }

    /// Returns the approvals among the last tries of this brand, or of charges without a brand.
    pub(crate) fn of(&self, brand: Option<Brand>) -> Approvals {
        self.windows().get(place(brand)).map(Window::told).unwrap_or_default()
    }

    /// Returns the approvals of every brand that was tried at all.
    pub(crate) fn all(&self) -> Vec<(Option<Brand>, Approvals)> {
        let brands = Brand::ALL.into_iter().map(Some).chain([None]);
        let windows = self.windows();
        let told =
            brands.map(|brand| (brand, windows.get(place(brand)).map(Window::told).unwrap_or_default()));
        told.filter(|(_, approvals)| approvals.tries > 0).collect()
    }
}

fn place(brand: Option<Brand>) -> usize {
    let known = brand.and_then(|brand| Brand::ALL.into_iter().position(|one| one == brand));
    known.unwrap_or(Brand::ALL.len())
}

/// The last tries, a bit for each: set if it was approved.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    bits: [u128; 2],
    /// Index of the next bit.
    next: u8,
    tries: u8,
    approved: u8,
}

impl Window {
    fn add(&mut self, is_approved: bool) {
        let word = usize::from(self.next >> 7);
        let bit = 1_u128 << (self.next & 0x7f);
        let Some(word) = self.bits.get_mut(word) else { return };
        // A full window loses its oldest try, whose bit the new one takes.
        if self.tries < TRIES {
            self.tries = self.tries.saturating_add(1);
        } else if *word & bit != 0 {
            self.approved = self.approved.saturating_sub(1);
        }
        *word = if is_approved { *word | bit } else { *word & !bit };
        self.approved = self.approved.saturating_add(u8::from(is_approved));
        self.next = if self.next >= TRIES - 1 { 0 } else { self.next.saturating_add(1) };
    }

    const fn told(&self) -> Approvals {
        Approvals { approved: self.approved, tries: self.tries }
    }
}

/// Returns the tries of a payment that ended by a write, each with whether it was approved. `before` is `None` for the
/// first write.
pub(crate) fn ended<'a>(
    before: Option<&'a Payment>,
    after: &'a Payment,
) -> impl Iterator<Item = (&'a Attempt, bool)> {
    let attempts = after.state.attempts.iter().enumerate();
    let was_open = move |place: usize| {
        let known = before.and_then(|payment| payment.state.attempts.get(place));
        // An attempt that is answered in this process may begin and end with one write.
        known.is_none_or(|attempt| attempt.call.is_open())
    };
    attempts.filter(move |(place, _)| was_open(*place)).filter_map(|(place, attempt)| {
        let is_last = AttemptNumber::at(place) == after.last_attempt();
        Some((attempt, is_approved(after, attempt, is_last)?))
    })
}

/// Returns whether a charge was approved; `None` if it has not ended or is no try.
fn is_approved(payment: &Payment, attempt: &Attempt, is_last: bool) -> Option<bool> {
    match attempt.call.ended()? {
        ChargeEnd::NotDelivered => None,
        // Declined or cancelled although accepted: it has no code to pay with, or ended at once.
        ChargeEnd::Known => Some(!matches!(payment.status(), Status::Declined | Status::Cancelled)),
        ChargeEnd::Declined => {
            let decline = attempt.decline.as_ref().or(payment.state.decline.as_ref().filter(|_| is_last));
            match decline.and_then(|decline| decline.kind) {
                Some(DeclineKind::Irreversible) => None,
                Some(DeclineKind::Reversible) | None => Some(false),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_two_hundred_tries_are_counted_and_no_other() {
        let mut window = Window::default();
        let mut tries = Vec::new();
        for number in 0_u32..1_000 {
            // Neither periodic in two hundred nor in a power of two.
            let is_approved = number % 7 < 3 || number % 11 == 0;
            tries.push(is_approved);
            window.add(is_approved);
            let last = tries.iter().rev().take(200);
            let approved = last.clone().filter(|is_approved| **is_approved).count();
            let told = window.told();
            assert_eq!((usize::from(told.approved), usize::from(told.tries)), (approved, last.count()));
        }
    }

    #[test]
    fn brands_are_counted_apart() {
        let windows = ApprovalWindows::default();
        assert_eq!(windows.all(), []);
        windows.add(Some(Brand::Elo), true);
        windows.add(Some(Brand::Elo), false);
        windows.add(None, true);
        let counted = |approved, tries| Approvals { approved, tries };
        assert_eq!(windows.of(Some(Brand::Elo)), counted(1, 2));
        assert_eq!(windows.of(Some(Brand::Visa)), counted(0, 0));
        assert_eq!(windows.all(), [(Some(Brand::Elo), counted(1, 2)), (None, counted(1, 1))]);
    }
}
