//! The adapter on the thread of an actor.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use quita_domain::acquiring::{
    CallFailure, Charge, ChargeAnswer, ChargeQuery, Identified, OperationAnswer, Reference,
};
use quita_domain::operation::{Operation, OperationKind};
use quita_domain::order::Terms;
use quita_ports::Acquirer;

use super::OUR_NUMBER;
use super::factory::Current;
use super::link::Link;
use super::request::Registration;
use super::statement::Reader;
use super::title::Title;
use crate::bank_boleto::names;
use crate::bearer::Answer;

/// Reason for refusing every refund: the money of a boleto is returned by other means.
const REFUND_UNSUPPORTED: &str = "refund_unsupported";

/// One customer of the bank.
pub(super) struct Sicoob {
    current: Arc<Current>,
    opened: RefCell<Option<Rc<Link>>>,
}

impl Sicoob {
    pub(super) fn new(current: Arc<Current>) -> Self {
        Self { current, opened: RefCell::default() }
    }

    /// Returns the link to the bank with the current configuration.
    fn link(&self) -> Rc<Link> {
        let credential = self.current.credential();
        let mut opened = self.opened.borrow_mut();
        match opened.as_ref().filter(|link| Arc::ptr_eq(&link.credential, &credential)) {
            Some(link) => Rc::clone(link),
            None => {
                let link = Rc::new(Link::open(credential));
                *opened = Some(Rc::clone(&link));
                link
            }
        }
    }
}

/// Result of reading a title.
enum TitleLookup {
    Title(Box<Title>),
    /// The bank has no title with the number.
    None,
    Failed(CallFailure),
}

async fn find(link: &Link, query: &ChargeQuery, our_number: u32) -> TitleLookup {
    match link.read(our_number.into()).await {
        Ok(Answer::Success(answer)) => read(&answer, query),
        // Only an empty answer means that there is none: a refusal concerns the inquiry itself.
        Ok(Answer::NotFound(why) | Answer::Refused(why)) => TitleLookup::Failed(CallFailure::Unknown(why)),
        Err(failure) => TitleLookup::Failed(failure),
    }
}

fn read(answer: &serde_json::Value, query: &ChargeQuery) -> TitleLookup {
    match Title::read(answer, query.amount) {
        Ok(Some(title)) => TitleLookup::Title(Box::new(title)),
        Ok(None) => TitleLookup::None,
        Err(field) => TitleLookup::Failed(CallFailure::Unknown(format!("the answer can't be read: {field}"))),
    }
}

/// Adapts a failure after a request that left: its outcome is unknown.
fn unknown_at_most(failure: CallFailure) -> CallFailure {
    match failure {
        CallFailure::NotDelivered(why) => CallFailure::Unknown(why),
        CallFailure::Withheld => CallFailure::Unknown("no inquiry can leave now".to_owned()),
        failure @ (CallFailure::Unknown(_) | CallFailure::Throttled { .. }) => failure,
    }
}

/// Registers a title. Any refusal is followed by an inquiry, because the number may have been registered before, by us
/// or by somebody else.
async fn register(link: &Link, reader: &Reader<'_>, registration: &Registration) -> ChargeAnswer {
    let refusal = match link.register(registration).await {
        Ok(Answer::Success(answer)) => match read(&answer, reader.query) {
            TitleLookup::Title(title) => return reader.answer(&title),
            TitleLookup::None => None,
            TitleLookup::Failed(failure) => return ChargeAnswer::Failed(failure),
        },
        Ok(Answer::NotFound(why) | Answer::Refused(why)) => Some(why),
        Err(failure) => return ChargeAnswer::Failed(failure),
    };
    match (find(link, reader.query, reader.our_number).await, refusal) {
        (TitleLookup::Title(title), _) => reader.answer(&title),
        // It was refused and is absent under its number: together they prove that there is no title.
        (TitleLookup::None, Some(why)) => ChargeAnswer::Refused(why),
        (TitleLookup::None, None) => {
            ChargeAnswer::Failed(CallFailure::Unknown("the answer has no title".to_owned()))
        }
        (TitleLookup::Failed(failure), _) => ChargeAnswer::Failed(unknown_at_most(failure)),
    }
}

#[async_trait(?Send)]
impl Acquirer for Sicoob {
    async fn charge(&self, charge: &Charge) -> ChargeAnswer {
        let link = self.link();
        let query = &charge.query;
        let not_delivered = |why: &str| ChargeAnswer::Failed(CallFailure::NotDelivered(why.to_owned()));
        let Terms::Boleto(due) = &query.terms else {
            return not_delivered("this acquirer takes boletos alone");
        };
        let Some(our_number) = query.our_number else {
            return not_delivered("no number of our-numbers is left");
        };
        let settings = link.settings();
        let Some(key) = settings.name_keys.first() else {
            return not_delivered("there is no key for the names of boletos");
        };
        // Once the bank has shown a title's name, the title keeps it.
        let shown = query.reference.get(super::YOUR_NUMBER).map(str::to_owned);
        let your_number = shown.unwrap_or_else(|| names::your_number(key, query.id));
        let registration = Registration::new(charge, due, our_number, your_number, settings);
        let reader = Reader { credential: &link.credential, query, our_number };
        register(&link, &reader, &registration).await
    }

    async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer {
        // Without a number, nothing was sent.
        let Some(our_number) = query.our_number else { return ChargeAnswer::NotFound };
        let link = self.link();
        match find(&link, query, our_number).await {
            TitleLookup::Title(title) => {
                Reader { credential: &link.credential, query, our_number }.answer(&title)
            }
            TitleLookup::None => ChargeAnswer::NotFound,
            TitleLookup::Failed(failure) => ChargeAnswer::Failed(failure),
        }
    }

    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        match operation.kind {
            OperationKind::Cancel => {}
            OperationKind::Refund(_) => return OperationAnswer::Refused(REFUND_UNSUPPORTED.to_owned()),
            OperationKind::Capture(_) => {
                return OperationAnswer::Refused("a boleto is not captured".to_owned());
            }
        }
        let Some(our_number) = query.our_number else {
            return OperationAnswer::Refused("the charge has no number".to_owned());
        };
        let link = self.link();
        let refusal = match link.withdraw(our_number).await {
            Ok(Answer::Success(_)) => return OperationAnswer::Done,
            Ok(Answer::NotFound(why) | Answer::Refused(why)) => why,
            Err(failure) => return OperationAnswer::Failed(failure),
        };
        match self.inquire_operation(query, operation).await {
            // It still exists, because the bank refused to withdraw it.
            OperationAnswer::NotFound => OperationAnswer::Refused(refusal),
            OperationAnswer::Failed(failure) => OperationAnswer::Failed(unknown_at_most(failure)),
            answer @ (OperationAnswer::Done
            | OperationAnswer::Accepted
            | OperationAnswer::Refused(_)
            | OperationAnswer::RefusedPerhaps(_)
            | OperationAnswer::Contradicted(_)) => answer,
        }
    }

    async fn inquire_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        match operation.kind {
            OperationKind::Cancel => {}
            OperationKind::Refund(_) => return OperationAnswer::Refused(REFUND_UNSUPPORTED.to_owned()),
            OperationKind::Capture(_) => {
                return OperationAnswer::Refused("a boleto is not captured".to_owned());
            }
        }
        let Some(our_number) = query.our_number else { return OperationAnswer::NotFound };
        let link = self.link();
        match find(&link, query, our_number).await {
            TitleLookup::Title(title) => {
                Reader { credential: &link.credential, query, our_number }.withdrawn(&title)
            }
            TitleLookup::None => OperationAnswer::NotFound,
            TitleLookup::Failed(failure) => OperationAnswer::Failed(failure),
        }
    }

    /// Reads the title with the number, which contains our own id.
    async fn identify(&self, reference: &Reference) -> Identified {
        let Some(our_number) = reference.get(OUR_NUMBER).and_then(|number| number.parse().ok()) else {
            return Identified::Unknown;
        };
        match self.link().read(our_number).await {
            Ok(Answer::Success(answer)) => match Title::read(&answer, quita_domain::money::Money::ZERO) {
                Ok(Some(title)) if title.number == our_number => {
                    let payment = title.company_id.as_deref().and_then(names::payment_of);
                    payment.map_or(Identified::Unknown, Identified::Payment)
                }
                Ok(Some(_)) | Err(_) => Identified::Unknown,
                Ok(None) => Identified::NotFound,
            },
            Ok(Answer::NotFound(_)) => Identified::NotFound,
            Ok(Answer::Refused(why)) => Identified::Failed(CallFailure::Unknown(why)),
            Err(failure) => Identified::Failed(failure),
        }
    }
}
