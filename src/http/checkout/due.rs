//! Amount and terms of a due date on the page: for its payment, or for one that would begin today.

use quita_actors::is_waiting;
use quita_domain::method::Method;
use quita_domain::payment::Payment;

use super::Visit;
use crate::console::Language;
use crate::http::pages::checkout_page::DueView;
use crate::http::pages::checkout_words::{money, pick};
use crate::http::pages::due_words::DueWords;
use crate::http::pages::is_open;

impl Visit<'_> {
    /// Returns the amount owed for a payment today, with its terms. Once it has ended, the amount that came in.
    pub(super) fn due_of_payment(&self, payment: &Payment, is_cancelling: bool) -> Option<DueView> {
        let language = self.language;
        let words = DueWords::of(payment, self.edge.clock.now().sao_paulo_date(), language)?;
        let original = money(language, payment.order.amount);
        let sentences = if is_waiting(payment.status()) && !is_cancelling {
            let due = format!("{} {}", pick(language, "Vencimento", "Due"), words.due);
            let owed = words.changes.then(|| self.owed_beside(&words, &original));
            owed.into_iter().chain([due]).chain(words.sentences).collect()
        } else if !is_open(payment.status()) && words.owed != payment.order.amount {
            let paid = match language {
                Language::Portuguese => format!("Valor pago; valor original {original}"),
                Language::English => format!("Amount paid; original amount {original}"),
            };
            vec![paid]
        } else {
            Vec::new()
        };
        Some(DueView { amount: money(language, words.owed), sentences })
    }

    /// Returns the amount owed today for a payment by one of these methods, with its terms.
    ///
    /// A card has no due date. If a card is offered too, the offer's amount stays, and the terms name the methods that
    /// have a due date.
    pub(super) fn due_of_form(&self, methods: &[Method]) -> Option<DueView> {
        self.link.offer.due?;
        let language = self.language;
        let now = self.edge.clock.now();
        // A payment begins on its due date at the latest, when PIX and boleto owe the same.
        let words = methods.iter().find_map(|method| {
            let order = self.link.specimen(*method, now, &self.edge.limits)?;
            DueWords::of_order(&order, now.sao_paulo_date(), language)
        })?;
        let original = money(language, self.link.offer.amount);
        let owed = money(language, words.owed);
        let (due, last_day) = (&words.due, &words.last_day);
        let days = match language {
            Language::Portuguese => format!("Vencimento {due}; pagável até {last_day}"),
            Language::English => format!("Due {due}; payable until {last_day}"),
        };
        let (amount, heading, of_today) = if methods.contains(&Method::CreditCard) {
            let of_today = match language {
                Language::Portuguese => format!("Valor para pagamento em {}: {owed}", words.today),
                Language::English => format!("Amount to pay on {}: {owed}", words.today),
            };
            (original, Some(with_due_date(language, methods).to_owned()), of_today)
        } else {
            let of_today = self.owed_beside(&words, &original);
            (owed, None, of_today)
        };
        let of_today = words.changes.then_some(of_today);
        let sentences = heading.into_iter().chain(of_today).chain([days]).chain(words.sentences).collect();
        Some(DueView { amount, sentences })
    }

    /// Returns the sentence below an amount that depends on the day.
    fn owed_beside(&self, words: &DueWords, original: &str) -> String {
        let today = &words.today;
        match self.language {
            Language::Portuguese => format!("Valor para pagamento em {today}; valor original {original}"),
            Language::English => format!("Amount to pay on {today}; original amount {original}"),
        }
    }
}

/// Names the methods that have a due date, above their terms.
fn with_due_date(language: Language, methods: &[Method]) -> &'static str {
    match (methods.contains(&Method::Pix), methods.contains(&Method::Boleto)) {
        (true, true) => pick(language, "Por PIX ou boleto:", "By PIX or boleto:"),
        (false, true) => pick(language, "Por boleto:", "By boleto:"),
        (_, false) => pick(language, "Por PIX:", "By PIX:"),
    }
}
