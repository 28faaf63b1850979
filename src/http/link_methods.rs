//! Methods of a link: those that acquirers of its mode could take, with its amount and terms.

use quita_actors::Denied;
use quita_domain::identity::Mode;
use quita_domain::link::{Link, Offer};
use quita_domain::method::Method;

use super::edge::Edge;
use super::errors::{ApiError, NotTaken};

/// Methods that the page of a link takes.
pub(crate) const METHODS_OF_PAGE: [Method; 3] = [Method::Pix, Method::Boleto, Method::CreditCard];

/// Returns the page's methods for which acquirers of this mode are configured.
pub(crate) fn available_methods(edge: &Edge, mode: Mode) -> Vec<Method> {
    let routes = edge.payments.acquirers();
    let has_route =
        |method: &Method| routes.iter().any(|route| (route.mode, route.method) == (mode, *method));
    METHODS_OF_PAGE.into_iter().filter(has_route).collect()
}

/// Returns the error of a link that no acquirer of its mode could ever take; `None` if one could. Methods that were
/// sent are named in it.
pub(crate) fn never_payable(edge: &Edge, link: &Link, sent: &[Method]) -> Option<ApiError> {
    let offer = &link.offer;
    let not_taken =
        |methods: &[Method]| NotTaken::new(&edge.payments, methods, link.owner.mode, offer.amount);
    let refusal = |method: &Method| Some((lasting_refusal(edge, link, *method)?, not_taken(&[*method])));
    let refusals: Option<Vec<_>> = offer.methods.iter().map(refusal).collect();
    Some(ApiError::of_link(&refusals?, &not_taken(&offer.methods), sent))
}

/// Returns a new link with only those of its default methods that an acquirer could take. It keeps methods that were
/// sent: limits of acquirers may change, and its page offers what they accept then.
pub(super) fn with_possible_methods(edge: &Edge, link: Link, sent: &[Method]) -> Result<Link, ApiError> {
    if let Some(error) = never_payable(edge, &link, sent) {
        return Err(error);
    }
    if !sent.is_empty() {
        return Ok(link);
    }
    let is_possible = |method: &Method| lasting_refusal(edge, &link, *method).is_none();
    let methods = link.offer.methods.iter().copied().filter(is_possible).collect();
    Ok(Link { offer: Offer { methods, ..link.offer.clone() }, ..link })
}

/// Returns the reason why no acquirer could ever take a payment by this method; `None` if one could.
fn lasting_refusal(edge: &Edge, link: &Link, method: Method) -> Option<Denied> {
    // Without a specimen the order would be invalid whatever the acquirers; its form says why.
    let order = link.specimen(method, edge.clock.now(), &edge.limits)?;
    edge.payments.lasting_refusal(&order, &link.owner)
}
