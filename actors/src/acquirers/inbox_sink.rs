//! The inbox as acquirers and the edge see it.

use std::sync::Arc;

use async_trait::async_trait;
use quita_domain::acquiring::Notice;
use quita_ports::{NoticeSink, SinkError};

use crate::acquirers::inbox::{InboxActor, Submit};
use crate::actor::mailbox::NoAnswer;
use crate::actor::slot::Slot;
use crate::store::fuse::Fuse;

/// Takes notices while the store can be trusted.
#[derive(Clone)]
pub(crate) struct InboxSink {
    pub(crate) inbox: Arc<Slot<InboxActor>>,
    pub(crate) fuse: Arc<Fuse>,
}

#[async_trait]
impl NoticeSink for InboxSink {
    async fn submit(&self, notice: Notice) -> Result<bool, SinkError> {
        self.fuse.check().map_err(SinkError::Store)?;
        match self.inbox.mailbox().ask(Submit(notice)).await {
            Ok(result) => result.map_err(SinkError::Store),
            Err(NoAnswer::Full | NoAnswer::Died) => Err(SinkError::Busy),
        }
    }
}
