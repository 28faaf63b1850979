//! Brazilian phone numbers.
