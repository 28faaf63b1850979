//! Pages of lists whose entries are parts of payments: deliveries, refunds, disputes.

use actix_web::HttpResponse;
use quita_actors::Denied;
use quita_domain::identity::Owner;
use quita_domain::listing::{Cursor, EntryCursor};
use quita_domain::payment::Payment;
use quita_ports::{Listed, StoreError, Unreadable, place_of};
use serde::Serialize;

use super::answer::ListPage;
use super::edge::Edge;
use super::errors::ApiError;

/// List of entries, with its filter.
pub(super) trait EntryList {
    /// An entry as the API shows it.
    type View: Serialize;

    /// Reads payments that hold matching entries, newest first, after the cursor, at most `limit`.
    async fn read(&self, after: Option<Cursor>, limit: usize) -> Result<Vec<Listed>, Denied>;

    /// Returns the matching entries of a payment, newest first, each with its index in the payment.
    fn entries(&self, payment: &Payment) -> Vec<(u32, Self::View)>;
}

/// Entry of a page: its cursor, and its view unless its payment can't be read.
type CursoredView<V> = (EntryCursor, Option<V>);

/// Answers with the page after the cursor.
pub(super) async fn page<L: EntryList>(
    edge: &Edge,
    owner: &Owner,
    list: &L,
    cursor: Option<EntryCursor>,
    limit: usize,
) -> Result<HttpResponse, ApiError> {
    let mut found = rest_of_payment(edge, owner, list, cursor).await?;
    let mut after = cursor.map(|cursor| cursor.payment);
    // One entry beyond the limit shows that a further page follows.
    while found.len() <= limit {
        let listed = list.read(after, limit).await?;
        let Some(last) = listed.last() else { break };
        after = Some(place_of(last));
        found.extend(listed.iter().flat_map(|listed| entries_of(list, listed)));
        // The number of payments decides, not that of entries: a listed payment may have fewer matching entries than
        // there is room for.
        if listed.len() < limit {
            break;
        }
    }
    let has_more = found.len() > limit;
    found.truncate(limit);
    let next_cursor = found.last().filter(|_| has_more).map(|(cursor, _)| cursor.to_string());
    let mut data = Vec::new();
    let mut unreadable = Vec::new();
    for (cursor, view) in found {
        match view {
            Some(view) => data.push(view),
            None => unreadable.push(cursor.payment.id.to_string()),
        }
    }
    Ok(HttpResponse::Ok().json(ListPage { data, has_more, next_cursor, unreadable }))
}

/// Returns the remaining entries of the cursor's payment, which is read again if it may have more.
async fn rest_of_payment<L: EntryList>(
    edge: &Edge,
    owner: &Owner,
    list: &L,
    cursor: Option<EntryCursor>,
) -> Result<Vec<CursoredView<L::View>>, ApiError> {
    let Some(after) = cursor.filter(|after| after.index > 0) else { return Ok(Vec::new()) };
    let listed = match edge.payments.read_own(after.payment.id, owner).await {
        Ok(payment) => Ok(Payment::clone(&payment)),
        // A payment that has become unreadable is named in the page, as elsewhere in the list, and does not end it.
        Err(Denied::StoreUnavailable(StoreError::Unreadable(_))) => Err(Unreadable(after.payment)),
        Err(denied) => return Err(denied.into()),
    };
    Ok(entries_of(list, &listed).into_iter().filter(|(cursor, _)| cursor.index < after.index).collect())
}

/// Returns the entries of one payment.
fn entries_of<L: EntryList>(list: &L, listed: &Listed) -> Vec<CursoredView<L::View>> {
    match listed {
        Ok(payment) => {
            let cursor = |index| EntryCursor {
                payment: Cursor { created_at: payment.created_at, id: payment.id },
                index,
            };
            let entries = list.entries(payment).into_iter();
            entries.map(|(index, view)| (cursor(index), Some(view))).collect()
        }
        // Index 0 is the last one of a payment, so the next page begins with the next payment.
        Err(Unreadable(payment)) => vec![(EntryCursor { payment: *payment, index: 0 }, None)],
    }
}

/// Returns the parts of a payment that match, newest first, each with its index.
pub(super) fn matching<'a, T>(
    parts: &'a [T],
    matches: impl Fn(&T) -> bool + 'a,
) -> impl Iterator<Item = (u32, &'a T)> + 'a {
    let numbered = parts.iter().enumerate().rev().filter(move |(_, part)| matches(part));
    numbered.filter_map(|(place, part)| Some((u32::try_from(place).ok()?, part)))
}
