//! Pagar.me's core v5: cards, PIX and boletos.
//!
//! Each payment is an order with one charge. Its code and its idempotency key are our id (`code`). So it can be found
//! after an unclear answer, and sent again without a second charge. HTTP 200 proves nothing: the status of the charge
//! decides, explained by its newest step (`status`, `statement`). Operations are identified by the charge's sums
//! (`operation`). Splits go to Pagar.me's recipients (`splits`). Payables are the list for reconciliation (`lists`).
//!
//! Path of a charge: `request` → `call` → `order` → `statement`, with `codes` or `decline`.

mod adapter;
mod call;
mod code;
mod codes;
mod decline;
mod factory;
mod lists;
mod lookup;
mod notices;
mod operation;
mod order;
mod pace;
mod payables;
mod refusal;
mod request;
pub mod settings;
mod splits;
mod statement;
mod status;

pub use factory::PagarmeFactory;

/// Names under which a reference contains Pagar.me's ids of order and charge.
const ORDER_ID: &str = "orderId";
const CHARGE_ID: &str = "chargeId";
