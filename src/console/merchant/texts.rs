//! All texts of the merchants' console.

mod applications;
mod deliveries;
mod links;
mod movements;
mod overview;
mod payments;
mod requests;
mod users;

use crate::console::kit::texts::{Everywhere, People, Proof, texts};
use applications::Applications;
use deliveries::Deliveries;
use links::Links;
use movements::Movements;
use overview::Overview;
use payments::Payments;
pub(super) use requests::Requests;
use users::Users;

texts! {
    /// Texts of the merchants' console.
    MerchantTexts {
        everywhere: Everywhere,
        applications: Applications,
        deliveries: Deliveries,
        links: Links,
        movements: Movements,
        overview: Overview,
        payments: Payments,
        people: People,
        proof: Proof,
        requests: Requests,
        users: Users,
    }
}
