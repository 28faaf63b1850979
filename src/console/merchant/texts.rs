//! Every text of the merchants' console.

mod applications;
mod deliveries;
mod overview;
mod payments;
mod people;

use crate::console::kit::texts::{Everywhere, Proof, texts};
use applications::Applications;
use deliveries::Deliveries;
use overview::Overview;
use payments::Payments;
use people::People;

texts! {
    everywhere: Everywhere,
    applications: Applications,
    deliveries: Deliveries,
    overview: Overview,
    payments: Payments,
    people: People,
    proof: Proof,
}
