//! The adapter on one thread: which call of ours is which of the bank's.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use quita_domain::acquiring::{Charge, ChargeAnswer, ChargeQuery, Identified, OperationAnswer, Reference};
use quita_domain::operation::{Operation, OperationKind};
use quita_ports::{Acquirer, Clock};

use super::factory::Current;
use super::link::Link;
use super::{cancel, charge, identify, refund};

/// Reason why nothing is captured: a Pix is paid or not.
const NOTHING_TO_CAPTURE: &str = "nothing_to_capture";

/// Adapter that calls the bank from one thread, over its own connections.
pub(super) struct ApiPix {
    current: Arc<Current>,
    clock: Arc<dyn Clock>,
    /// Opened by the first call.
    link: RefCell<Option<Rc<Link>>>,
}

impl ApiPix {
    pub(super) const fn new(current: Arc<Current>, clock: Arc<dyn Clock>) -> Self {
        Self { current, clock, link: RefCell::new(None) }
    }

    /// Returns the link to the bank with the current settings. A call keeps it until its end, whatever is configured
    /// meanwhile.
    fn link(&self) -> Rc<Link> {
        let credential = self.current.credential();
        let mut kept = self.link.borrow_mut();
        match &*kept {
            Some(link) if Arc::ptr_eq(&link.credential, &credential) => Rc::clone(link),
            Some(_) | None => Rc::clone(kept.insert(Rc::new(Link::open(credential)))),
        }
    }
}

#[async_trait(?Send)]
impl Acquirer for ApiPix {
    async fn charge(&self, charge: &Charge) -> ChargeAnswer {
        charge::charge(&self.link(), charge, self.clock.now()).await
    }

    async fn inquire(&self, query: &ChargeQuery) -> ChargeAnswer {
        charge::inquire(&self.link(), query).await
    }

    async fn operate(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        match operation.kind {
            OperationKind::Cancel => cancel::cancel(&self.link(), query).await,
            OperationKind::Refund(amount) => refund::refund(&self.link(), query, operation, amount).await,
            OperationKind::Capture(_) => OperationAnswer::Refused(NOTHING_TO_CAPTURE.into()),
        }
    }

    async fn inquire_operation(&self, query: &ChargeQuery, operation: &Operation) -> OperationAnswer {
        match operation.kind {
            OperationKind::Cancel => cancel::inquire(&self.link(), query).await,
            OperationKind::Refund(amount) => refund::inquire(&self.link(), query, operation, amount).await,
            OperationKind::Capture(_) => OperationAnswer::Refused(NOTHING_TO_CAPTURE.into()),
        }
    }

    async fn identify(&self, reference: &Reference) -> Identified {
        identify::identify(&self.link(), reference).await
    }
}
