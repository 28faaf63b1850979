//! What the actors ask of the outside. The adapters answer; neither sees the other.

mod acquirer;
mod chance;
mod store;
mod webhook;

pub use acquirer::{Acquirer, AcquirerFactory, AcquirerSpec, NoticeSink, SinkError};
pub use chance::{Clock, Dice, Ids};
pub use store::{
    AccessStore, Backlog, ExceptionStore, InboxStore, PaymentStore, Store, StoreError, Write, WriteError,
};
pub use webhook::{WebhookRequest, WebhookSender, WebhookSenderFactory};
