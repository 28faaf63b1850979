//! Ports: the interfaces through which actors and services reach the outside. Adapters implement them; neither side
//! sees the other.

mod acquirer;
mod archive;
pub mod call_time;
mod chance;
mod console;
mod erasure;
mod history;
mod links;
mod mail;
mod numbers;
mod operator;
mod reconciliation;
mod secret_keys;
mod store;
pub mod trace;
mod webhook;

pub use acquirer::{
    Acquirer, AcquirerFactory, AcquirerSpec, LocalIssue, NoticeHead, NoticeReader, NoticeRefused, NoticeSink,
    Preparation, RawNotice, SinkError,
};
pub use archive::ArchiveStore;
pub use chance::{Clock, Dice, Ids};
pub use console::{AuditRead, AuditStore, FiguresStore, KeyringStore, PeopleStore, WholeStore};
pub use erasure::{AuditEraser, ErasureStore, RestingPlace};
pub use history::{HistoryStore, PastFilter, PastPage};
pub use links::{EventLimit, LinkStore};
pub use mail::{Mail, MailError, Mailer};
pub use numbers::{NumberBlock, NumberRange, NumberStore};
pub use operator::{OperatorStore, StoreForm, UpgradeStore, Upgraded};
pub use reconciliation::{
    ChargeReader, ListPage, ListPart, ListReader, PageCursor, PaidPlace, Period, ReconciliationStore, Run,
    RunClaim,
};
pub use secret_keys::{ApplicationPlace, SecretKeyStore, Vault, VaultError};
pub use store::{
    AccessStore, Backlog, DueDelivery, ExceptionStore, InboxStore, Listed, OutboxPlace, PaymentStore, Store,
    StoreError, Unreadable, Write, WriteError, place_of,
};
pub use webhook::{
    DetailKind, FailureDetail, SentWebhook, WebhookRequest, WebhookSender, WebhookSenderFactory,
};
