//! The record of a payment link: the merchant's view of it.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;

use super::parts::{AskedTerms, Shipping, SplitRecord, UtmRecord};
use super::wire::Printed;
use crate::identity::{LinkId, Mode, TransactionId};
use crate::link::{KnownPayer, Link, LinkDue, LinkStatus};
use crate::method::Method;
use crate::money::Money;
use crate::order::{Address, Item, Utm};
use crate::time::Timestamp;

/// A payment link as the API shows it. Parts that were not requested are `null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LinkRecord<'a> {
    link_id: Printed<LinkId>,
    mode: Mode,
    status: LinkStatus,
    url: Option<String>,
    title: &'a str,
    description: Option<&'a str>,
    amount: Printed<Money>,
    currency: &'static str,
    methods: Vec<&'static str>,
    max_installments: u8,
    expires_at: Printed<Timestamp>,
    uses: u32,
    paid_count: u64,
    payments: Vec<Printed<TransactionId>>,
    success_url: Option<&'a str>,
    external_reference: Option<&'a str>,
    metadata: &'a BTreeMap<String, String>,
    items: Option<Vec<ItemRecord<'a>>>,
    shipping: Option<Shipping>,
    splits: Option<Vec<SplitRecord<'a>>>,
    utm: Option<UtmRecord<'a>>,
    customer: Option<CustomerRecord<'a>>,
    due_date: Option<Printed<NaiveDate>>,
    due_in_days: Option<u16>,
    terms: Option<AskedTerms<'a>>,
    postback_url: Option<&'a str>,
    created_at: Printed<Timestamp>,
    closed_at: Option<Printed<Timestamp>>,
}

/// Facts that the record of a link shows in addition to the link itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkFacts {
    /// Its status.
    pub status: LinkStatus,
    /// Address of its page; absent while this node can't derive it.
    pub url: Option<String>,
    /// Number of payments that were ever paid.
    pub paid_count: u64,
    /// Its newest payments, newest first.
    pub payments: Vec<TransactionId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct ItemRecord<'a> {
    id: Option<Printed<uuid::Uuid>>,
    name: &'a str,
    quantity: u64,
    price: Printed<Money>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct CustomerRecord<'a> {
    first_name: Option<&'a str>,
    last_name: Option<&'a str>,
    document: Option<&'a str>,
    document_type: Option<&'static str>,
    email: Option<&'a str>,
    phone_number: Option<&'a str>,
    address: Option<&'a Address>,
}

impl<'a> LinkRecord<'a> {
    /// Returns the record of a link.
    pub fn of(link: &'a Link, facts: LinkFacts) -> Self {
        let offer = &link.offer;
        let Utm { source, medium, campaign, term, content } = &offer.utm;
        let item = |item: &'a Item| ItemRecord {
            id: item.id.map(Printed),
            name: &item.name,
            quantity: item.quantity,
            price: Printed(item.price),
        };
        let (due_date, due_in_days) = match offer.due {
            Some(LinkDue::On(date)) => (Some(Printed(date)), None),
            Some(LinkDue::InDays(days)) => (None, Some(days)),
            None => (None, None),
        };
        Self {
            link_id: Printed(link.id),
            mode: link.owner.mode,
            status: facts.status,
            url: facts.url,
            title: &offer.title,
            description: offer.description.as_deref(),
            amount: Printed(offer.amount),
            currency: "BRL",
            methods: offer.methods.iter().copied().map(Method::label).collect(),
            max_installments: offer.max_installments,
            expires_at: Printed(link.expires_at),
            uses: offer.uses,
            paid_count: facts.paid_count,
            payments: facts.payments.into_iter().map(Printed).collect(),
            success_url: offer.success_url.as_deref(),
            external_reference: offer.external_reference.as_deref(),
            metadata: &offer.metadata,
            items: (!offer.items.is_empty()).then(|| offer.items.iter().map(item).collect()),
            shipping: offer.shipping_fee.map(|fee| Shipping { fee: Printed(fee) }),
            splits: (!offer.splits.is_empty()).then(|| SplitRecord::all_of(&offer.splits, None)),
            utm: (!offer.utm.is_empty()).then_some(UtmRecord { source, medium, campaign, term, content }),
            customer: offer.customer.as_ref().map(CustomerRecord::of),
            due_date,
            due_in_days,
            terms: (!offer.terms.is_empty()).then(|| AskedTerms::of(&offer.terms)),
            postback_url: offer.postback_url.as_deref(),
            created_at: Printed(link.created_at),
            closed_at: link.closed_at.map(Printed),
        }
    }
}

impl<'a> CustomerRecord<'a> {
    fn of(known: &'a KnownPayer) -> Self {
        Self {
            first_name: known.first_name.as_deref(),
            last_name: known.last_name.as_deref(),
            document: known.document.as_ref().map(|document| document.as_str()),
            document_type: known.document.as_ref().map(|document| document.kind().as_str()),
            email: known.email.as_deref(),
            phone_number: known.phone.as_ref().map(|phone| phone.as_str()),
            address: known.address.as_ref(),
        }
    }
}
