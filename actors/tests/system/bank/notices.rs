//! Notices that banks send over HTTP.

use quita_domain::acquiring::{HintSubject, Notice, NoticeContent, Reference};
use quita_domain::identity::TransactionId;
use quita_domain::time::Timestamp;
use quita_ports::{NoticeHead, NoticeReader, NoticeRefused, RawNotice};

use super::{BankFactory, settled};
use crate::orders::CENTS;

/// A notice is authentic that says whose it is. A payment that it names with `paid:` was paid; otherwise something
/// changed for the payment that it names, or for the charge that the bank calls so.
impl NoticeReader for BankFactory {
    fn admit(&self, head: &NoticeHead<'_>) -> Result<(), NoticeRefused> {
        if head.path_tail == "/elsewhere" {
            return Err(NoticeRefused::NoSuchAddress);
        }
        let is_own = head.header("x-bank") == Some(self.0.name);
        if is_own { Ok(()) } else { Err(NoticeRefused::NotAuthentic) }
    }

    fn read(&self, notice: &RawNotice<'_>, now: Timestamp) -> Result<Vec<NoticeContent>, NoticeRefused> {
        self.admit(&notice.head())?;
        let text =
            std::str::from_utf8(notice.body).map_err(|_| NoticeRefused::Unreadable("no text".into()))?;
        Ok(text.split(',').map(|word| self.content(word, now)).collect())
    }
}

impl BankFactory {
    fn content(&self, word: &str, now: Timestamp) -> NoticeContent {
        if let Some(id) = word.strip_prefix("paid:").and_then(TransactionId::parse) {
            return NoticeContent::Fact(Box::new(Notice {
                id: format!("{}:{word}", self.0.name),
                acquirer: self.0.spec.name.clone(),
                transaction_id: id,
                fact: settled(id, CENTS),
                received_at: now,
            }));
        }
        NoticeContent::Hint(match TransactionId::parse(word) {
            Some(id) => HintSubject::Payment(id),
            None => HintSubject::Reference(Reference::none().with("id", word)),
        })
    }
}
