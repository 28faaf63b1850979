//! `quita privacy`: anonymises payers and staff, with or without a running service.

mod staff;

use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use quita_domain::audit::AuditAction;
use quita_domain::document::{Document, DocumentType};
use quita_domain::identity::{MerchantId, TransactionId};
use quita_domain::people::Login;
use quita_domain::time::millis_in;
use quita_machine::{SystemClock, SystemIds};
use quita_ports::{StoreError, WholeStore};
use quita_services::erasure::{Eraser, ErasureTally};

use super::audited;
use super::command_store::CommandStore;
use super::failure::Failure;
use super::flags::StoreAccessFlags;
use super::output;
use super::people::login;
use crate::retention::FORGOTTEN_WITHIN;
use quita_config::duration::{LONG_DURATION_FORM, parse_long_duration};
use quita_config::store_url::StoreUrl;
use quita_services::audit::{Audit, AuditDraft, Initiator};
use staff::{StaffEraser, StaffTally};

/// Number of attempts to purge replaced data from the store's log: the service's readers may keep it in use.
const EMPTYING_TRIES: usize = 3;

/// Subcommands of `quita privacy`.
#[derive(Debug, Subcommand)]
pub(super) enum PrivacyCommand {
    /// Erase the payer of finished payments from records, events, indexes and stored answers. Amounts, ids and times
    /// stay. Unfinished payments are skipped and counted. Or erase a former user or operator from the audit log
    Erase(EraseArgs),
}

/// Arguments of `quita privacy erase`.
#[derive(Debug, Args)]
#[command(
    after_help = "Finished payments are declined, refund, cancelled, expired, or paid for long enough. After an \
                        interruption, run it again. Earlier backups still contain what was erased: see docs/PRIVACY.md."
)]
pub(super) struct EraseArgs {
    #[command(flatten)]
    whose: ErasureSubject,
    /// Time after which a paid payment is finished
    #[arg(long, value_name = "DURATION", default_value = "180d", value_parser = duration)]
    paid_before: Duration,
    /// Count what would be erased, and change nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    store: StoreAccessFlags,
}

/// One payment, one payer, one person who signed in once, or what strangers typed.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct ErasureSubject {
    /// The payer of this payment
    #[arg(long, value_name = "ID", value_parser = transaction)]
    transaction: Option<TransactionId>,
    /// The person or company with this CPF or CNPJ, of every merchant, test and live
    #[arg(long, value_name = "CPF_OR_CNPJ", value_parser = document)]
    document: Option<Document>,
    /// Removed user or operator who signed in with this e-mail address, to either console: in the audit log and among
    /// sessions
    #[arg(long, value_name = "ADDRESS", value_parser = login)]
    login: Option<Login>,
    /// Text typed for an account in the refused sign-ins at these places of the audit log, and wherever else it occurs
    #[arg(long, value_name = "PLACE", num_args = 1..=staff::MOST_PLACES, value_parser = clap::value_parser!(u64).range(1..))]
    refused_at: Vec<u64>,
}

impl ErasureSubject {
    /// Returns true for staff, or text typed in the audit log; false for a payer.
    fn is_staff(&self) -> bool {
        self.login.is_some() || !self.refused_at.is_empty()
    }
}

pub(super) async fn run(command: PrivacyCommand) -> Result<(), Failure> {
    match command {
        PrivacyCommand::Erase(args) => erase(args).await,
    }
}

async fn erase(args: EraseArgs) -> Result<(), Failure> {
    let EraseArgs { whose, paid_before, dry_run, store } = args;
    let opened = CommandStore::open(store).await?;
    let audit = opened.audit().await?;
    if dry_run {
        output::note("Nothing was changed: this is what would be erased.");
    }
    if whose.is_staff() {
        return erase_staff(whose, opened, audit, dry_run).await;
    }
    let eraser = PayerEraser::new(opened.store, audit, paid_before, dry_run);
    let done = match whose {
        ErasureSubject { transaction: Some(id), .. } => eraser.erase_one(id).await,
        ErasureSubject { transaction: None, document: Some(document), .. } => {
            eraser.erase_person(&document).await
        }
        ErasureSubject { transaction: None, document: None, .. } => Ok(ErasureTally::default()),
    };
    let tally = done?;
    if !dry_run {
        eraser.let_go(&opened.url, tally).await?;
    }
    let ErasureTally { erased, erased_before, not_finished, left } = tally;
    output::result(&format!("erased {erased}, erased before {erased_before}, not finished {not_finished}"))?;
    match left {
        0 => Ok(()),
        _ => Err(Failure::failed(format!(
            "{left} payments can't be read, or keep being changed by others: their payers were not erased"
        ))),
    }
}

/// Erases staff, or text typed as an account, from the audit log.
async fn erase_staff(
    whose: ErasureSubject,
    opened: CommandStore,
    audit: Audit,
    dry_run: bool,
) -> Result<(), Failure> {
    let eraser = audit.eraser(Initiator::command_line());
    let staff = StaffEraser { store: opened.store.clone(), audit, eraser, changes_nothing: dry_run };
    let StaffTally { parts, sessions } = match &whose.login {
        Some(login) => staff.erase_login(login).await?,
        None => staff.erase_refused(&whose.refused_at).await?,
    };
    if !dry_run {
        empty(|| opened.store.forget_replaced()).await.map_err(|error| {
            Failure::failed(format!(
                "{parts} parts were erased, but the store's log still contains them ({error}); run the command again"
            ))
        })?;
    }
    output::result(&format!("erased {parts} parts of the audit log and {sessions} sessions"))
}

/// Asks the store several times to purge replaced data.
async fn empty<F: Future<Output = Result<(), StoreError>>>(ask: impl Fn() -> F) -> Result<(), StoreError> {
    for _ in 1..EMPTYING_TRIES {
        if ask().await.is_ok() {
            return Ok(());
        }
    }
    ask().await
}

/// Eraser of payers that records its work in the audit log.
struct PayerEraser {
    eraser: Eraser,
    audit: Audit,
    changes_nothing: bool,
}

impl PayerEraser {
    fn new(store: Arc<dyn WholeStore>, audit: Audit, paid_before: Duration, changes_nothing: bool) -> Self {
        let paid_for_ms = millis_in(paid_before);
        let log = audit.eraser(Initiator::command_line());
        let eraser = Eraser::new(store, log, Arc::new(SystemClock), Arc::new(SystemIds), paid_for_ms);
        let eraser = if changes_nothing { eraser.that_only_counts() } else { eraser };
        Self { eraser, audit, changes_nothing }
    }

    async fn erase_one(&self, id: TransactionId) -> Result<ErasureTally, Failure> {
        let done = self.eraser.erase(id).await.map_err(broken_off)?;
        let (merchant, tally) = done.ok_or_else(|| Failure::failed("transaction not found"))?;
        self.note(&merchant, &id.to_string(), tally).await;
        Ok(tally)
    }

    /// Erases every payment of this person, page by page.
    async fn erase_person(&self, document: &Document) -> Result<ErasureTally, Failure> {
        let mut place = None;
        let mut tally = ErasureTally::default();
        loop {
            let page = self.eraser.erase_page_of(document, place).await.map_err(broken_off)?;
            if let Some(merchant) = &page.merchant {
                // The audit log must not name the person.
                self.note(merchant, "a person", page.tally).await;
            }
            tally = tally.plus(page.tally);
            place = page.next;
            if place.is_none() {
                return Ok(tally.plus(self.erase_links(document).await?));
            }
        }
    }

    /// Erases this person from links that have ended.
    async fn erase_links(&self, document: &Document) -> Result<ErasureTally, Failure> {
        let mut all = ErasureTally::default();
        for (merchant, erased) in self.eraser.erase_links(Some(document), 0).await.map_err(broken_off)? {
            let tally = ErasureTally { erased, ..ErasureTally::default() };
            self.note(&merchant, "a person in links", tally).await;
            all = all.plus(tally);
        }
        Ok(all)
    }

    async fn note(&self, merchant: &MerchantId, subject: &str, tally: ErasureTally) {
        if tally.erased == 0 || self.changes_nothing {
            return;
        }
        let draft = AuditDraft::of(merchant, AuditAction::PayerErased, subject);
        audited::note(&self.audit, draft.after(format!("payments={}", tally.erased))).await;
    }

    /// Waits until neither the files nor the memory of a running service contain the erased data.
    async fn let_go(&self, url: &StoreUrl, tally: ErasureTally) -> Result<(), Failure> {
        match url {
            StoreUrl::Embedded(_) if tally.erased > 0 => tokio::time::sleep(FORGOTTEN_WITHIN).await,
            StoreUrl::Embedded(_) | StoreUrl::Mongo(_) => {}
        }
        empty(|| self.eraser.forget_replaced()).await.map_err(|error| {
            Failure::failed(format!(
                "{} payers were erased, but the store's log still contains them ({error}); run the command again",
                tally.erased
            ))
        })
    }
}

fn broken_off(error: StoreError) -> Failure {
    Failure::failed(format!(
        "{error}\nSome payers may have been erased already; run the command again for the rest."
    ))
}

fn transaction(text: &str) -> Result<TransactionId, String> {
    TransactionId::parse(text).ok_or_else(|| "must be a transaction's id, a UUID".into())
}

/// Parses a CPF or CNPJ, with or without punctuation. The error message never repeats it.
fn document(text: &str) -> Result<Document, String> {
    let cpf = Document::parse_formatted(text, DocumentType::Cpf);
    let read = cpf.or_else(|_| Document::parse_formatted(text, DocumentType::Cnpj));
    read.map_err(|_| "neither a CPF nor a CNPJ".into())
}

fn duration(text: &str) -> Result<Duration, String> {
    parse_long_duration(text).ok_or_else(|| format!("must be {LONG_DURATION_FORM}"))
}
