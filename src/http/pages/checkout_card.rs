//! The card on the page of a payment link: instalments, brands, and words for what went wrong.

use quita_domain::acquiring::Decline;
use quita_domain::card::Brand;
use quita_domain::link::InstallmentPlan;
use quita_domain::payment::Payment;

use super::checkout_page::FormMistake;
use super::checkout_words::{mistake, money, pick};
use super::not_started::NotStarted;
use crate::console::Language;

/// Code of the mistake of a card or payment that was declined. The acquirer's own code is never shown.
pub(crate) const DECLINED: &str = "declined";

/// The card as the form offers it. Its number, expiry and code are fields that the page's script makes.
#[derive(Debug, Clone)]
pub(crate) struct CardView {
    /// Numbers of instalments with their sums.
    pub(crate) plans: Vec<(u8, String)>,
    /// Brands with their names and the ranges of their prefixes, as JSON, in the order in which they are tested.
    pub(crate) brands: String,
}

impl CardView {
    pub(crate) fn of(language: Language, plans: &[InstallmentPlan]) -> Self {
        let plans = plans.iter().map(|plan| (plan.count, plan_words(language, plan))).collect();
        let ranges = |brand: Brand| brand.prefix_ranges().collect::<Vec<_>>();
        let brands = Brand::ALL.map(|brand| (brand.as_str(), brand.title(), ranges(brand)));
        Self { plans, brands: serde_json::to_string(&brands).unwrap_or_default() }
    }
}

/// Writes a plan with sums that add up to the amount.
fn plan_words(language: Language, plan: &InstallmentPlan) -> String {
    let InstallmentPlan { count, first, others } = *plan;
    let first_sum = money(language, first);
    let other_sum = money(language, others);
    let rest = count.saturating_sub(1);
    let free = pick(language, "sem juros", "interest-free");
    if count == 1 {
        format!("1× {first_sum} {}", pick(language, "à vista", "in full"))
    } else if first == others {
        format!("{count}× {free} ({count} {} {other_sum})", pick(language, "de", "of"))
    } else {
        match language {
            Language::Portuguese => format!("{count}× {free} (1ª de {first_sum}, {rest} de {other_sum})"),
            Language::English => format!("{count}× {free} (first of {first_sum}, {rest} of {other_sum})"),
        }
    }
}

/// Returns the words for a mistake that concerns a card; `None` for any other.
pub(super) fn card_words(language: Language, field: &str, code: &str) -> Option<&'static str> {
    let words = match (field, code) {
        ("cc-number", _) => pick(language, "Confira o número do cartão.", "Check the card number."),
        ("cc-name", _) => {
            pick(language, "Escreva o nome como está no cartão.", "Enter the name as it appears on the card.")
        }
        ("cc-exp", "expired") => {
            pick(language, "Este cartão venceu: use outro.", "This card has expired: use another one.")
        }
        ("cc-exp", _) => pick(language, "Escreva a validade como MM/AA.", "Enter the expiry date as MM/YY."),
        ("cc-csc", _) => pick(
            language,
            "Escreva o código: 3 números no verso do cartão; no American Express, 4 na frente.",
            "Enter the code: 3 digits on the back of the card; on American Express, 4 on the front.",
        ),
        ("installments", _) => pick(language, "Escolha as parcelas.", "Choose the instalments."),
        (_, "too_many_card_tries") => pick(
            language,
            "Muitos cartões foram tentados. Tente de novo mais tarde, ou escolha PIX ou boleto.",
            "Too many cards were tried. Try again later, or choose PIX or boleto.",
        ),
        (_, "unclear") => pick(
            language,
            "Ainda não sabemos o que aconteceu com este pagamento. Envie de novo em alguns segundos, com o mesmo cartão: \
             nada é cobrado duas vezes.",
            "We do not know the outcome of this payment yet. Send it again in a few seconds, with the same card: nothing \
             is charged twice.",
        ),
        _ => return None,
    };
    Some(words)
}

/// Returns what a payer can do about a declined payment, at the field that it concerns.
pub(crate) fn decline(language: Language, payment: &Payment, offers_pix: bool) -> FormMistake {
    if let Some(why) = NotStarted::of(payment) {
        return why.notice(language);
    }
    let code = payment.state.decline.as_ref().map(Decline::shown_code);
    let Some(code) = code.filter(|_| payment.order.card().is_some()) else {
        return mistake(language, "", DECLINED);
    };
    let (field, words) = match code {
        "insufficient_funds" if offers_pix => (
            "",
            pick(
                language,
                "Sem limite ou saldo: use outro cartão ou PIX.",
                "No limit or balance left: use another card or PIX.",
            ),
        ),
        "insufficient_funds" => (
            "",
            pick(
                language,
                "Sem limite ou saldo: use outro cartão.",
                "No limit or balance left: use another card.",
            ),
        ),
        "expired_card" => (
            "cc-exp",
            pick(
                language,
                "O banco recusou a validade: confira-a, ou use outro cartão.",
                "The bank refused the expiry date: check it, or use another card.",
            ),
        ),
        "incorrect_cvc" => (
            "cc-csc",
            pick(
                language,
                "O banco recusou o código de segurança: confira-o, ou use outro cartão.",
                "The bank refused the security code: check it, or use another card.",
            ),
        ),
        _ => (
            "",
            pick(
                language,
                "Não autorizado pelo banco; fale com ele ou use outro cartão.",
                "Not authorised by the bank; contact it or use another card.",
            ),
        ),
    };
    FormMistake { field, code: DECLINED, words }
}

#[cfg(test)]
mod tests {
    use quita_domain::money::Money;

    use super::*;

    fn words(language: Language, count: u8, first: u64, others: u64) -> String {
        let first = Money::from_cents(first);
        let others = Money::from_cents(others);
        plan_words(language, &InstallmentPlan { count, first, others }).replace('\u{a0}', " ")
    }

    #[test]
    fn instalments_are_written_with_their_sums() {
        use Language::{English, Portuguese};
        for (language, plan, expected) in [
            (Portuguese, (1, 10_000, 10_000), "1× R$ 100,00 à vista"),
            (Portuguese, (2, 5_000, 5_000), "2× sem juros (2 de R$ 50,00)"),
            (Portuguese, (3, 3_334, 3_333), "3× sem juros (1ª de R$ 33,34, 2 de R$ 33,33)"),
            (English, (3, 3_334, 3_333), "3× interest-free (first of R$33.34, 2 of R$33.33)"),
        ] {
            assert_eq!(words(language, plan.0, plan.1, plan.2), expected);
        }
    }

    #[test]
    fn the_script_gets_every_brand_in_the_order_of_its_test() {
        let view = CardView::of(Language::Portuguese, &[]);
        /// First and last beginning of a brand's numbers.
        type Range = (String, String);
        let brands: Vec<(String, String, Vec<Range>)> = serde_json::from_str(&view.brands).unwrap();
        let of = |digits: &str| {
            let begins = |(first, last): &Range| {
                let head = digits.get(..first.len()).unwrap();
                (first.as_str()..=last.as_str()).contains(&head)
            };
            brands.iter().find(|brand| brand.2.iter().any(begins)).map(|brand| brand.0.as_str())
        };
        for digits in ["4011781111111112", "4242424242424242", "5555555555554444", "6062825624254001"] {
            assert_eq!(of(digits), Brand::of(digits).map(Brand::as_str), "{digits}");
        }
    }
}
