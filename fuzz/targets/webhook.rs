//! Signatures and secrets of webhooks, and the addresses to which webhooks may go.
#![no_main]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use quita_domain::webhook::address::{is_public, is_public_name};
use quita_domain::webhook::schedule::{STEPS_MS, wait_ms};
use quita_domain::webhook::signature::{WebhookSecret, sign, verify};
use quita_fuzz::text;

fuzz_target!(|data: &[u8]| {
    secret(&text(data));
    let _ended: Result<()> = signature(&mut Unstructured::new(data));
    let _ended: Result<()> = addresses(&mut Unstructured::new(data));
});

fn secret(text: &str) {
    if let Some(secret) = WebhookSecret::parse(text) {
        assert_eq!(secret.reveal(), text);
        assert!(!format!("{secret:?}").contains(text));
    }
}

/// Checks that what was signed verifies, and that nothing else does.
fn signature(input: &mut Unstructured<'_>) -> Result<()> {
    let bytes = |byte, length| WebhookSecret::from_bytes(vec![byte; length]);
    let ours = bytes(input.arbitrary()?, 32);
    let other = bytes(1, 24);
    let (id, at): (&str, i64) = (input.arbitrary()?, input.arbitrary()?);
    let (body, header): (&[u8], &str) = (input.arbitrary()?, input.arbitrary()?);
    let signed = sign(&[other.clone(), ours.clone()], id, at, body);
    assert!(verify(&ours, id, at, body, &signed) && verify(&other, id, at, body, &signed));
    assert!(verify(&ours, id, at, body, &format!("{header} {signed} {header}")));
    assert!(!verify(&ours, id, at, body, header), "a signature was guessed");
    assert!(!verify(&ours, id, at.wrapping_add(1), body, &signed));
    let mut changed = body.to_vec();
    changed.push(b' ');
    assert!(!verify(&ours, id, at, &changed, &signed));
    Ok(())
}

/// Checks that an address is as public as the one it embeds, and a name as public in any letter case.
fn addresses(input: &mut Unstructured<'_>) -> Result<()> {
    let v4 = Ipv4Addr::from_bits(input.arbitrary()?);
    let mapped = is_public(IpAddr::V6(v4.to_ipv6_mapped()));
    assert_eq!(is_public(IpAddr::V4(v4)), mapped);
    let is_special = v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_multicast();
    assert!(!(is_special || v4.is_unspecified() || v4.is_broadcast() || v4.is_documentation()) || !mapped);
    let v6 = Ipv6Addr::from_bits(input.arbitrary()?);
    let is_special =
        v6.is_loopback() || v6.is_multicast() || v6.is_unicast_link_local() || v6.is_unique_local();
    assert!(!(is_special || v6.is_unspecified()) || !is_public(IpAddr::V6(v6)));
    let made = input.int_in_range(0..=12_usize)?;
    let after = input.arbitrary::<Option<u64>>()?;
    let wait = wait_ms(made, after, input.arbitrary()?);
    assert_eq!(wait.is_some(), made < STEPS_MS.len());
    let name: &str = input.arbitrary()?;
    assert_eq!(is_public_name(name), is_public_name(&name.to_ascii_uppercase()));
    Ok(())
}
