//! Users, operators and sessions.

use std::sync::Arc;

use quita_domain::identity::MerchantId;
use quita_domain::money::Money;
use quita_domain::people::{
    Credentials, Login, MailLanguage, Mailing, MerchantPolicy, MerchantProfile, MessageWebhook, Operator,
    OperatorRole, ReportedTrouble, Role, SecondFactor, Session, SessionOf, SessionOrigin, SessionStage, User,
    WrongCodes,
};
use quita_domain::secret_key::{SealedSecret, SecretKeyId};
use quita_domain::time::Timestamp;
use quita_ports::PeopleStore;

/// A time so late that no server deletes sessions for their age: 2100-01-01.
const NOW: Timestamp = Timestamp::from_millis(4_102_444_800_000);

fn login(text: &str) -> Login {
    Login::parse(text).unwrap()
}

pub fn credentials(password_version: u32) -> Credentials {
    let hash = String::from("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA");
    Credentials::new(hash, password_version, false)
}

/// Returns credentials with all possible fields.
pub fn full_credentials() -> Credentials {
    let secret = SealedSecret { key: SecretKeyId::of(b"key"), text: String::from("c2VhbGVk") };
    let recovery_codes = vec!["a".repeat(64), "b".repeat(64)];
    Credentials {
        former_hashes: vec![String::from("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$b2xk")],
        must_change_password: true,
        made_password_until: Some(Timestamp::from_millis(86_400_000)),
        second_factor: Some(SecondFactor { secret, recovery_codes, last_step: 59_000_000, since: NOW }),
        wrong_codes: WrongCodes { count: 3, last_at: NOW },
        ..credentials(2)
    }
}

/// Returns a mailing with all possible fields.
pub fn full_mailing() -> Mailing {
    Mailing {
        is_off: true,
        language: MailLanguage::English,
        reported_until: Some(NOW),
        troubles: vec![ReportedTrouble { trouble: "receiver live loja.com.br".into(), at: NOW }],
        next_at: Some(NOW),
        begun: 2,
    }
}

/// Returns a receiver of messages with all possible fields.
pub fn full_webhook() -> MessageWebhook {
    let secret = SealedSecret { key: SecretKeyId::of(b"key"), text: String::from("d2hzZWM=") };
    MessageWebhook { url: "https://hooks.example/T0/B0?x=1".into(), secret, mailing: full_mailing() }
}

pub fn operator(address: &str, role: OperatorRole) -> Operator {
    Operator {
        login: login(address),
        role,
        credentials: credentials(1),
        created_at: NOW,
        mailing: Mailing::default(),
        message_webhook: None,
    }
}

pub fn user(address: &str, merchant: &str) -> User {
    User {
        login: login(address),
        merchant: MerchantId::new(merchant),
        role: Role::Owner,
        credentials: credentials(1),
        created_at: NOW,
        mailing: Mailing::default(),
        message_webhook: None,
    }
}

fn with_role(before: &User, role: Role) -> User {
    User { role, ..before.clone() }
}

pub fn session(token: &str, now: Timestamp) -> Session {
    let of = SessionOf::User { login: login("ana@loja.com.br"), password_version: 7 };
    Session::begin(token, of, SessionStage::Whole, SessionOrigin::new("10.0.0.1", "Firefox"), now)
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
    let fresh = User {
        credentials: full_credentials(),
        mailing: full_mailing(),
        message_webhook: Some(full_webhook()),
        ..viewer.clone()
    };
    assert_eq!(store.replace_user(&viewer, &fresh).await, Ok(true));
    assert_eq!(store.users(&owner.merchant).await, Ok(vec![fresh]));
}

pub async fn of_many_replacements_of_a_user_one_wins(store: Arc<dyn PeopleStore>) {
    let first = user("ana@loja.com.br", "loja");
    store.insert_user(&first).await.unwrap();
    let tasks: Vec<_> = (2..12)
        .map(|password_version| {
            let store = Arc::clone(&store);
            let first = first.clone();
            tokio::spawn(async move {
                let after = User { credentials: credentials(password_version), ..first.clone() };
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
    let of = SessionOf::Operator { login: Login::parse("olga@ops.example").unwrap(), password_version: 1 };
    let operators = Session::begin("other", of, SessionStage::Half, SessionOrigin::default(), NOW);
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

pub async fn users_of_everybody_come_page_by_page(store: Arc<dyn PeopleStore>) {
    let users = [("a", "one"), ("b", "two"), ("c", "one")]
        .map(|(name, merchant)| user(&format!("{name}@loja.com.br"), merchant));
    for user in &users {
        store.insert_user(user).await.unwrap();
    }
    assert_eq!(store.users_after(None, 2).await, Ok(users[..2].to_vec()));
    assert_eq!(store.users_after(Some(&users[1].login), 2).await, Ok(users[2..].to_vec()));
    assert_eq!(store.users_after(Some(&users[2].login), 2).await, Ok(Vec::new()));
    assert_eq!(store.users_after(None, 0).await, Ok(Vec::new()));
}

pub async fn a_merchant_has_one_policy_and_none_asks_for_nothing(store: Arc<dyn PeopleStore>) {
    let loja = MerchantId::new("loja");
    let outra = MerchantId::new("outra");
    assert_eq!(store.policy(&loja).await, Ok(MerchantPolicy::default()));
    let strict =
        MerchantPolicy { second_factor_required: true, confirm_refunds_above: Some(Money::from_cents(5)) };
    for policy in [strict, MerchantPolicy { confirm_refunds_above: None, ..strict }] {
        store.put_policy(&loja, &policy).await.unwrap();
        assert_eq!(store.policy(&loja).await, Ok(policy));
    }
    assert_eq!(store.policy(&outra).await, Ok(MerchantPolicy::default()));
}

pub async fn a_merchant_has_one_profile_and_an_empty_one_at_first(store: Arc<dyn PeopleStore>) {
    let loja = MerchantId::new("loja");
    let outra = MerchantId::new("outra");
    assert_eq!(store.profile(&loja).await, Ok(MerchantProfile::default()));
    let named = MerchantProfile::default().with_display_name("Padaria Estrela").unwrap();
    let whole = named.clone().with_contact("ajuda@loja.com.br").unwrap();
    for profile in [whole, named] {
        store.put_profile(&loja, &profile).await.unwrap();
        assert_eq!(store.profile(&loja).await, Ok(profile));
    }
    assert_eq!(store.profile(&outra).await, Ok(MerchantProfile::default()));
    assert_eq!(store.policy(&loja).await, Ok(MerchantPolicy::default()), "rules are another thing");
}

pub async fn operators_are_made_listed_and_replaced_only_as_expected(store: Arc<dyn PeopleStore>) {
    assert_eq!(store.operators().await, Ok(Vec::new()));
    let bia = operator("bia@quita.example", OperatorRole::Operator);
    let ana = operator("ana@quita.example", OperatorRole::Auditor);
    assert_eq!(store.replace_operator(&ana, &bia).await, Ok(false), "there is none");
    for operator in [&bia, &ana] {
        assert_eq!(store.insert_operator(operator).await, Ok(true));
    }
    assert_eq!(
        store.insert_operator(&operator("ana@quita.example", OperatorRole::Operator)).await,
        Ok(false)
    );
    assert_eq!(store.insert_user(&user("ana@quita.example", "loja")).await, Ok(true), "users are others");
    assert_eq!(store.operators().await, Ok(vec![ana.clone(), bia.clone()]));
    let role = OperatorRole::Operator;
    let after = Operator {
        credentials: full_credentials(),
        mailing: full_mailing(),
        message_webhook: Some(full_webhook()),
        role,
        ..ana.clone()
    };
    assert_eq!(store.replace_operator(&ana, &after).await, Ok(true));
    assert_eq!(store.replace_operator(&ana, &after).await, Ok(false), "it is another now");
    assert_eq!(store.operator(&ana.login).await, Ok(Some(after.clone())));
    assert_eq!(store.remove_operator(&ana).await, Ok(false), "it is another now");
    assert_eq!(store.remove_operator(&after).await, Ok(true));
    assert_eq!(store.operator(&ana.login).await, Ok(None));
    assert_eq!(store.operators().await, Ok(vec![bia]));
}

pub async fn of_many_replacements_of_an_operator_one_wins(store: Arc<dyn PeopleStore>) {
    let first = operator("ana@quita.example", OperatorRole::Operator);
    store.insert_operator(&first).await.unwrap();
    let tasks: Vec<_> = (2..12)
        .map(|password_version| {
            let store = Arc::clone(&store);
            let first = first.clone();
            tokio::spawn(async move {
                let after = Operator { credentials: credentials(password_version), ..first.clone() };
                (store.replace_operator(&first, &after).await.unwrap(), after)
            })
        })
        .collect();
    let mut winners = Vec::new();
    for task in tasks {
        let (won, after) = task.await.unwrap();
        winners.extend(won.then_some(after));
    }
    assert_eq!(winners, [store.operator(&first.login).await.unwrap().unwrap()]);
}

pub async fn a_session_is_replaced_as_expected_and_never_comes_back(store: Arc<dyn PeopleStore>) {
    let first = session("token", NOW);
    let refunded = Money::from_cents(9_000);
    let later = Session { last_seen_at: NOW.plus_ms(60_000), refunded, ..first.clone() };
    assert_eq!(store.replace_session(&first, &later).await, Ok(false), "there is none");
    assert_eq!(store.session(&first.id).await, Ok(None));
    store.insert_session(&first).await.unwrap();
    assert_eq!(store.replace_session(&first, &later).await, Ok(true));
    assert_eq!(store.replace_session(&first, &later).await, Ok(false), "it is another now");
    assert_eq!(store.session(&first.id).await, Ok(Some(later.clone())));
    store.remove_session(&first.id).await.unwrap();
    assert_eq!(store.replace_session(&later, &first).await, Ok(false), "it was ended");
    assert_eq!(store.session(&first.id).await, Ok(None));
}

pub async fn the_sessions_of_one_person_are_found(store: Arc<dyn PeopleStore>) {
    let one = session("one", NOW);
    let two = session("two", NOW);
    let of = |login: Login| SessionOf::Operator { login, password_version: 7 };
    let operators = Session { of: of(login("ana@loja.com.br")), ..session("three", NOW) };
    for session in [&one, &two, &operators] {
        store.insert_session(session).await.unwrap();
    }
    let mut found = store.sessions_of(&one.of.person()).await.unwrap();
    let mut expected = vec![one, two];
    found.sort_by(|left, right| left.id.cmp(&right.id));
    expected.sort_by(|left, right| left.id.cmp(&right.id));
    assert_eq!(found, expected);
    assert_eq!(store.sessions_of(&operators.of.person()).await, Ok(vec![operators]));
    assert_eq!(store.sessions_of("user bia@loja.com.br").await, Ok(Vec::new()));
}
