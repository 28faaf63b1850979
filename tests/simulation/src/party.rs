//! Bank of a world: one simulated at the port, or a counterparty behind an adapter's own code.

use std::sync::Arc;

use quita_domain::acquiring::OperationAnswer;
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::method::Method;
use quita_domain::operation::Operation;
use quita_domain::payment::Payment;
use quita_ports::{AcquirerFactory, Clock};

use crate::account::Account;
use crate::bank::{Bank, Holding, NodeBank, strange_notice};
use crate::node::Fuse;
use crate::provider::view::View;
use crate::provider::{Provider, Received, Trade};
use crate::world::{Manner, World};

/// Kind of a bank: simulated at the port, or a counterparty behind an adapter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Make {
    /// Bank simulated at the port.
    Drawn(Manner),
    /// Counterparty that an adapter calls.
    Provider(Trade),
}

/// Bank of a world, and its books.
#[derive(Clone)]
pub(crate) enum Party {
    Drawn(Arc<Bank>),
    Provider(Arc<Provider>),
}

impl Party {
    pub(crate) fn new(place: usize, make: Make) -> Self {
        match make {
            Make::Drawn(manner) => Self::Drawn(Arc::new(Bank::new(place, manner))),
            Make::Provider(trade) => Self::Provider(Arc::new(Provider::new(place, trade))),
        }
    }

    pub(crate) fn name(&self) -> &AcquirerName {
        match self {
            Self::Drawn(bank) => bank.name(),
            Self::Provider(provider) => provider.name(),
        }
    }

    /// Returns true if it takes payments by this method.
    pub(crate) fn takes(&self, method: Method) -> bool {
        match self {
            Self::Drawn(_) => true,
            Self::Provider(provider) => provider.spec().methods.contains(&method),
        }
    }

    /// Returns the bank as one node reaches it.
    pub(crate) fn factory(
        &self,
        world: &Arc<World>,
        fuse: &Arc<Fuse>,
        time_out_ms: u64,
        clock: Arc<dyn Clock>,
    ) -> Arc<dyn AcquirerFactory> {
        match self {
            Self::Drawn(bank) => Arc::new(NodeBank::new(world, fuse, bank, time_out_ms)),
            Self::Provider(provider) => provider.factory(world, fuse, clock),
        }
    }

    /// Returns the state of a payment in its books now, if they have it.
    pub(crate) fn account(&self, world: &World, id: TransactionId) -> Option<Account> {
        match self {
            Self::Drawn(bank) => bank.books().get_mut(&id).map(|entry| {
                entry.pass_to(world.clock.now());
                entry.account()
            }),
            Self::Provider(provider) => provider.account(world, id),
        }
    }

    /// Returns the state of a refund in its books by our id, or `None` if it does not keep our ids.
    pub(crate) fn became_of_refund(
        &self,
        world: &World,
        id: TransactionId,
        refund: &Operation,
    ) -> Option<OperationAnswer> {
        match self {
            Self::Drawn(bank) => bank.became_of_refund(world, id, refund),
            Self::Provider(provider) => provider.became_of_refund(world, id, refund),
        }
    }

    /// Returns true if a card that is sent again is charged again.
    pub(crate) fn forgets_keys(&self) -> bool {
        match self {
            Self::Drawn(bank) => bank.forgets_keys(),
            Self::Provider(provider) => provider.forgets_keys(),
        }
    }

    /// Returns true if a forgotten refund is taken for the next one of its amount, and its notice counts. Its sums have
    /// no ids, but its notices do. No real acquirer behaves like this.
    pub(crate) fn tells_refunds_twice(&self) -> bool {
        match self {
            Self::Drawn(bank) => bank.tells_refunds_twice(),
            Self::Provider(_) => false,
        }
    }

    /// Learns which charge of a payment counts for the service, if it may have several.
    pub(crate) fn learn_counted(&self, payment: &Payment) {
        match self {
            Self::Drawn(_) => {}
            Self::Provider(provider) => provider.learn_counted(payment),
        }
    }

    /// Returns the payments whose money it has.
    pub(crate) fn paid(&self, world: &World) -> Vec<TransactionId> {
        match self {
            Self::Drawn(bank) => {
                let books = bank.books();
                let paid = books.iter().filter(|(_, entry)| entry.holding == Holding::Captured);
                paid.map(|(id, _)| *id).collect()
            }
            Self::Provider(provider) => provider.paid(world),
        }
    }

    /// Returns all that came in, if it has lists of that.
    pub(crate) fn received(&self, world: &World) -> Option<Vec<Received>> {
        match self {
            Self::Drawn(_) => None,
            Self::Provider(provider) => provider.received(world),
        }
    }

    /// Returns its view of what it has.
    pub(crate) fn view(&self) -> View {
        match self {
            Self::Drawn(_) => View::default(),
            Self::Provider(provider) => provider.view(),
        }
    }

    /// Sends notices of what happened without a request since the last time.
    pub(crate) fn tell_news(&self, world: &Arc<World>) {
        match self {
            Self::Drawn(_) => {}
            Self::Provider(provider) => provider.send_notices(world),
        }
    }

    /// Sends a notice of something unknown here.
    pub(crate) fn strange_notice(&self, world: &Arc<World>) {
        match self {
            Self::Drawn(bank) => strange_notice(world, bank),
            Self::Provider(provider) => provider.forge_notice(world),
        }
    }
}
