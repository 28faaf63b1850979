//! Prints docs/STATUS.md from the transition table.

fn main() {
    print!("{}", quita_domain::status::status_page());
}
