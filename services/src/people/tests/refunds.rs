//! Refunds of a session, summed since the last proof of identity.

use quita_domain::money::Money;

use super::*;

const LIMIT: Option<Money> = Some(Money::from_cents(100));

fn cents(cents: u64) -> Money {
    Money::from_cents(cents)
}

/// Signs a person in; returns the session and the password.
async fn somebody(office: &Office) -> (Signed<User>, Secret<String>) {
    let password = office.create("loja", "ana@loja.example", Role::Owner).await;
    let token = office.sign_in("ana@loja.example", &password).await.unwrap().token;
    (office.signed(&token).await, password)
}

#[tokio::test]
async fn small_refunds_are_summed_up_until_the_next_proof() {
    let office = office();
    let (signed, password) = somebody(&office).await;
    let count = async |amount: u64, limit| {
        office.people.count_refund(&signed.session, cents(amount), limit).await.unwrap()
    };
    assert!(count(60, LIMIT).await && count(40, LIMIT).await, "up to the limit");
    assert!(!count(1, LIMIT).await && !count(1, LIMIT).await, "not beyond, and what is not counted stays so");
    assert!(count(500, None).await, "what was proven is counted too");
    assert!(!count(1, LIMIT).await);
    office.people.confirm_by_password(&signed, &password).await.unwrap();
    assert!(count(100, LIMIT).await && !count(1, LIMIT).await, "from the proof on");
    office.people.uncount_refund(&signed.session, cents(60)).await.unwrap();
    assert!(count(60, LIMIT).await && !count(1, LIMIT).await);
}

#[tokio::test]
async fn refunds_at_the_same_moment_see_each_other() {
    let office = office();
    let (signed, _) = somebody(&office).await;
    let refunds = (0..6).map(|_| office.people.count_refund(&signed.session, cents(40), LIMIT));
    let counted = futures_util::future::join_all(refunds).await;
    // A call that lost too many races is refused, and may be repeated.
    assert!(counted.iter().filter(|counted| matches!(counted, Ok(true))).count() <= 2, "{counted:?}");
}

#[tokio::test]
async fn nothing_is_counted_in_a_session_that_is_over() {
    let office = office();
    let (signed, _) = somebody(&office).await;
    office.people.end_session(&signed.person, &signed.session.public_id()).await.unwrap();
    let counted = office.people.count_refund(&signed.session, cents(1), LIMIT).await;
    assert!(matches!(counted, Err(PeopleError::SessionOver)), "{counted:?}");
}

#[tokio::test]
async fn another_password_is_no_proof_of_who_has_a_second_factor() {
    let office = office();
    let (signed, password) = somebody(&office).await;
    let secret = office.factors.propose().unwrap();
    let code = office.code(&secret);
    office.factors.set_up(&signed.person, &secret, &code).await.unwrap();
    assert!(office.people.count_refund(&signed.session, cents(100), LIMIT).await.unwrap());
    let session = office.people.watch::<User>(&signed.session.id).await.unwrap();
    assert!(session.is_none(), "an id is no token");
    let stored = office.store.session(&signed.session.id).await.unwrap().unwrap();
    let user = office.people.user(&merchant("loja"), &signed.person.login).await.unwrap();
    let signed = Signed { person: user, session: stored };
    let new = Secret::new(String::from("um barco verde na janela dela"));
    let next = office.people.change_password(&signed, &password, &new).await.unwrap();
    let next = office.signed(&next.token).await;
    assert!(!office.people.count_refund(&next.session, cents(1), LIMIT).await.unwrap());
}
