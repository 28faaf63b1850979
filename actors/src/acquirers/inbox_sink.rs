//! The sink to which acquirers and the edge submit notices.
//!
//! A fact that its payment can accept now is stored with the payment, in one write. The inbox holds the others: facts
//! that came too early, that belong to payments not yet known, or that an operator has to see.

use std::sync::Arc;

use async_trait::async_trait;
use quita_domain::acquiring::Notice;
use quita_domain::payment::Command;
use quita_ports::{NoticeSink, SinkError};

use crate::acquirers::inbox::{InboxActor, Submit};
use crate::actor::mailbox::NoAnswer;
use crate::actor::slot::Slot;
use crate::store::fuse::Fuse;
use crate::transaction::commands::Commands;
use crate::transaction::messages::Asker;

/// Takes notices while the store can be trusted.
#[derive(Clone)]
pub(crate) struct InboxSink {
    pub(crate) inbox: Arc<Slot<InboxActor>>,
    pub(crate) fuse: Arc<Fuse>,
    pub(crate) commands: Arc<Commands>,
}

impl InboxSink {
    /// Reports the fact to its payment. Returns whether it was new; `None` if it is left for the inbox.
    async fn tell_payment(&self, notice: &Notice) -> Option<bool> {
        let Notice { acquirer, fact, .. } = notice;
        let command = Command::Notified { acquirer: acquirer.clone(), fact: fact.clone() };
        let asker = Asker::Acquirer(acquirer.clone());
        // Whatever keeps the payment from accepting it, the inbox stores the fact and delivers it again.
        let executed = self.commands.execute_for(asker, notice.transaction_id, command).await.ok()?;
        // The inbox keeps a fact until the exception about it is stored; the payment holds no such report.
        executed.unstored.is_empty().then_some(executed.is_changed)
    }
}

#[async_trait]
impl NoticeSink for InboxSink {
    async fn submit(&self, notice: Notice) -> Result<bool, SinkError> {
        self.fuse.check().map_err(SinkError::Store)?;
        if let Some(is_new) = self.tell_payment(&notice).await {
            return Ok(is_new);
        }
        match self.inbox.mailbox().ask(Submit(notice)).await {
            Ok(result) => result.map_err(SinkError::Store),
            Err(NoAnswer::Full | NoAnswer::Died) => Err(SinkError::Busy),
        }
    }
}
