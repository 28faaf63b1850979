//! Store queries used by both actors and other services: one list for every wrapper of a store.

use quita_ports::{OperatorStore, StoreError, StoreForm};

/// Returns the answer of a store. Unreadable data in a store of a newer form is not damaged: this program is too old
/// for it. The service is about to stop.
///
/// # Errors
/// The store's own error, or [`StoreError::Unavailable`] if the store was upgraded beyond what this program knows.
pub(super) async fn explained<T>(
    store: &(impl OperatorStore + ?Sized),
    answer: Result<T, StoreError>,
) -> Result<T, StoreError> {
    let is_unreadable = matches!(answer, Err(StoreError::Unreadable(_)));
    if is_unreadable && store.follow_form().await.is_ok_and(StoreForm::is_too_new) {
        return Err(StoreError::Unavailable(
            "the store was upgraded to a form that this version does not know".into(),
        ));
    }
    answer
}

/// Implements seven traits of the store by `$implement!`, which gets the kind and the signature of each query. `commit`
/// answers each write separately, so the caller writes it out.
macro_rules! shared_queries {
    ($implement:ident, $commit:item) => {
        $implement! {
            PaymentStore {
                Read fn load(ids: &[TransactionId]) -> Vec<Payment>;
                Read fn load_missing(ids: &[TransactionId]) -> Vec<Payment>;
                Read fn list(filter: &PaymentFilter, after: Option<Cursor>, limit: usize) -> Vec<Listed>;
                Read fn list_with_deliveries(filter: &DeliveryFilter, after: Option<Cursor>, limit: usize) -> Vec<Listed>;
                Read fn list_with_movements(filter: &MovementFilter, after: Option<Cursor>, limit: usize) -> Vec<Listed>;
                Read fn due(now: Timestamp, limit: usize) -> Vec<TransactionId>;
                Read fn outbox_due(after: Option<OutboxPlace>, now: Timestamp, limit: usize) -> Vec<DueDelivery>;
                Read fn card_tries(card: &CardFingerprint, now: Timestamp) -> CardTries;
                Read fn payment_of_pix(mode: Mode, pix: &str) -> Option<TransactionId>;
            }
            $commit
        }

        $implement! {
            InboxStore {
                Write fn put_notices(notices: &[Notice]) -> Vec<bool>;
                Read fn due_notices(now: Timestamp, limit: usize) -> Vec<(Notice, u32)>;
                Read fn waiting_notices(ids: &[String]) -> Vec<String>;
                Write fn finish_notices(ids: &[String], now: Timestamp) -> ();
                Write fn postpone_notice(id: &str, tried: u32, until: Timestamp) -> ();
            }
        }

        $implement! {
            ExceptionStore {
                Write fn put_exception(exception: &Exception) -> bool;
                Read fn exceptions(limit: usize) -> Vec<Exception>;
            }
        }

        $implement! {
            AccessStore {
                Read fn application(merchant: &MerchantId, name: &ApplicationName) -> Option<Application>;
                Write fn insert_application(application: &Application) -> bool;
                Write fn replace_application(before: &Application, after: &Application) -> bool;
                Write fn insert_key(key: &ApiKey) -> ();
                Read fn key(id: &str) -> Option<ApiKey>;
                Read fn keys() -> Vec<ApiKey>;
                Write fn revoke_key(id: &str, now: Timestamp) -> bool;
            }
        }

        $implement! {
            OperatorStore {
                Write fn put_route_control(control: &RouteControl) -> ();
                Read fn route_controls() -> Vec<RouteControl>;
                Read fn exception(id: &str) -> Option<Exception>;
                Write fn resolve_exception(id: &str, resolution: &Resolution) -> bool;
                Read fn resolved_exceptions(limit: usize) -> Vec<Exception>;
                Write fn put_node(node: &Node) -> ();
                Write fn remove_node(id: Uuid) -> bool;
                Read fn nodes(seen_since: Timestamp) -> Vec<Node>;
                Read fn server_now() -> Option<Timestamp>;
                Read fn follow_form() -> StoreForm;
            }
            fn form(&self) -> StoreForm {
                self.store.form()
            }
        }

        $implement! {
            NumberStore {
                Write fn take_numbers(range: &NumberRange, count: u32) -> Option<NumberBlock>;
            }
        }

        $implement! {
            Store {
                Probe fn ping() -> ();
                Read fn backlog(now: Timestamp, limit: u32) -> Backlog;
            }
            fn is_sole_writer(&self) -> bool {
                self.store.is_sole_writer()
            }
        }
    };
}

pub(super) use shared_queries;
