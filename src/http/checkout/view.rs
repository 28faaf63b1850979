//! Contents of the page: the offer, and a payment with everything that its payer needs.

use quita_actors::{Denied, is_waiting};
use quita_domain::acquiring::Issued;
use quita_domain::boleto::line::Line;
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::payment::Payment;
use quita_domain::status::Status;
use url::{Url, form_urlencoded};

use super::Visit;
use super::response::Refused;
use crate::http::errors::ApiError;
use crate::http::pages::checkout_page::{CheckoutPage, OfferView, PaymentView, StateView};
use crate::http::pages::checkout_words::{day, money, time};

impl Visit<'_> {
    /// Returns a payment as its payer sees it.
    pub(super) fn payment_view(
        &self,
        payment: &Payment,
        is_cancelling: bool,
    ) -> Result<PaymentView, Refused> {
        let is_waiting = is_waiting(payment.status());
        let issued = payment.state.issued.as_deref().filter(|_| is_waiting && !is_cancelling);
        let pages = |kind: &str| format!("{}/{kind}/{}", self.edge.mount, payment.page_token);
        let picture = || format!("{}.svg", pages("pix"));
        let (pix, boleto) = match issued {
            Some(Issued::Pix { code, .. }) => (Some((code.clone(), picture())), None),
            Some(Issued::Boleto(slip)) => {
                let line = Line::parse(&slip.digitable_line).map(|line| line.formatted());
                let line = line.unwrap_or_else(|_| slip.digitable_line.clone());
                let pix = slip.pix_code.as_ref().map(|code| (code.clone(), picture()));
                (pix, Some((line, pages("boletos"))))
            }
            None => (None, None),
        };
        let until = match (payment.order.terms.due(), issued) {
            (Some(due), Some(_)) => Some(day(self.language, due.payable_until())),
            (None, Some(Issued::Pix { expires_at, .. })) => Some(time(self.language, *expires_at)),
            (Some(_) | None, Some(Issued::Boleto(_)) | None) => None,
        };
        let can_be_given_up = is_waiting && !is_cancelling && payment.method() != Method::CreditCard;
        let give_up =
            if can_be_given_up { Some((self.path_of(Some(payment)), self.form_number()?)) } else { None };
        let is_paid = matches!(payment.status(), Status::Paid | Status::Approved);
        Ok(PaymentView {
            transaction_id: payment.id.to_string(),
            is_waiting,
            // This address serves payments of any method, not only PIX.
            status_path: format!("{}/pix/{}/status", self.edge.mount, payment.page_token),
            pix,
            boleto,
            payable_until: until,
            give_up,
            success: self.success(payment).filter(|_| is_paid),
        })
    }

    /// Returns the address that is offered after a payment, with its host. It is no proof of payment.
    fn success(&self, payment: &Payment) -> Option<(String, String)> {
        let mut url = Url::parse(self.link.offer.success_url.as_deref()?).ok()?;
        let query = success_query(url.query(), &self.link.id.to_string(), &payment.id.to_string());
        url.set_query(Some(&query));
        let host = url.host_str()?.to_owned();
        Some((url.into(), host))
    }

    /// Returns the page with the offer alone.
    pub(super) async fn bare(&self, state: StateView) -> Result<CheckoutPage, Refused> {
        let offer = &self.link.offer;
        let owner = &self.link.owner;
        let profile = self.edge.people.profile(&owner.merchant).await;
        let profile = profile.map_err(Denied::from).map_err(ApiError::from)?;
        let items = offer.items.iter().map(|item| {
            format!("{} × {} – {}", item.quantity, item.name, money(self.language, item.total()))
        });
        let offer = OfferView {
            merchant_name: profile.name_of(&owner.merchant).to_owned(),
            contact: profile.contact().map(str::to_owned),
            title: offer.title.clone(),
            description: offer.description.clone(),
            amount: money(self.language, offer.amount),
            items: items.collect(),
            is_test: owner.mode == Mode::Test,
        };
        Ok(CheckoutPage {
            language: self.language,
            mount: self.edge.mount,
            offer: Some(offer),
            due: None,
            state,
            form: None,
            payment: None,
            unneeded: None,
            again: None,
            reload: None,
        })
    }
}

/// Returns a query with our two parameters at its end. All others stay byte for byte: the shop may have signed them.
fn success_query(query: Option<&str>, link: &str, transaction: &str) -> String {
    let is_ours = |part: &&str| {
        let name = form_urlencoded::parse(part.as_bytes()).next().map(|(name, _)| name.into_owned());
        matches!(name.as_deref(), Some("linkId" | "transactionId"))
    };
    let others = query
        .filter(|query| !query.is_empty())
        .into_iter()
        .flat_map(|query| query.split('&'))
        .filter(|part| !is_ours(part));
    let ours = [format!("linkId={link}"), format!("transactionId={transaction}")];
    others.map(str::to_owned).chain(ours).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shops_own_parameters_stay_byte_for_byte() {
        for (query, expected) in [
            (None, "linkId=l&transactionId=t"),
            (Some("sig=a%20b&flag"), "sig=a%20b&flag&linkId=l&transactionId=t"),
            (Some("a=b+c&&d=%C3%A9&="), "a=b+c&&d=%C3%A9&=&linkId=l&transactionId=t"),
            (Some("linkId=x&a=1&transaction%49d=y&transactionId"), "a=1&linkId=l&transactionId=t"),
            (Some(""), "linkId=l&transactionId=t"),
        ] {
            assert_eq!(success_query(query, "l", "t"), expected, "{query:?}");
        }
    }
}
