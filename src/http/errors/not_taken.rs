//! Errors about payments and links that no configured acquirer could ever take.

use std::ops::RangeInclusive;

use quita_actors::{Denied, Payments};
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::request::{Violation, code as violation_code};
use quita_domain::wording::Wording;

use super::{ApiError, ErrorCode, wordings};

/// Payment that was not taken, as far as the messages describe it.
#[derive(Debug)]
pub(crate) struct NotTaken {
    methods: Vec<Method>,
    mode: Mode,
    amount: Money,
    /// Least and greatest amount that acquirers of these methods accept; `None` if there are no acquirers.
    accepted: Option<RangeInclusive<Money>>,
}

impl NotTaken {
    /// Describes a payment by one of these methods.
    pub(crate) fn new(payments: &Payments, methods: &[Method], mode: Mode, amount: Money) -> Self {
        Self { methods: methods.to_vec(), mode, amount, accepted: payments.amounts(methods, mode) }
    }

    /// Returns the sentence about this reason, with what the caller can do.
    fn message(&self, denied: &Denied) -> Wording {
        let names: Vec<_> = self.methods.iter().map(|method| method.label()).collect();
        let names = names.join(", ");
        let mode = self.mode.as_str();
        match (denied, &self.accepted) {
            (Denied::MethodUnavailable, None) => match self.mode {
                Mode::Test => wordings::no_test_acquirer(&names),
                Mode::Live => wordings::no_live_acquirer(&names),
            },
            (Denied::MethodUnavailable, Some(_)) => wordings::terms_not_taken(&names, mode),
            // Limits with a gap, or a rule that leaves acquirers out, refuse amounts within these bounds too.
            (Denied::AmountNotAccepted, Some(accepted)) if !accepted.contains(&self.amount) => {
                let least = accepted.start().cents();
                let greatest = accepted.end().cents();
                wordings::amount_out_of_limits(&names, mode, least, greatest)
            }
            (_, _) => wordings::of_denied(denied),
        }
    }
}

impl ApiError {
    /// Returns the error of a creation. It says what acquirers of the method in this mode accept.
    pub(crate) fn of_creation(denied: Denied, not_taken: &NotTaken) -> Self {
        let is_never_taken = [Denied::MethodUnavailable, Denied::AmountNotAccepted].contains(&denied);
        let message = not_taken.message(&denied);
        let error = Self::from(denied);
        if is_never_taken { Self { message, ..error } } else { error }
    }

    /// Returns the error of a link that none of its methods could pay. Methods that were sent are named by their
    /// positions in the list.
    pub(crate) fn of_link(refusals: &[(Denied, NotTaken)], all: &NotTaken, sent: &[Method]) -> Self {
        let is_amount = |denied: &Denied| *denied == Denied::AmountNotAccepted;
        let are_amounts = !refusals.is_empty() && refusals.iter().all(|(denied, _)| is_amount(denied));
        let detail = |(place, method): (usize, &Method)| {
            let (denied, not_taken) = refusals.iter().find(|(_, one)| one.methods.contains(method))?;
            let code = if is_amount(denied) {
                violation_code::AMOUNT_NOT_ACCEPTED
            } else {
                violation_code::METHOD_UNAVAILABLE
            };
            let message = not_taken.message(&reason_of_link(denied));
            Some(Violation { field: format!("methods[{place}]"), code, message })
        };
        let details: Vec<_> = sent.iter().enumerate().filter_map(detail).collect();
        let (code, denied) = if are_amounts {
            (ErrorCode::AmountNotAccepted, Denied::AmountNotAccepted)
        } else {
            (ErrorCode::MethodUnavailable, Denied::MethodUnavailable)
        };
        Self { details, ..Self::new(code, all.message(&denied)) }
    }

    /// Returns the error for methods of a link without an acquirer in its mode, with their positions in the list.
    pub(crate) fn methods_unavailable(methods: &[(usize, Method)], mode: Mode) -> Self {
        let message_of = |methods: Vec<Method>| {
            NotTaken { methods, mode, amount: Money::ZERO, accepted: None }
                .message(&Denied::MethodUnavailable)
        };
        let detail = |(place, method): &(usize, Method)| Violation {
            field: format!("methods[{place}]"),
            code: violation_code::METHOD_UNAVAILABLE,
            message: message_of(vec![*method]),
        };
        let details: Vec<_> = methods.iter().map(detail).collect();
        let message = match (details.first(), mode) {
            (Some(first), _) => first.message.clone(),
            (None, Mode::Test) => wordings::no_test_acquirer_of_links(),
            (None, Mode::Live) => wordings::no_live_acquirer_of_links(),
        };
        Self { details, ..Self::new(ErrorCode::MethodUnavailable, message) }
    }
}

/// Returns the reason as a link has it. Its merchant does not set how long a PIX is payable.
fn reason_of_link(denied: &Denied) -> Denied {
    if *denied == Denied::ExpiryNotAccepted { Denied::MethodUnavailable } else { denied.clone() }
}

#[cfg(test)]
mod tests {
    use quita_domain::routing::NoRoute;

    use super::*;

    fn not_taken(methods: &[Method], accepted: Option<(u64, u64)>) -> NotTaken {
        let accepted =
            accepted.map(|(least, greatest)| Money::from_cents(least)..=Money::from_cents(greatest));
        NotTaken { methods: methods.to_vec(), mode: Mode::Live, amount: Money::from_cents(500), accepted }
    }

    #[test]
    fn a_payment_that_is_not_taken_is_told_with_what_would_be() {
        let unlimited = "check that it is in cents (10000 = R$ 100,00), or ask the operator";
        for (denied, accepted, english, portuguese) in [
            (Denied::AmountNotAccepted, Some((1, 499)), "send from 1 to 499 cents", "envie de 1 a 499"),
            (Denied::AmountNotAccepted, Some((1, 500)), unlimited, "confira se está em centavos"),
            (Denied::AmountNotAccepted, None, unlimited, "confira se está em centavos"),
            (Denied::MethodUnavailable, None, "is configured for pix in live", "configurado para pix no"),
            (Denied::MethodUnavailable, Some((1, 500)), "with these terms", "com estas condições"),
        ] {
            let message = ApiError::of_creation(denied, &not_taken(&[Method::Pix], accepted)).message;
            assert!(message.english().contains(english), "{message:?}");
            assert!(message.portuguese().contains(portuguese), "{message:?}");
        }
    }

    #[test]
    fn a_link_that_nobody_could_pay_has_the_code_of_its_methods() {
        let of = |method, denied| (denied, not_taken(&[method], Some((1, 499))));
        let all = not_taken(&[Method::Pix, Method::Boleto], Some((1, 499)));
        for (reasons, sent, code, details) in [
            (
                [Denied::AmountNotAccepted, Denied::AmountNotAccepted],
                vec![],
                ErrorCode::AmountNotAccepted,
                vec![],
            ),
            (
                [Denied::AmountNotAccepted, Denied::MethodUnavailable],
                vec![Method::Boleto, Method::Pix],
                ErrorCode::MethodUnavailable,
                vec![("methods[0]", "method_unavailable"), ("methods[1]", "amount_not_accepted")],
            ),
            (
                [Denied::ExpiryNotAccepted, Denied::ExpiryNotAccepted],
                vec![Method::Pix],
                ErrorCode::MethodUnavailable,
                vec![("methods[0]", "method_unavailable")],
            ),
        ] {
            let [pix, boleto] = reasons;
            let refusals = [of(Method::Pix, pix), of(Method::Boleto, boleto)];
            let error = ApiError::of_link(&refusals, &all, &sent);
            let named: Vec<_> = error.details.iter().map(|one| (one.field.as_str(), one.code)).collect();
            assert_eq!((error.code, named), (code, details));
            assert!(error.message.english().contains("pix, boleto in live mode"), "{error:?}");
        }
    }

    #[test]
    fn a_dry_run_names_the_code_of_the_creation() {
        for no_route in NoRoute::ALL {
            assert_eq!(ApiError::from(Denied::from(no_route)).code(), no_route.code());
        }
    }

    #[test]
    fn a_link_in_a_mode_without_acquirers_is_told_the_mode_and_what_to_do() {
        for (mode, english, portuguese) in [
            (Mode::Live, "in live mode; ask the operator, or use a qk_test_ key", "no modo live; fale com"),
            (Mode::Test, "in test mode; ask the operator for a sandbox", "no modo test; peça"),
        ] {
            let message = ApiError::methods_unavailable(&[], mode).message;
            assert!(message.english().contains(english), "{message:?}");
            assert!(message.portuguese().contains(portuguese), "{message:?}");
        }
    }
}
