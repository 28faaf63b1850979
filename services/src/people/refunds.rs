//! Refunds of a session, summed since the last proof of identity, so that many small ones count as much as a large one.

use quita_domain::money::Money;
use quita_domain::people::Session;

use super::{MAX_RACES, People, PeopleError};

impl People {
    /// Counts a refund that a session is about to request. With a limit, it returns false, and counts nothing, if the
    /// sum would exceed it.
    ///
    /// It is counted before it is requested, in the store that all nodes share, so that concurrent refunds see each
    /// other.
    ///
    /// # Errors
    /// [`PeopleError::SessionOver`], and if the store does not answer.
    pub async fn count_refund(
        &self,
        session: &Session,
        amount: Money,
        limit: Option<Money>,
    ) -> Result<bool, PeopleError> {
        let count = |refunded: Money| {
            let sum = refunded.plus(amount);
            limit.is_none_or(|most| sum <= most).then_some(sum)
        };
        self.change_refunded(session, count).await
    }

    /// Takes back the count of a refund that did not happen: it was refused, or repeats an earlier one.
    ///
    /// # Errors
    /// As [`People::count_refund`].
    pub async fn uncount_refund(&self, session: &Session, amount: Money) -> Result<(), PeopleError> {
        self.change_refunded(session, |refunded| Some(refunded.minus(amount))).await.map(drop)
    }

    /// Changes the stored sum of a session, unless `change` returns `None`. Returns true if it did.
    async fn change_refunded(
        &self,
        session: &Session,
        change: impl Fn(Money) -> Option<Money>,
    ) -> Result<bool, PeopleError> {
        for _ in 0..MAX_RACES {
            let before = self.store.session(&session.id).await?.ok_or(PeopleError::SessionOver)?;
            let Some(refunded) = change(before.refunded) else { return Ok(false) };
            let after = Session { refunded, ..before.clone() };
            if self.store.replace_session(&before, &after).await? {
                return Ok(true);
            }
        }
        Err(PeopleError::Raced)
    }
}
