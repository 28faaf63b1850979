//! Finding charges: by Pagar.me's own ids if they are known, and by the code if there may be more.
//!
//! Codes are not unique at Pagar.me. Of several charges with one code, the oldest that holds money or can be paid
//! represents the payment. The holdings of the others are stated separately.

use std::collections::BTreeSet;

use quita_domain::acquiring::{
    CallFailure, ChargeAnswer, ChargeQuery, Fact, Holding, Identified, Reference, SecondCharge, Statement,
};

use super::call::{Line, MAX_ORDERS, Reply};
use super::code;
use super::order::{Charge, ChargeId, Order, OrderId};
use super::payables::{Page, Payable};
use super::statement::{self, Reader};
use super::status::{ChargeStatus, Step};
use crate::field::Unreadable;

/// Maximum number of pages with the payables of one charge.
const MAX_PAGES_OF_CHARGE: usize = 20;

/// Reason why there is no charge to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Missing {
    /// Pagar.me has none.
    Unknown,
    /// No usable answer.
    Failed(CallFailure),
}

impl Line {
    /// Returns the charges of a payment, at least one; the one that represents it is first.
    pub(super) async fn charges(&self, query: &ChargeQuery) -> Result<Vec<Charge>, Missing> {
        let known = order_id(&query.reference);
        let orders = match known {
            Some(id) if !query.may_have_others => vec![self.order_by_id(&id).await?],
            Some(id) => self.listed_with(query, &id).await?,
            None => self.listed(query).await?,
        };
        let charges: Vec<Charge> = orders.into_iter().flat_map(|order| order.charges).collect();
        if charges.is_empty() {
            return Err(unclear("the order has no charge"));
        }
        Ok(with_the_counted_first(query, charges))
    }

    /// Returns the orders with a payment's code, at least one, oldest first.
    pub(super) async fn listed(&self, query: &ChargeQuery) -> Result<Vec<Order>, Missing> {
        let code = code::write(query.id);
        let listed = Order::read_list(&body(self.orders_of(&code).await)?).map_err(unreadable)?;
        // Further orders may follow a full page, one of which may hold money.
        if listed.len() >= MAX_ORDERS {
            return Err(unclear("the code has too many orders"));
        }
        let mut orders: Vec<Order> =
            // The query's filter is not relied upon: an order with another code must never represent this payment.
            listed.into_iter().filter(|order| order.code.as_deref() == Some(code.as_str())).collect();
        orders.sort_by_key(|order| order.created_at);
        if orders.is_empty() { Err(Missing::Unknown) } else { Ok(orders) }
    }

    /// Returns the listed orders, and the known one, which a lagging list may lack.
    async fn listed_with(&self, query: &ChargeQuery, known: &OrderId) -> Result<Vec<Order>, Missing> {
        let mut orders = match self.listed(query).await {
            Err(Missing::Unknown) => Vec::new(),
            listed => listed?,
        };
        if !orders.iter().any(|order| order.id == *known) {
            orders.push(self.order_by_id(known).await?);
        }
        Ok(orders)
    }

    /// Returns an order by its id.
    pub(super) async fn order_by_id(&self, id: &OrderId) -> Result<Order, Missing> {
        let order = Order::read(&body(self.order(id).await)?).map_err(unreadable)?;
        if order.id == *id { Ok(order) } else { Err(unclear("the answer is about another order")) }
    }

    /// Returns a charge by its id.
    pub(super) async fn charge_by_id(&self, id: &ChargeId) -> Result<Charge, Missing> {
        let charge = Charge::read(&body(self.charge(id).await)?).map_err(unreadable)?;
        if charge.id == *id { Ok(charge) } else { Err(unclear("the answer is about another charge")) }
    }

    /// Returns a page of payables.
    pub(super) async fn page_of_payables(&self, query: &[(&str, &str)]) -> Result<Page, Missing> {
        Page::read(&body(self.payables(query).await)?).map_err(unreadable)
    }

    /// Returns all payables of a charge, if there are any yet.
    pub(super) async fn payables_of(&self, id: &ChargeId) -> Result<Vec<Payable>, Missing> {
        let mut found = Vec::new();
        let mut cursors = BTreeSet::new();
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES_OF_CHARGE {
            let mut query = vec![("charge_id", id.as_str()), ("size", "100")];
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = self.page_of_payables(&query).await?;
            found.extend(page.payables.into_iter().filter(|payable| payable.charge_id.as_ref() == Some(id)));
            // A repeated cursor means that the list is circular.
            cursor = page.cursor.filter(|cursor| cursors.insert(cursor.clone()));
            if cursor.is_none() {
                found.sort_by(|one: &Payable, other| one.id.cmp(&other.id));
                // A circular list returns some payables again, which sums must not count twice.
                found.dedup_by(|one, other| one.id == other.id);
                return Ok(found);
            }
        }
        Err(unclear("a charge has too many payables"))
    }

    /// Returns the payment of the charge, or of the order, that a reference names.
    pub(super) async fn identified(&self, reference: &Reference) -> Identified {
        let code = match (charge_id(reference), order_id(reference)) {
            (Some(id), _) => self.charge_by_id(&id).await.map(|charge| charge.code),
            (None, Some(id)) => self.order_by_id(&id).await.map(|order| order.code),
            (None, None) => return Identified::Unknown,
        };
        match code {
            Ok(code) => {
                let payment = code.as_deref().and_then(code::read);
                payment.map_or(Identified::Unknown, Identified::Payment)
            }
            Err(Missing::Unknown) => Identified::NotFound,
            Err(Missing::Failed(failure)) => Identified::Failed(failure),
        }
    }
}

pub(super) fn unclear(why: &str) -> Missing {
    Missing::Failed(CallFailure::Unknown(why.to_owned()))
}

fn unreadable(Unreadable(field): Unreadable) -> Missing {
    unclear(&format!("Pagar.me's answer can't be read: {field}"))
}

/// Returns the body of an answer to an inquiry. Only 404 means that there is nothing: any other refusal concerns the
/// inquiry itself.
pub(super) fn body(reply: Reply) -> Result<Vec<u8>, Missing> {
    match reply {
        Reply::Body(body) => Ok(body),
        Reply::NotFound(_) => Err(Missing::Unknown),
        Reply::Refused(reason) => Err(unclear(&format!("the question was refused: {reason}"))),
        Reply::Failed(failure) => Err(Missing::Failed(failure)),
    }
}

/// Returns the order that a reference names.
pub(super) fn order_id(reference: &Reference) -> Option<OrderId> {
    reference.get(super::ORDER_ID).and_then(OrderId::parse)
}

/// Returns the charge that a reference names.
pub(super) fn charge_id(reference: &Reference) -> Option<ChargeId> {
    reference.get(super::CHARGE_ID).and_then(ChargeId::parse)
}

/// Puts the charge that represents the payment first: the one that has done so. For an unpaid PIX or boleto, another
/// charge that was paid takes its place. If none has, it is the charge nearest to holding money, or the oldest of
/// several. Charges that can't be the payment's are last, because another method's charge may bear its code.
fn with_the_counted_first(query: &ChargeQuery, mut charges: Vec<Charge>) -> Vec<Charge> {
    let counted = charge_id(&query.reference);
    let is_unpaid_code = query.method.has_code() && query.paid_amount.is_none();
    charges.sort_by_key(|charge| {
        let standing = Standing::of(charge);
        let takes_its_place = is_unpaid_code && standing == Standing::Money;
        let is_counted = counted.as_ref() == Some(&charge.id);
        let is_strange = !is_counted && statement::mismatch(query, charge).is_some();
        (is_strange, !takes_its_place, !is_counted, standing)
    });
    charges
}

/// Ranks how near a charge is to holding the payer's money: the lowest rank represents the payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    Money,
    Limit,
    /// Can be paid.
    Open,
    Undecided,
    /// Was paid and refunded.
    GivenBack,
    Nothing,
}

impl Standing {
    fn of(charge: &Charge) -> Self {
        match (&charge.status, &charge.last.step) {
            (ChargeStatus::Paid | ChargeStatus::ChargedBack, _) => Self::Money,
            (ChargeStatus::Pending, Step::Held) => Self::Limit,
            (ChargeStatus::Pending, Step::Waiting) => Self::Open,
            (ChargeStatus::Pending | ChargeStatus::Processing | ChargeStatus::Other(_), _) => Self::Undecided,
            (ChargeStatus::Canceled, _) if charge.paid.is_some() => Self::GivenBack,
            (ChargeStatus::Canceled | ChargeStatus::Failed, _) => Self::Nothing,
        }
    }
}

/// Returns the statements of the charges of one payment.
pub(super) fn answer(query: &ChargeQuery, charges: &[Charge], reader: Reader<'_>) -> ChargeAnswer {
    let Some((first, others)) = charges.split_first() else { return ChargeAnswer::NotFound };
    let held: Vec<Fact> = others.iter().filter_map(|charge| second(query, charge, reader)).collect();
    match reader.answer(query, first) {
        ChargeAnswer::Known(mut statement) => {
            statement.facts.extend(held);
            ChargeAnswer::Known(statement)
        }
        // The outcome of the representing charge may never be known, but the others still hold something.
        ChargeAnswer::Failed(CallFailure::Unknown(why)) if !held.is_empty() => {
            let unclear = Fact::Unclear { id: first.id.to_string(), text: why };
            let facts = std::iter::once(unclear).chain(held).collect();
            ChargeAnswer::Known(Statement { facts, reference: Reference::none() })
        }
        answer @ (ChargeAnswer::Accepted(_)
        | ChargeAnswer::UnderReview(_)
        | ChargeAnswer::WithoutCode(_)
        | ChargeAnswer::NumberTaken(_)
        | ChargeAnswer::Foreign(_)
        | ChargeAnswer::Mismatched(_)
        | ChargeAnswer::Refused(_)
        | ChargeAnswer::NotFound
        | ChargeAnswer::Failed(_)) => answer,
    }
}

/// States the holdings of a second charge, if it bears the payment's code at all. One of another amount or method needs
/// a person.
fn second(query: &ChargeQuery, charge: &Charge, reader: Reader<'_>) -> Option<Fact> {
    if statement::is_of_another_order(query, charge) {
        let charge_id = &charge.id;
        tracing::warn!(transaction.id = %query.id, pagarme.charge_id = %charge_id, "a charge belongs to another order");
        return None;
    }
    let taken = charge.taken();
    let given_back = charge.given_back();
    let holds = match Standing::of(charge) {
        Standing::Money if taken > given_back => Holding::Money { taken, given_back },
        Standing::Limit => Holding::Limit,
        Standing::Open => Holding::Code,
        Standing::Money | Standing::Undecided | Standing::GivenBack | Standing::Nothing => return None,
    };
    let id = charge.id.to_string();
    if let Some(what) = statement::mismatch(query, charge) {
        return Some(Fact::Unclear { text: format!("{what}, and charge {id} {holds}"), id });
    }
    let reference = reader.reference(query, charge);
    Some(Fact::SecondCharge(SecondCharge { id, reference, holds }))
}
