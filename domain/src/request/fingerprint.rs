//! Fingerprints, which distinguish a replay from another request under one `Idempotency-Key`.

use hmac::digest::FixedOutputReset;
use hmac::{HmacReset, KeyInit, Mac};
use sha2::Sha256;

use super::ParsedRequest;
use super::terms::SentDates;
use crate::card::CardData;
use crate::due_terms::{DueTerms, Interest, Portion};
use crate::order::{Address, Item, Order, Payer, Share, Split, Terms, Utm};
use crate::text::hex;

/// Prefix of every hash: another encoding needs another name. Keys never expire, so this encoding stays.
const VERSION: &str = "quita request 1";

impl ParsedRequest {
    /// Returns a keyed hash of the request, 64 hexadecimal digits.
    ///
    /// Equal for two bodies that differ only in the order of names, `null` or absence, or insignificant letter case.
    /// Unknown fields and the card's security code are ignored too. Covers the card number, which is why it is keyed.
    /// An absent due date is hashed as absent, on whatever day the request arrives.
    pub fn fingerprint(&self, secret: &[u8]) -> String {
        let mut writer = Writer::new(secret);
        writer.text(VERSION);
        writer.order(&self.purchase.order);
        writer.terms(&self.purchase.order.terms, self.sent_dates);
        writer.option(self.purchase.card.as_ref(), Writer::card);
        writer.finish()
    }
}

/// Writes to the hash so that different requests never look alike: lengths before texts and lists, a mark before
/// options.
///
/// Boxed, so that it is never moved until it is zeroed: moves would leave the card's number behind on the stack.
struct Writer(Box<HmacReset<Sha256>>);

impl Writer {
    fn new(secret: &[u8]) -> Self {
        // Never fails: HMAC takes keys of any length. The fallback would only make the hash unkeyed.
        let unkeyed = |_| HmacReset::new(&hmac::digest::Key::<HmacReset<Sha256>>::default());
        Self(Box::new(HmacReset::new_from_slice(secret).unwrap_or_else(unkeyed)))
    }

    fn finish(mut self) -> String {
        hex(&self.0.finalize_fixed_reset())
    }

    fn number(&mut self, number: u64) {
        Mac::update(&mut *self.0, &number.to_be_bytes());
    }

    fn length(&mut self, length: usize) {
        self.number(u64::try_from(length).unwrap_or(u64::MAX));
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        Mac::update(&mut *self.0, text.as_bytes());
    }

    fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.number(u64::from(value.is_some()));
        if let Some(value) = value {
            write(self, value);
        }
    }

    fn list<T>(&mut self, entries: &[T], write: impl Fn(&mut Self, &T)) {
        self.length(entries.len());
        for entry in entries {
            write(self, entry);
        }
    }

    // Destructured without `..`, so that a new field must be added here (behind a mark or a new version).
    fn order(&mut self, order: &Order) {
        let Order {
            method,
            amount,
            payer,
            items,
            shipping_fee,
            splits,
            utm,
            postback_url,
            external_reference,
            metadata,
            terms: _,
        } = order;
        self.text(method.label());
        self.number(amount.cents());
        self.payer(payer);
        self.list(items, Self::item);
        self.option(*shipping_fee, |writer, fee| writer.number(fee.cents()));
        self.list(splits, Self::split);
        self.utm(utm);
        self.option(postback_url.as_deref(), Self::text);
        self.option(external_reference.as_deref(), Self::text);
        self.length(metadata.len());
        for (name, value) in metadata {
            self.text(name);
            self.text(value);
        }
    }

    fn payer(&mut self, payer: &Payer) {
        let Payer { first_name, last_name, document, email, phone, address } = payer;
        for text in [first_name, last_name, document.as_str(), email, phone.as_str()] {
            self.text(text);
        }
        match address {
            Some(address) => self.address(address),
            // Longer than any street, so it never collides with an address.
            None => self.text("no address"),
        }
    }

    fn address(&mut self, address: &Address) {
        let Address { street, number, complement, neighborhood, city, state, zip_code } = address;
        for text in [street, number, neighborhood, city, state.as_str(), zip_code.as_str()] {
            self.text(text);
        }
        self.option(complement.as_deref(), Self::text);
    }

    fn item(&mut self, item: &Item) {
        let Item { id, name, quantity, price } = item;
        self.option(id.as_ref(), |writer, id| writer.text(&id.to_string()));
        self.text(name);
        self.number(*quantity);
        self.number(price.cents());
    }

    fn split(&mut self, split: &Split) {
        self.text(&split.recipient_id);
        match split.share {
            Share::Amount(amount) => {
                self.text("amount");
                self.number(amount.cents());
            }
            Share::BasisPoints(points) => {
                self.text("percentage");
                self.number(points.into());
            }
        }
    }

    fn utm(&mut self, utm: &Utm) {
        let Utm { source, medium, campaign, term, content } = utm;
        for value in [source, medium, campaign, term, content] {
            self.option(value.as_deref(), Self::text);
        }
    }

    fn terms(&mut self, terms: &Terms, sent: SentDates) {
        match terms {
            Terms::Pix { expires_in_s } => self.number(*expires_in_s),
            Terms::DuePix(due) => {
                // No `expiresIn` collides with the length of this text.
                self.text("dueDate");
                self.text(&due.due_date.to_string());
                self.due(due, sent);
            }
            Terms::Boleto(due) => {
                let date = sent.due_date.then(|| due.due_date.to_string());
                self.option(date.as_deref(), Self::text);
                // Boletos used to have only a due date: a request without further terms keeps its fingerprint.
                if sent.payable_days || due.changes_the_amount() || !due.instructions.is_empty() {
                    self.text("terms");
                    self.due(due, sent);
                }
            }
            Terms::CreditCard { card: _, installments, capture } => {
                self.number(u64::from(*installments));
                self.number(u64::from(*capture));
            }
        }
    }

    fn due(&mut self, due: &DueTerms, sent: SentDates) {
        let DueTerms { due_date: _, payable_after_due_days, fine, interest, discounts, instructions } = due;
        let days = sent.payable_days.then_some(*payable_after_due_days);
        self.option(days, |writer, days| writer.number(days.into()));
        self.option(*fine, Self::portion);
        self.option(*interest, |writer, interest| match interest {
            Interest::AmountPerDay(amount) => {
                writer.text("amountPerDay");
                writer.number(amount.cents());
            }
            Interest::BasisPointsPerMonth(points) => {
                writer.text("percentagePerMonth");
                writer.number(points.into());
            }
        });
        self.list(discounts, |writer, discount| {
            writer.text(&discount.until.to_string());
            writer.portion(discount.portion);
        });
        self.list(instructions, |writer, text| writer.text(text));
    }

    fn portion(&mut self, portion: Portion) {
        match portion {
            Portion::Amount(amount) => {
                self.text("amount");
                self.number(amount.cents());
            }
            Portion::BasisPoints(points) => {
                self.text("percentage");
                self.number(points.into());
            }
        }
    }

    fn card(&mut self, card: &CardData) {
        // Nothing derived from the security code may be stored after the authorization (PCI DSS 4.0.1, 3.3.1).
        let CardData { number, holder_name, expiry, cvv: _ } = card;
        self.text(number.expose());
        self.text(holder_name);
        self.text(&expiry.to_string());
    }
}
