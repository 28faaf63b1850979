//! Quita: payments in Brazil by PIX, boleto and credit card.

use std::process::ExitCode;

fn main() -> ExitCode {
    quita::cli::main()
}
