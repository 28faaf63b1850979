//! Disputes reported in a sale.

use quita_domain::acquiring::Fact;

use super::sale::Chargeback;
use crate::reason;

/// Maximum number of disputes of one sale: there is one for each instalment or item.
const MAX_CHARGEBACKS: usize = 100;

/// Returns the facts of disputes. A dispute is open in every known status, whether the merchant accepts or contests it.
///
/// Source: Braspag, Risk Notification API, "Status": 1 Received, 2 AcceptedByMerchant, 3 ContestedByMerchant. None of
/// them means that the dispute was won. An unknown status changes nothing, and an operator sees its text.
pub(super) fn facts(chargebacks: &[Chargeback]) -> impl Iterator<Item = Fact> {
    chargebacks.iter().take(MAX_CHARGEBACKS).map(fact)
}

fn fact(chargeback: &Chargeback) -> Fact {
    let status = chargeback.status.as_deref();
    let shown = |text: &str| reason::clean(text);
    let Some(case_number) = chargeback.case_number.as_deref() else {
        let text = format!("a chargeback without a case number is {}", shown(status.unwrap_or("there")));
        return Fact::Unclear { id: "chargeback without a case number".to_owned(), text };
    };
    let id: String =
        case_number.chars().filter(|one| one.is_ascii_alphanumeric() || *one == '-').take(64).collect();
    match status.map(str::to_ascii_lowercase).as_deref() {
        None | Some("received" | "acceptedbymerchant" | "contestedbymerchant" | "1" | "2" | "3") => {
            let amount = chargeback.amount.filter(|amount| !amount.is_zero());
            Fact::ChargedBack { id, amount }
        }
        Some(unknown) => {
            let status = shown(status.unwrap_or_default());
            let text = format!("the status of chargeback {id} is {status}, which is not known");
            let about: String = unknown.chars().take(32).collect();
            Fact::Unclear { id: format!("chargeback {id} {about}"), text }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quita_domain::money::Money;

    fn stated(case_number: Option<&str>, status: Option<&str>) -> Fact {
        let amount = Some(Money::from_cents(500));
        let own = |text: Option<&str>| text.map(str::to_owned);
        fact(&Chargeback { case_number: own(case_number), amount, status: own(status) })
    }

    #[test]
    fn each_case_opens_a_chargeback_with_its_amount() {
        let opened = Fact::ChargedBack { id: "000001".into(), amount: Some(Money::from_cents(500)) };
        for status in
            [None, Some("Received"), Some("AcceptedByMerchant"), Some("contestedByMerchant"), Some("1")]
        {
            assert_eq!(stated(Some("000001"), status), opened);
        }
    }

    #[test]
    fn a_status_that_is_not_known_is_told_with_its_text() {
        let Fact::Unclear { id, text } = stated(Some("0001"), Some("Reversed")) else { panic!() };
        assert_eq!(id, "chargeback 0001 reversed");
        assert_eq!(text, "the status of chargeback 0001 is Reversed, which is not known");
        assert!(matches!(stated(None, Some("Received")), Fact::Unclear { .. }));
    }
}
