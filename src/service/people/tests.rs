//! People on a real embedded store.

use quita_adapters::embedded::EmbeddedStore;
use quita_domain::people::SESSION_MS;
use tempfile::TempDir;

use super::*;
use crate::service::hand_clock::HandClock;

struct Office {
    people: People,
    clock: Arc<HandClock>,
    _folder: TempDir,
}

fn office() -> Office {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::open(folder.path().join("quita.db")).unwrap());
    let clock = Arc::new(HandClock::default());
    clock.set(1_795_262_400_000);
    Office { people: People::new(store, clock.clone()), clock, _folder: folder }
}

fn login(text: &str) -> Login {
    Login::parse(text).unwrap()
}

fn merchant(name: &str) -> MerchantId {
    MerchantId::new(name)
}

impl Office {
    async fn create(&self, of: &str, email: &str, role: Role) -> Secret<String> {
        self.people.create(merchant(of), login(email), role).await.unwrap()
    }

    async fn sign_in(&self, email: &str, password: &Secret<String>) -> Option<NewSession> {
        self.people.sign_in(Some(&login(email)), password).await.unwrap()
    }

    async fn is_in(&self, token: &Secret<String>) -> bool {
        self.people.user_of(token.expose()).await.unwrap().is_some()
    }
}

#[tokio::test]
async fn a_user_signs_in_with_the_own_password_alone() {
    let office = office();
    let ana = office.create("loja", "ana@loja.example", Role::Owner).await;
    let bia = office.create("loja", "bia@loja.example", Role::Viewer).await;
    let session = office.sign_in("Ana@Loja.example", &ana).await.unwrap();
    assert_eq!((session.user.merchant.as_str(), session.user.role), ("loja", Role::Owner));
    assert!(office.is_in(&session.token).await);
    assert!(office.sign_in("ana@loja.example", &bia).await.is_none());
    assert!(office.sign_in("nobody@loja.example", &ana).await.is_none());
    assert!(office.people.sign_in(None, &ana).await.unwrap().is_none());
    assert!(!office.is_in(&Secret::new("invented".into())).await);
}

#[tokio::test]
async fn a_login_belongs_to_one_user_of_one_merchant() {
    let office = office();
    office.create("loja", "ana@loja.example", Role::Owner).await;
    let taken = office.people.create(merchant("other"), login("ANA@loja.example"), Role::Owner).await;
    assert!(matches!(taken, Err(PeopleError::Taken(_))));
    let stranger = office.people.user(&merchant("other"), &login("ana@loja.example")).await;
    assert!(matches!(stranger, Err(PeopleError::NoSuchUser(_))));
    for refused in [
        office.people.remove(&merchant("other"), &login("ana@loja.example")).await.err(),
        office.people.set_role(&merchant("other"), &login("ana@loja.example"), Role::Viewer).await.err(),
        office.people.reset_password(&merchant("other"), &login("ana@loja.example")).await.err(),
    ] {
        assert!(matches!(refused, Some(PeopleError::NoSuchUser(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn another_password_ends_every_session_but_the_new_one() {
    let office = office();
    let first = office.create("loja", "ana@loja.example", Role::Owner).await;
    let (desk, phone) = (
        office.sign_in("ana@loja.example", &first).await.unwrap(),
        office.sign_in("ana@loja.example", &first).await.unwrap(),
    );
    let wrong = office.people.change_password(&desk.user, &Secret::new("wrong".into()), &first).await;
    assert!(matches!(wrong, Err(PeopleError::WrongPassword)));
    let short = office.people.change_password(&desk.user, &first, &Secret::new("short".into())).await;
    assert!(matches!(short, Err(PeopleError::NotAPassword)));
    assert!(office.is_in(&desk.token).await, "what was refused ends nothing");
    let second = Secret::new(String::from("a sentence of my own"));
    let session = office.people.change_password(&desk.user, &first, &second).await.unwrap();
    assert!(office.is_in(&session.token).await);
    assert!(!office.is_in(&desk.token).await && !office.is_in(&phone.token).await);
    assert!(office.sign_in("ana@loja.example", &first).await.is_none());
    let third = office.people.reset_password(&merchant("loja"), &login("ana@loja.example")).await.unwrap();
    assert!(!office.is_in(&session.token).await);
    assert!(office.sign_in("ana@loja.example", &third).await.is_some());
}

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
    office.clock.set(1_795_262_400_000 + i64::try_from(SESSION_MS).unwrap());
    assert!(!office.is_in(&session.token).await);
}

#[tokio::test]
async fn an_operator_session_is_of_one_credential_and_of_no_user() {
    let office = office();
    let credential =
        |password: &str, key: &[u8]| OperatorCredential::new(Secret::new(password.into()), [key]);
    let ours = credential("one long password", b"key");
    let presented = |text: &str| Secret::new(String::from(text));
    assert!(office.people.sign_operator_in(&ours, &presented("another password")).await.unwrap().is_none());
    assert!(office.people.sign_operator_in(&ours, &presented("")).await.unwrap().is_none());
    let token =
        office.people.sign_operator_in(&ours, &presented("one long password")).await.unwrap().unwrap();
    assert!(office.people.is_operator(&ours, token.expose()).await.unwrap());
    for other in [credential("another password", b"key"), credential("one long password", b"another key")] {
        assert!(!office.people.is_operator(&other, token.expose()).await.unwrap());
    }
    assert!(!office.is_in(&token).await, "the operator is no merchant's user");
    let user = office.create("loja", "ana@loja.example", Role::Owner).await;
    let session = office.sign_in("ana@loja.example", &user).await.unwrap();
    assert!(!office.people.is_operator(&ours, session.token.expose()).await.unwrap());
}
