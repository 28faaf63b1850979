//! Finding sales: by Cielo's own names if they are known, and by the order if there may be more.
//!
//! Listing an order's sales and reading them is one inquiry, so these calls need no distance. An order may have several
//! sales, if an existing one was sent again. One of them represents the payment; the holdings of the others are stated
//! separately.

use quita_domain::acquiring::{
    CallFailure, ChargeAnswer, ChargeQuery, Fact, Holding, Reference, SecondCharge, Statement,
};
use quita_domain::method::Method;
use serde_json::Value;
use tokio::time::Instant;

use super::call::{Line, Reply};
use super::known_sales::KnownSales;
use super::order_id;
use super::reason::Refusal;
use super::sale::{PaymentId, Sale, Status};
use super::spacing::Purpose;
use super::statement::{self, Reader};
use crate::field::{Object, Unreadable};

/// Maximum number of sales of one order that are read.
const MAX_SALES: usize = 8;

/// Reasons why there is no sale to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Missing {
    /// Cielo has none.
    Unknown,
    /// Cielo answered about another sale.
    Mismatched(String),
    /// No usable answer.
    Failed(CallFailure),
}

/// Lookup at Cielo, which has to end by a deadline.
#[derive(Clone, Copy)]
pub(super) struct Lookup<'a> {
    pub(super) line: &'a Line,
    pub(super) known: &'a KnownSales,
    pub(super) deadline: Instant,
}

impl Lookup<'_> {
    /// Returns the sales of a charge, at least one. The one that represents the payment is first.
    pub(super) async fn sales(self, query: &ChargeQuery) -> Result<Vec<Sale>, Missing> {
        let order_id = order_id::write(query.id, query.method);
        let mut wanted = named_in(query);
        if let [payment_id] = wanted.as_slice()
            && !query.may_have_others
        {
            return Ok(vec![self.sale(payment_id, &[&order_id, payment_id.as_str()]).await?]);
        }
        let mut is_listed = false;
        match self.listed(&order_id).await {
            Ok(listed) => {
                is_listed = true;
                let is_new = |payment_id: &PaymentId| !wanted.contains(payment_id);
                let new: Vec<_> = listed.into_iter().filter(is_new).collect();
                wanted.extend(new);
            }
            // The list may lag behind the sales that Cielo named.
            Err(Missing::Unknown) if !wanted.is_empty() => {}
            Err(missing) => return Err(missing),
        }
        let sales = self.read_all(&wanted, is_listed).await?;
        Ok(with_the_counted_first(query, sales))
    }

    /// Reads these sales. It returns all of them, or none. None is only returned if Cielo lists none either.
    async fn read_all(self, wanted: &[PaymentId], is_listed: bool) -> Result<Vec<Sale>, Missing> {
        let mut sales = Vec::new();
        for payment_id in wanted {
            match self.sale(payment_id, &[payment_id.as_str()]).await {
                Err(Missing::Unknown) => {}
                read => sales.push(read?),
            }
        }
        match sales.len() {
            0 if !is_listed => Err(Missing::Unknown),
            // A part of the sales could hide a second charge, so the answer waits until all of them can be read.
            count if count == wanted.len() => Ok(sales),
            _ => Err(unclear("a sale that Cielo names can't be read there")),
        }
    }

    /// Reads one sale.
    pub(super) async fn sale(self, payment_id: &PaymentId, names: &[&str]) -> Result<Sale, Missing> {
        self.line.spacing.turn(names, Purpose::Ask, self.deadline).await.map_err(Missing::Failed)?;
        let sale = Sale::read(&body(self.line.sale(payment_id).await)?).map_err(unreadable)?;
        if sale.payment_id != *payment_id {
            return Err(Missing::Mismatched("the answer is about another sale".to_owned()));
        }
        self.known.learn(&sale);
        Ok(sale)
    }

    /// Lists the sales of an order, at least one, oldest first.
    pub(super) async fn listed(self, order_id: &str) -> Result<Vec<PaymentId>, Missing> {
        self.line.spacing.turn(&[order_id], Purpose::Ask, self.deadline).await.map_err(Missing::Failed)?;
        let listed = read_list(&body(self.line.sales_of(order_id).await)?).map_err(unreadable)?;
        match listed.len() {
            0 => Err(Missing::Unknown),
            1..=MAX_SALES => Ok(listed),
            _ => Err(unclear("the order has too many sales")),
        }
    }
}

fn unclear(why: &str) -> Missing {
    Missing::Failed(CallFailure::Unknown(why.to_owned()))
}

fn unreadable(Unreadable(field): Unreadable) -> Missing {
    unclear(&format!("Cielo's answer can't be read: {field}"))
}

/// Returns the body of an answer to a query. Only 404 means that there is nothing: any other refusal concerns the query
/// itself.
fn body(reply: Reply) -> Result<Vec<u8>, Missing> {
    match reply {
        Reply::Body(body) => Ok(body),
        Reply::NotFound(_) => Err(Missing::Unknown),
        Reply::Refused(Refusal { reason, .. }) => {
            Err(unclear(&format!("the question was refused: {reason}")))
        }
        Reply::Failed(failure) => Err(Missing::Failed(failure)),
    }
}

/// Reads `{"Payments":[{"PaymentId","ReceveidDate"}]}`; `Payment` also occurs, and a single object instead of the list.
fn read_list(body: &[u8]) -> Result<Vec<PaymentId>, Unreadable> {
    let unreadable = Unreadable("Payments");
    let value: Value = serde_json::from_slice(body).map_err(|_| unreadable)?;
    let answer = Object::of(&value);
    let names_it = |name: &&str| {
        value.as_object().is_some_and(|all| all.keys().any(|key| key.eq_ignore_ascii_case(name)))
    };
    let entries: Vec<&Value> = match answer
        .and_then(|answer| answer.get("Payments").or_else(|| answer.get("Payment")))
    {
        Some(Value::Array(entries)) => entries.iter().collect(),
        Some(one @ Value::Object(_)) => vec![one],
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => return Err(unreadable),
        None => match &value {
            Value::Array(entries) => entries.iter().collect(),
            Value::Object(_) if ["Payments", "Payment"].iter().any(names_it) => Vec::new(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                return Err(unreadable);
            }
        },
    };
    let mut listed = Vec::new();
    for entry in entries {
        let entry = Object::of(entry).ok_or(unreadable)?;
        let payment_id = entry.text("PaymentId").as_deref().and_then(PaymentId::parse).ok_or(unreadable)?;
        let received = entry.text("ReceveidDate").or_else(|| entry.text("ReceivedDate")).unwrap_or_default();
        listed.push((received, payment_id));
    }
    // Dates in one format sort as text. With several formats, or none, the order is kept as far as possible.
    listed.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(each_once(listed.into_iter().map(|(_, payment_id)| payment_id)))
}

/// Returns each sale once, in order of first occurrence. A sale named twice would count as a second charge.
fn each_once(sales: impl Iterator<Item = PaymentId>) -> Vec<PaymentId> {
    let mut once = Vec::new();
    for payment_id in sales {
        if !once.contains(&payment_id) {
            once.push(payment_id);
        }
    }
    once
}

/// Returns the sales that an inquiry names: first the one that has represented the payment so far.
fn named_in(query: &ChargeQuery) -> Vec<PaymentId> {
    let references = std::iter::once(&query.reference).chain(&query.others);
    each_once(references.filter_map(statement::payment_id))
}

/// Puts the sale that represents the payment first: the one that has done so. For an unpaid PIX or boleto, another sale
/// that was paid takes its place. If none has, it is the sale nearest to holding money. Sales that can't be the
/// payment's are last, because another method's sale may stand under its order.
fn with_the_counted_first(query: &ChargeQuery, mut sales: Vec<Sale>) -> Vec<Sale> {
    let counted = statement::payment_id(&query.reference);
    let is_unpaid_code = query.method.has_code() && query.paid_amount.is_none();
    sales.sort_by_key(|sale| {
        let standing = standing(query.method, sale);
        // Only a code can be replaced like this: its payer may have paid either code, while a card's sale stays the
        // charge.
        let takes_its_place = is_unpaid_code && standing == HOLDS_MONEY;
        let is_counted = counted.as_ref() == Some(&sale.payment_id);
        let is_strange = !is_counted && statement::mismatch(query, sale).is_some();
        (is_strange, !takes_its_place, !is_counted, standing)
    });
    sales
}

/// [`standing`] of a sale that holds money.
const HOLDS_MONEY: u8 = 0;

/// Ranks how near a sale is to holding the payer's money: the lowest rank represents the payment.
fn standing(method: Method, sale: &Sale) -> u8 {
    match sale.status {
        Status::Paid => HOLDS_MONEY,
        Status::Authorized => 1,
        Status::Pending if sale.captured.is_some() => HOLDS_MONEY,
        Status::Pending => 2,
        Status::NotFinished | Status::Other(_) => 3,
        Status::Refunded if method == Method::Pix => 4,
        Status::Voided | Status::Refunded if sale.captured.is_some() => 4,
        Status::Voided | Status::Refunded => 5,
        Status::Denied | Status::Aborted => 6,
    }
}

/// Returns the statements of the sales of one charge.
pub(super) fn answer(query: &ChargeQuery, sales: &[Sale], reader: Reader<'_>) -> ChargeAnswer {
    let Some((first, others)) = sales.split_first() else { return ChargeAnswer::NotFound };
    let held: Vec<Fact> = others.iter().filter_map(|sale| second(query, sale)).collect();
    match reader.answer(query, first) {
        ChargeAnswer::Known(mut statement) => {
            statement.facts.extend(held);
            ChargeAnswer::Known(statement)
        }
        // The outcome of the representing sale may never be known, but the others still hold something.
        ChargeAnswer::Failed(CallFailure::Unknown(why)) if !held.is_empty() => {
            let unclear = Fact::Unclear { id: first.payment_id.to_string(), text: why };
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

/// States the holdings of a second sale, if it belongs to the payment's order at all. One of another amount or method
/// needs a person.
fn second(query: &ChargeQuery, sale: &Sale) -> Option<Fact> {
    if statement::is_of_another_order(query, sale) {
        tracing::warn!(transaction.id = %query.id, cielo.payment_id = %sale.payment_id, "a sale belongs to another order");
        return None;
    }
    let taken = sale.taken();
    let given_back = sale.given_back();
    let holds_money = standing(query.method, sale) == HOLDS_MONEY && taken > given_back;
    // An authorised second sale takes no money and still blocks the holder's limit, so it is voided too.
    // Of a boleto the same status says that it is registered.
    let holds_limit = is_card(query, sale) && sale.status == Status::Authorized;
    let holds = if holds_money {
        Holding::Money { taken, given_back }
    } else if holds_limit {
        Holding::Limit
    } else {
        return None;
    };
    let id = sale.payment_id.to_string();
    if let Some(what) = statement::mismatch(query, sale) {
        return Some(Fact::Unclear { text: format!("{what}, and sale {id} {holds}"), id });
    }
    let reference = statement::reference(query, sale);
    Some(Fact::SecondCharge(SecondCharge { id, reference, holds }))
}

/// Returns true if the sale is of a card, whatever the payment is.
fn is_card(query: &ChargeQuery, sale: &Sale) -> bool {
    let card = statement::type_of(Method::CreditCard);
    match sale.kind.as_deref() {
        Some(kind) => kind.eq_ignore_ascii_case(card),
        None => query.method == Method::CreditCard,
    }
}
