//! Users and sessions.

use std::sync::Arc;

use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, Role, Session, SessionOf, User};
use quita_domain::time::Timestamp;
use quita_ports::PeopleStore;

/// In a time whose sessions no server deletes for their age: 2100-01-01.
const NOW: Timestamp = Timestamp::from_millis(4_102_444_800_000);

fn login(text: &str) -> Login {
    Login::parse(text).unwrap()
}

pub fn user(address: &str, merchant: &str) -> User {
    User {
        login: login(address),
        merchant: MerchantId::new(merchant),
        role: Role::Owner,
        password_hash: String::from("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"),
        password_version: 1,
        created_at: NOW,
    }
}

fn with_role(before: &User, role: Role) -> User {
    User { role, ..before.clone() }
}

fn session(token: &str, now: Timestamp) -> Session {
    let of = SessionOf::User { login: login("ana@loja.com.br"), password_version: 7 };
    Session::begin(token, of, now)
}

pub async fn a_login_is_taken_once_whosever_it_is(store: Arc<dyn PeopleStore>) {
    let ana = user("ana@loja.com.br", "loja");
    assert_eq!(store.user(&ana.login).await, Ok(None));
    assert_eq!(store.insert_user(&ana).await, Ok(true));
    assert_eq!(store.insert_user(&user("ana@loja.com.br", "outra")).await, Ok(false));
    assert_eq!(store.user(&ana.login).await, Ok(Some(ana)));
    assert_eq!(store.user(&login("bia@loja.com.br")).await, Ok(None));
    assert_eq!(store.users(&MerchantId::new("outra")).await, Ok(Vec::new()));
}

pub async fn users_come_by_login_and_of_one_merchant(store: Arc<dyn PeopleStore>) {
    assert_eq!(store.has_users().await, Ok(false));
    let [caio, ana, bia] = ["caio", "ana", "bia"].map(|name| user(&format!("{name}@loja.com.br"), "loja"));
    for user in [&caio, &user("a@outra.com.br", "outra"), &ana, &bia] {
        assert_eq!(store.insert_user(user).await, Ok(true));
    }
    assert_eq!(store.users(&MerchantId::new("loja")).await, Ok(vec![ana, bia, caio]));
    assert_eq!(store.users(&MerchantId::new("loj")).await, Ok(Vec::new()));
    assert_eq!(store.has_users().await, Ok(true));
}

pub async fn a_user_is_replaced_only_if_it_is_as_expected(store: Arc<dyn PeopleStore>) {
    let owner = user("ana@loja.com.br", "loja");
    let viewer = with_role(&owner, Role::Viewer);
    assert_eq!(store.replace_user(&owner, &viewer).await, Ok(false), "there is none");
    store.insert_user(&owner).await.unwrap();
    assert_eq!(store.replace_user(&owner, &viewer).await, Ok(true));
    assert_eq!(store.replace_user(&owner, &with_role(&owner, Role::Developer)).await, Ok(false));
    assert_eq!(store.user(&owner.login).await, Ok(Some(viewer.clone())));
    let fresh = User { password_hash: String::from("$argon2id$"), password_version: 2, ..viewer.clone() };
    assert_eq!(store.replace_user(&viewer, &fresh).await, Ok(true));
    assert_eq!(store.users(&owner.merchant).await, Ok(vec![fresh]));
}

pub async fn of_many_replacements_of_a_user_one_wins(store: Arc<dyn PeopleStore>) {
    let first = user("ana@loja.com.br", "loja");
    store.insert_user(&first).await.unwrap();
    let tasks: Vec<_> = (2..12)
        .map(|password_version| {
            let (store, first) = (Arc::clone(&store), first.clone());
            tokio::spawn(async move {
                let after = User { password_version, ..first.clone() };
                (store.replace_user(&first, &after).await.unwrap(), after)
            })
        })
        .collect();
    let mut winners = Vec::new();
    for task in tasks {
        let (won, after) = task.await.unwrap();
        winners.extend(won.then_some(after));
    }
    assert_eq!(winners, [store.user(&first.login).await.unwrap().unwrap()]);
}

pub async fn a_removed_user_is_gone_and_the_login_is_free(store: Arc<dyn PeopleStore>) {
    let ana = user("ana@loja.com.br", "loja");
    store.insert_user(&ana).await.unwrap();
    store.insert_user(&user("bia@loja.com.br", "loja")).await.unwrap();
    let of_another = user("ana@loja.com.br", "outra");
    assert_eq!(store.remove_user(&of_another).await, Ok(false), "it is another merchant's");
    assert_eq!(store.remove_user(&ana).await, Ok(true));
    assert_eq!(store.remove_user(&ana).await, Ok(false));
    assert_eq!(store.user(&ana.login).await, Ok(None));
    assert_eq!(store.replace_user(&ana, &with_role(&ana, Role::Viewer)).await, Ok(false));
    assert_eq!(store.users(&ana.merchant).await, Ok(vec![user("bia@loja.com.br", "loja")]));
    assert_eq!(store.insert_user(&of_another).await, Ok(true));
}

pub async fn a_session_is_found_until_it_is_removed(store: Arc<dyn PeopleStore>) {
    let mine = session("token", NOW);
    let of = SessionOf::Operator { credential: String::from("hash") };
    let operators = Session::begin("other", of, NOW);
    assert_eq!(store.session(&mine.id).await, Ok(None));
    store.insert_session(&mine).await.unwrap();
    assert_eq!(store.insert_session(&mine).await, Ok(()), "again, because the answer was lost");
    store.insert_session(&operators).await.unwrap();
    assert_eq!(store.session(&mine.id).await, Ok(Some(mine.clone())));
    store.remove_session(&mine.id).await.unwrap();
    store.remove_session(&mine.id).await.unwrap();
    assert_eq!(store.session(&mine.id).await, Ok(None));
    assert_eq!(store.session(&operators.id).await, Ok(Some(operators)));
}

pub async fn a_session_that_begins_ends_no_other_that_goes_on(store: Arc<dyn PeopleStore>) {
    let first = session("first", NOW);
    store.insert_session(&first).await.unwrap();
    let just_before = Timestamp::from_millis(first.expires_at.millis() - 1);
    store.insert_session(&session("second", just_before)).await.unwrap();
    assert_eq!(store.session(&first.id).await, Ok(Some(first)));
}
