//! Beginning, course and end of sessions.

use quita_domain::people::SESSION_MS;

use super::*;

#[tokio::test]
async fn a_removed_user_leaves_no_session_to_a_later_one_of_the_same_login() {
    let office = office();
    let password = office.create("loja", "ana@loja.example", Role::Owner).await;
    let session = office.sign_in("ana@loja.example", &password).await.unwrap();
    office.people.remove(&merchant("loja"), &login("ana@loja.example")).await.unwrap();
    assert!(!office.is_in(&session.token).await);
    office.clock.set(1_795_262_400_000 + 60_000);
    office.create("other", "ana@loja.example", Role::Owner).await;
    assert!(!office.is_in(&session.token).await);
}

#[tokio::test]
async fn a_session_ends_when_it_is_signed_out_and_by_itself() {
    let office = office();
    let password = office.create("loja", "ana@loja.example", Role::Owner).await;
    let session = office.sign_in("ana@loja.example", &password).await.unwrap();
    office.people.sign_out(session.token.expose()).await.unwrap();
    assert!(!office.is_in(&session.token).await);
    let session = office.sign_in("ana@loja.example", &password).await.unwrap();
    for _ in 0..71 {
        office.pass(10 * 60_000);
        assert!(office.people.visit::<User>(session.token.expose()).await.unwrap().is_some());
    }
    office.pass(SESSION_MS - 71 * 10 * 60_000);
    assert!(!office.is_in(&session.token).await, "it is over, however much is done in it");
}

#[tokio::test]
async fn a_session_in_which_nothing_is_done_ends_and_looking_keeps_none_alive() {
    let office = office();
    let password = office.create("loja", "ana@loja.example", Role::Owner).await;
    let session = office.sign_in("ana@loja.example", &password).await.unwrap();
    for _ in 0..4 {
        office.pass(14 * 60_000);
        assert!(office.people.visit::<User>(session.token.expose()).await.unwrap().is_some());
    }
    for _ in 0..14 {
        office.pass(60_000);
        assert!(office.is_in(&session.token).await);
    }
    office.pass(60_000);
    assert!(!office.is_in(&session.token).await, "it was only looked at");
    assert!(
        office.people.visit::<User>(session.token.expose()).await.unwrap().is_none(),
        "and is over for good"
    );
}

#[tokio::test]
async fn the_use_of_a_session_is_noted_once_a_minute() {
    let office = office();
    let password = office.create("loja", "ana@loja.example", Role::Owner).await;
    let token = office.sign_in("ana@loja.example", &password).await.unwrap().token;
    let began = office.clock.now();
    let visit = async || {
        office.people.visit::<User>(token.expose()).await.unwrap().unwrap();
        office.signed(&token).await.session.last_seen_at
    };
    office.pass(59_000);
    assert_eq!(visit().await, began);
    office.pass(1_000);
    assert_eq!(visit().await, began.plus_ms(60_000));
}

#[tokio::test]
async fn people_see_and_end_their_own_sessions_and_no_others() {
    let office = office();
    let ana = office.create("loja", "ana@loja.example", Role::Owner).await;
    let bia = office.create("loja", "bia@loja.example", Role::Owner).await;
    let desk = office.sign_in("ana@loja.example", &ana).await.unwrap();
    let phone = office.sign_in("ana@loja.example", &ana).await.unwrap();
    let others = office.sign_in("bia@loja.example", &bia).await.unwrap();
    let at_desk = office.signed(&desk.token).await;
    let sessions = office.people.sessions(&at_desk.person).await.unwrap();
    assert_eq!(sessions.len(), 2);
    assert!(sessions.iter().all(|session| session.origin == origin()));
    let of_another = office.signed(&others.token).await.session.public_id();
    assert!(!office.people.end_session(&at_desk.person, &of_another).await.unwrap());
    let of_phone = office.signed(&phone.token).await.session.public_id();
    assert!(office.people.end_session(&at_desk.person, &of_phone).await.unwrap());
    assert!(!office.is_in(&phone.token).await && office.is_in(&others.token).await);
    let again = office.sign_in("ana@loja.example", &ana).await.unwrap();
    assert_eq!(office.people.end_other_sessions(&at_desk).await.unwrap(), 1);
    assert!(office.is_in(&desk.token).await && !office.is_in(&again.token).await);
}
