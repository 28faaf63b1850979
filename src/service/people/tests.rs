//! People on a real embedded store.

use quita_actors::{Strongbox, Which};
use quita_adapters::embedded::EmbeddedStore;
use quita_adapters::vault::AeadVault;
use quita_domain::identity::MerchantId;
use quita_domain::people::{MerchantPolicy, Operator, OperatorRole, Origin, Role, SESSION_MS, User};
use quita_domain::secret_key::IdKeys;
use tempfile::TempDir;

use super::*;
use crate::service::hand_clock::HandClock;

const KEY: &[u8] = b"the secret key of the tests";
const NEW_KEY: &[u8] = b"the next secret key of the tests";

struct Office {
    people: People,
    factors: SecondFactors,
    store: Arc<EmbeddedStore>,
    clock: Arc<HandClock>,
    _folder: TempDir,
}

fn office() -> Office {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::open(folder.path().join("quita.db")).unwrap());
    let clock = Arc::new(HandClock::default());
    clock.set(1_795_262_400_000);
    let people = People::new(store.clone(), clock.clone());
    let factors = SecondFactors::new(people.clone(), strongbox(&store, &[KEY]));
    Office { people, factors, store, clock, _folder: folder }
}

fn strongbox(store: &Arc<EmbeddedStore>, keys: &[&'static [u8]]) -> Strongbox {
    Strongbox::new(store.clone(), Arc::new(AeadVault::new(keys.iter().copied(), [])))
}

fn login(text: &str) -> Login {
    Login::parse(text).unwrap()
}

fn origin() -> Origin {
    Origin::new("10.0.0.1", "Firefox")
}

fn merchant(name: &str) -> MerchantId {
    MerchantId::new(name)
}

impl Office {
    async fn create(&self, of: &str, email: &str, role: Role) -> Secret<String> {
        self.people.create(merchant(of), login(email), role).await.unwrap()
    }

    async fn sign_in(&self, email: &str, password: &Secret<String>) -> Option<NewSession<User>> {
        self.people.sign_in(Some(&login(email)), password, origin()).await.unwrap()
    }

    async fn signed(&self, token: &Secret<String>) -> Signed<User> {
        self.people.watch(token.expose()).await.unwrap().unwrap()
    }

    fn pass(&self, ms: u64) {
        let now = self.clock.now().plus_ms(ms);
        self.clock.set(now.millis());
    }

    async fn is_in(&self, token: &Secret<String>) -> bool {
        self.people.watch::<User>(token.expose()).await.unwrap().is_some()
    }
}

#[tokio::test]
async fn a_user_signs_in_with_the_own_password_alone() {
    let office = office();
    let ana = office.create("loja", "ana@loja.example", Role::Owner).await;
    let bia = office.create("loja", "bia@loja.example", Role::Viewer).await;
    let session = office.sign_in("Ana@Loja.example", &ana).await.unwrap();
    assert_eq!((session.person.merchant.as_str(), session.person.role), ("loja", Role::Owner));
    assert!(office.is_in(&session.token).await);
    assert!(office.sign_in("ana@loja.example", &bia).await.is_none());
    assert!(office.sign_in("nobody@loja.example", &ana).await.is_none());
    assert!(office.people.sign_in::<User>(None, &ana, origin()).await.unwrap().is_none());
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
    let at_desk = office.signed(&desk.token).await;
    let wrong = office.people.change_password(&at_desk, &Secret::new("wrong".into()), &first).await;
    assert!(matches!(wrong, Err(PeopleError::WrongPassword)));
    let short = office.people.change_password(&at_desk, &first, &Secret::new("short".into())).await;
    assert!(matches!(short, Err(PeopleError::NotAPassword)));
    assert!(office.is_in(&desk.token).await, "what was refused ends nothing");
    let second = Secret::new(String::from("um céu de cada vez, devagar"));
    let session = office.people.change_password(&at_desk, &first, &second).await.unwrap();
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

#[tokio::test]
async fn a_password_that_somebody_else_made_is_to_be_changed_and_cannot_be_kept() {
    let office = office();
    let given = office.create("loja", "ana@loja.example", Role::Owner).await;
    let session = office.sign_in("ana@loja.example", &given).await.unwrap();
    assert_eq!(office.people.duty(&session.person).await.unwrap(), Some(Duty::ChangePassword));
    let signed = office.signed(&session.token).await;
    let kept = office.people.replace_given_password(&signed, &given).await;
    assert!(matches!(kept, Err(PeopleError::SamePassword)));
    let weak = Secret::new(String::from("ana@loja.example"));
    let weak = office.people.replace_given_password(&signed, &weak).await;
    assert!(matches!(weak, Err(PeopleError::Weak(_))));
    let own = Secret::new(String::from("um céu de cada vez, devagar"));
    let session = office.people.replace_given_password(&signed, &own).await.unwrap();
    assert_eq!(office.people.duty(&session.person).await.unwrap(), None);
    let signed = office.signed(&session.token).await;
    let again = office.people.replace_given_password(&signed, &given).await;
    assert!(matches!(again, Err(PeopleError::WrongPassword)), "nobody else made this one");
    office.people.reset_password(&merchant("loja"), &login("ana@loja.example")).await.unwrap();
    let user = office.people.user(&merchant("loja"), &login("ana@loja.example")).await.unwrap();
    assert_eq!(office.people.duty(&user).await.unwrap(), Some(Duty::ChangePassword));
}

/// Somebody with an authenticator.
struct Holder {
    secret: Secret<String>,
    password: Secret<String>,
    recovery_codes: Vec<String>,
}

impl Office {
    async fn holder(&self) -> Holder {
        let password = self.create("loja", "ana@loja.example", Role::Owner).await;
        let user = self.people.user(&merchant("loja"), &login("ana@loja.example")).await.unwrap();
        let secret = self.factors.propose().unwrap();
        let codes = self.factors.set_up(&user, &secret, &self.code(&secret)).await.unwrap();
        let recovery_codes = codes.iter().map(quita_domain::people::RecoveryCode::reveal).collect();
        self.pass(30_000);
        Holder { secret, password, recovery_codes }
    }

    fn code(&self, secret: &Secret<String>) -> String {
        let secret = totp_rs::Secret::try_from_base32(secret.expose()).unwrap();
        let totp = totp_rs::Builder::new().with_secret(secret).build().unwrap();
        totp.generate(self.clock.now().millis().unsigned_abs() / 1_000).to_string()
    }

    /// A code that is wrong now.
    fn wrong_code(&self, secret: &Secret<String>) -> String {
        let near: Vec<_> = [-30_000_i64, 0, 30_000]
            .map(|ms| {
                let now = self.clock.now();
                self.clock.set(now.millis() + ms);
                let code = self.code(secret);
                self.clock.set(now.millis());
                code
            })
            .to_vec();
        (0..).map(|number| format!("{number:06}")).find(|code| !near.contains(code)).unwrap()
    }

    async fn half(&self, holder: &Holder) -> NewSession<User> {
        self.sign_in("ana@loja.example", &holder.password).await.unwrap()
    }

    async fn give(
        &self,
        token: &Secret<String>,
        text: &str,
    ) -> Result<Option<(NewSession<User>, Given)>, PeopleError> {
        self.factors.finish_sign_in::<User>(token.expose(), text, origin()).await
    }
}

#[tokio::test]
async fn a_password_alone_opens_nothing_to_who_has_a_second_factor() {
    let office = office();
    let holder = office.holder().await;
    let half = office.half(&holder).await;
    assert_eq!(half.stage, SessionStage::Half);
    assert!(!office.is_in(&half.token).await);
    assert!(office.people.visit::<User>(half.token.expose()).await.unwrap().is_none());
    let wrong = office.give(&half.token, &office.wrong_code(&holder.secret)).await.err().unwrap();
    assert!(matches!(wrong, PeopleError::WrongCode));
    let (whole, given) = office.give(&half.token, &office.code(&holder.secret)).await.unwrap().unwrap();
    assert_eq!(given, Given::Code);
    assert!(office.is_in(&whole.token).await && !office.is_in(&half.token).await);
    assert!(
        office.give(&half.token, &office.code(&holder.secret)).await.unwrap().is_none(),
        "the half is over"
    );
}

#[tokio::test]
async fn a_code_is_taken_once_and_none_before_it() {
    let office = office();
    let holder = office.holder().await;
    let before = office.code(&holder.secret);
    office.pass(30_000);
    let code = office.code(&holder.secret);
    let half = office.half(&holder).await;
    assert!(office.give(&half.token, &code).await.unwrap().is_some());
    for used in [&code, &before] {
        let half = office.half(&holder).await;
        let again = office.give(&half.token, used).await.err().unwrap();
        assert!(matches!(again, PeopleError::WrongCode), "{again}");
    }
}

#[tokio::test]
async fn of_many_who_give_the_same_code_one_gets_in() {
    let office = office();
    let holder = office.holder().await;
    let code = office.code(&holder.secret);
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let half = office.half(&holder).await;
        let (factors, code) = (office.factors.clone(), code.clone());
        tasks.push(tokio::spawn(async move {
            factors.finish_sign_in::<User>(half.token.expose(), &code, origin()).await
        }));
    }
    let mut inside = 0;
    for task in tasks {
        inside += usize::from(matches!(task.await.unwrap(), Ok(Some(_))));
    }
    assert_eq!(inside, 1);
}

#[tokio::test]
async fn a_recovery_code_gets_in_once() {
    let office = office();
    let holder = office.holder().await;
    assert_eq!(holder.recovery_codes.len(), 10);
    let half = office.half(&holder).await;
    let (_, given) = office.give(&half.token, &holder.recovery_codes[3]).await.unwrap().unwrap();
    assert_eq!(given, Given::RecoveryCode { left: 9 });
    let half = office.half(&holder).await;
    let again = office.give(&half.token, &holder.recovery_codes[3]).await.err().unwrap();
    assert!(matches!(again, PeopleError::WrongCode));
    let user = office.people.find(&login("ana@loja.example")).await.unwrap();
    let fresh = office.factors.renew_recovery_codes(&user).await.unwrap();
    let old = office.give(&half.token, &holder.recovery_codes[4]).await.err().unwrap();
    assert!(matches!(old, PeopleError::WrongCode), "new ones take the place of all before");
    assert!(office.give(&half.token, &fresh[0].reveal()).await.unwrap().is_some());
}

#[tokio::test]
async fn guesses_end_the_sign_in_and_then_wait_and_a_recovery_code_does_not() {
    let office = office();
    let holder = office.holder().await;
    let half = office.half(&holder).await;
    for guess in 1..=5 {
        let wrong = office.give(&half.token, &office.wrong_code(&holder.secret)).await.err().unwrap();
        assert_eq!(matches!(wrong, PeopleError::SignInOver), guess == 5, "{guess}: {wrong}");
    }
    assert!(office.give(&half.token, &office.code(&holder.secret)).await.unwrap().is_none(), "it is over");
    let half = office.half(&holder).await;
    let waits = office.give(&half.token, &office.code(&holder.secret)).await.err().unwrap();
    assert!(matches!(waits, PeopleError::CodesWait(30)), "right or wrong: {waits}");
    assert!(office.give(&half.token, &holder.recovery_codes[0]).await.unwrap().is_some());
    let half = office.half(&holder).await;
    office.pass(30_000);
    assert!(office.give(&half.token, &office.code(&holder.secret)).await.unwrap().is_some());
    let half = office.half(&holder).await;
    let wrong = office.give(&half.token, &office.wrong_code(&holder.secret)).await.err().unwrap();
    assert!(matches!(wrong, PeopleError::WrongCode), "a right code begins the count anew");
}

#[tokio::test]
async fn half_a_session_ends_after_ten_minutes_and_with_another_password() {
    let office = office();
    let holder = office.holder().await;
    let half = office.half(&holder).await;
    office.pass(10 * 60_000);
    assert!(office.give(&half.token, &office.code(&holder.secret)).await.unwrap().is_none());
    let half = office.half(&holder).await;
    office.people.reset_password(&merchant("loja"), &login("ana@loja.example")).await.unwrap();
    assert!(office.give(&half.token, &office.code(&holder.secret)).await.unwrap().is_none());
}

#[tokio::test]
async fn who_has_a_second_factor_is_asked_for_it_again_and_not_for_the_password() {
    let office = office();
    let holder = office.holder().await;
    let half = office.half(&holder).await;
    let (session, _) = office.give(&half.token, &office.code(&holder.secret)).await.unwrap().unwrap();
    let signed = office.signed(&session.token).await;
    assert!(office.people.is_confirmed(&signed.session));
    office.pass(5 * 60_000);
    assert!(!office.people.is_confirmed(&signed.session));
    let by_password = office.people.confirm_by_password(&signed, &holder.password).await;
    assert!(matches!(by_password, Err(PeopleError::WrongCode)));
    let own = Secret::new(String::from("um céu de cada vez, devagar"));
    let changed = office.people.change_password(&signed, &holder.password, &own).await.unwrap();
    let signed = office.signed(&changed.token).await;
    assert!(!office.people.is_confirmed(&signed.session), "a new password proves nothing more");
    office.factors.confirm(&signed, &office.code(&holder.secret)).await.unwrap();
    assert!(office.people.is_confirmed(&office.signed(&changed.token).await.session));
}

#[tokio::test]
async fn who_has_no_second_factor_is_asked_for_the_password_again() {
    let office = office();
    let password = office.create("loja", "ana@loja.example", Role::Owner).await;
    let session = office.sign_in("ana@loja.example", &password).await.unwrap();
    office.pass(5 * 60_000);
    let signed = office.signed(&session.token).await;
    let wrong = office.people.confirm_by_password(&signed, &Secret::new("wrong".into())).await;
    assert!(matches!(wrong, Err(PeopleError::WrongPassword)));
    assert!(!office.people.is_confirmed(&office.signed(&session.token).await.session));
    office.people.confirm_by_password(&signed, &password).await.unwrap();
    assert!(office.people.is_confirmed(&office.signed(&session.token).await.session));
}

#[tokio::test]
async fn owners_may_require_a_second_factor_of_everybody() {
    let office = office();
    office.create("loja", "ana@loja.example", Role::Owner).await;
    let policy = MerchantPolicy { second_factor_required: true, ..MerchantPolicy::default() };
    office.people.set_policy(&merchant("loja"), &policy).await.unwrap();
    let user = office.people.find(&login("ana@loja.example")).await.unwrap();
    assert_eq!(office.people.duty(&user).await.unwrap(), Some(Duty::SetUpFactor));
    let secret = office.factors.propose().unwrap();
    let wrong = office.factors.set_up(&user, &secret, &office.wrong_code(&secret)).await.err().unwrap();
    assert!(matches!(wrong, PeopleError::WrongCode));
    office.factors.set_up(&user, &secret, &office.code(&secret)).await.unwrap();
    let user = office.people.find(&login("ana@loja.example")).await.unwrap();
    assert_eq!(office.people.duty(&user).await.unwrap(), Some(Duty::ChangePassword));
    office.people.remove_factor::<User>(&user.login).await.unwrap();
    let gone = office.people.remove_factor::<User>(&user.login).await;
    assert!(matches!(gone, Err(PeopleError::NoFactor)));
}

#[tokio::test]
async fn the_secret_of_an_authenticator_is_not_in_the_store() {
    let office = office();
    let holder = office.holder().await;
    let user = office.people.find(&login("ana@loja.example")).await.unwrap();
    let stored = format!("{:?}", user.credentials);
    assert!(!stored.contains(holder.secret.expose().as_str()));
    assert!(holder.recovery_codes.iter().all(|code| !stored.contains(code.as_str())));
}

#[tokio::test]
async fn second_factors_move_to_another_secret_key() {
    let office = office();
    let holder = office.holder().await;
    let both = strongbox(&office.store, &[NEW_KEY, KEY]);
    both.work_with_newest(&IdKeys::of(KEY)).await.unwrap();
    let moved = both.move_users(Which::All, None, 10).await.unwrap();
    assert_eq!((moved.looked_at, moved.sealed, moved.next), (1, 1, None));
    assert_eq!(both.move_users(Which::All, None, 10).await.unwrap().sealed, 0, "again");
    let half = office.half(&holder).await;
    let lost = office.give(&half.token, &office.code(&holder.secret)).await.err().unwrap();
    assert!(matches!(lost, PeopleError::SecretKey(_)), "{lost}");
    let factors = SecondFactors::new(office.people.clone(), strongbox(&office.store, &[NEW_KEY]));
    let code = office.code(&holder.secret);
    assert!(factors.finish_sign_in::<User>(half.token.expose(), &code, origin()).await.unwrap().is_some());
}

#[tokio::test]
async fn operators_are_people_of_their_own_and_one_is_always_left() {
    let office = office();
    let people = &office.people;
    assert!(!people.has_operators().await.unwrap());
    let (ana, bia) = (login("ana@quita.example"), login("bia@quita.example"));
    people.create_operator(bia.clone(), OperatorRole::Auditor).await.unwrap();
    assert!(!people.has_operators().await.unwrap(), "an auditor makes nobody");
    let password = people.create_operator(ana.clone(), OperatorRole::Operator).await.unwrap();
    assert!(people.has_operators().await.unwrap());
    let again = people.create_operator(ana.clone(), OperatorRole::Operator).await;
    assert!(matches!(again, Err(PeopleError::Taken(_))));
    office.create("loja", "ana@quita.example", Role::Owner).await;
    let session = people.sign_in::<Operator>(Some(&ana), &password, origin()).await.unwrap().unwrap();
    assert!(session.person.credentials.must_change_password);
    assert!(people.visit::<Operator>(session.token.expose()).await.unwrap().is_some());
    assert!(!office.is_in(&session.token).await, "no user of that login");
    assert!(people.sign_in::<User>(Some(&ana), &password, origin()).await.unwrap().is_none());
    let demoted = people.set_operator_role(&ana, OperatorRole::Auditor).await;
    assert!(matches!(demoted, Err(PeopleError::LastOperator)));
    assert!(matches!(people.remove_operator(&ana).await, Err(PeopleError::LastOperator)));
    people.set_operator_role(&bia, OperatorRole::Operator).await.unwrap();
    people.remove_operator(&ana).await.unwrap();
    assert!(people.visit::<Operator>(session.token.expose()).await.unwrap().is_none());
}

#[tokio::test]
async fn the_first_operator_is_one_alone_and_chooses_no_weak_password() {
    let office = office();
    let setup = SetupPassword::new(Secret::new("one long password".into()));
    let presented = |text: &str| setup.is(&Secret::new(text.into()));
    assert_eq!(["one long password", "another password", ""].map(presented), [true, false, false]);
    let make = async |who: &str, password: &str| {
        let password = Secret::new(String::from(password));
        office.people.create_first_operator(login(who), &password, origin()).await
    };
    let weak = make("ana@quita.example", "aaaaaaaaaaaaaaaaaaaa").await;
    assert!(matches!(weak, Err(PeopleError::Weak(_))));
    let session = make("ana@quita.example", "um barco verde na janela dela").await.unwrap();
    assert!(office.people.visit::<Operator>(session.token.expose()).await.unwrap().is_some());
    let second = make("bia@quita.example", "sete barcos azuis no quintal").await;
    assert!(matches!(second, Err(PeopleError::NotFirst)));
    assert_eq!(office.people.operators().await.unwrap().len(), 1);
}

#[tokio::test]
async fn of_operators_who_remove_each_other_at_once_one_stays() {
    let office = office();
    let both = ["ana@quita.example", "bia@quita.example"].map(login);
    for round in 0..8 {
        for one in &both {
            office.people.create_operator(one.clone(), OperatorRole::Operator).await.ok();
        }
        let [ana, bia] = [&both[0], &both[1]].map(|one| office.people.remove_operator(one));
        let (ana, bia) = tokio::join!(ana, bia);
        assert!(ana.is_err() || bia.is_err(), "{round}");
        assert!(office.people.has_operators().await.unwrap(), "{round}");
    }
}
