//! Second factors, and where they are asked for.

use crate::secret_keys::Which;
use quita_domain::people::{MerchantPolicy, RecoveryCode};
use quita_domain::secret_key::IdKeys;

use super::*;

const NEW_KEY: &[u8] = b"the next secret key of the tests";

/// Person with an authenticator.
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
        let recovery_codes = codes.iter().map(RecoveryCode::reveal).collect();
        self.pass(30_000);
        Holder { secret, password, recovery_codes }
    }

    /// Returns a code that is wrong now.
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
        let factors = office.factors.clone();
        let code = code.clone();
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
    office.people.create_own(merchant("loja"), login("ana@loja.example"), Role::Owner).await.unwrap();
    let policy = MerchantPolicy { second_factor_required: true, ..MerchantPolicy::default() };
    office.people.set_policy(&merchant("loja"), &policy).await.unwrap();
    let user = office.people.find(&login("ana@loja.example")).await.unwrap();
    assert_eq!(office.people.duty(&user).await.unwrap(), Some(Duty::SetUpFactor));
    let secret = office.factors.propose().unwrap();
    let wrong = office.factors.set_up(&user, &secret, &office.wrong_code(&secret)).await.err().unwrap();
    assert!(matches!(wrong, PeopleError::WrongCode));
    office.factors.set_up(&user, &secret, &office.code(&secret)).await.unwrap();
    let user = office.people.find(&login("ana@loja.example")).await.unwrap();
    assert_eq!(office.people.duty(&user).await.unwrap(), None);
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
