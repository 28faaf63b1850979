//! Notifications of a session cache.

use std::sync::Mutex;

use quita_domain::people::{Operator, OperatorRole};

use super::*;

/// Sessions to be forgotten, in order.
#[derive(Default)]
struct Forgotten(Mutex<Vec<String>>);

impl SessionMemory for Forgotten {
    fn forget_person(&self, login: &Login) {
        self.0.lock().unwrap().push(login.to_string());
    }

    fn forget_session(&self, id: &str) {
        self.0.lock().unwrap().push(format!("session {id}"));
    }
}

impl Forgotten {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[tokio::test]
async fn a_removal_a_role_a_password_a_factor_and_the_end_of_a_session_are_heard_of() {
    let office = office();
    let forgotten = Arc::<Forgotten>::default();
    let people = office.people.clone().with_memory(forgotten.clone());
    let factors = SecondFactors::new(people.clone(), strongbox(&office.store, &[KEY]));
    let [ana, bia] = ["ana@quita.example", "bia@quita.example"].map(login);
    for one in [&ana, &bia] {
        people.create_operator(one.clone(), OperatorRole::Operator).await.unwrap();
    }
    assert_eq!(forgotten.take(), Vec::<String>::new());
    let of_ana = vec![ana.to_string()];
    let password = people.reset_operator_password(&ana).await.unwrap();
    assert_eq!(forgotten.take(), of_ana);
    people.set_operator_role(&ana, OperatorRole::Auditor).await.unwrap();
    assert_eq!(forgotten.take(), of_ana);
    let signed = async || {
        let new = people.sign_in::<Operator>(Some(&ana), &password, origin()).await.unwrap().unwrap();
        people.watch::<Operator>(new.token.expose()).await.unwrap().unwrap()
    };
    office.pass(1);
    let here = signed().await;
    assert_eq!(forgotten.take(), of_ana, "the first use is recorded");
    let there = signed().await;
    let of_session = |signed: &Signed<Operator>| vec![format!("session {}", signed.session.id)];
    assert_eq!(people.end_other_sessions(&here).await.unwrap(), 1);
    assert_eq!(forgotten.take(), of_session(&there));
    assert!(people.end_session(&here.person, &here.session.public_id()).await.unwrap());
    assert_eq!(forgotten.take(), of_session(&here));
    people.sign_out("token").await.unwrap();
    assert_eq!(forgotten.take(), [format!("session {}", quita_domain::people::Session::id_of("token"))]);
    let secret = factors.propose().unwrap();
    factors.set_up(&here.person, &secret, &office.code(&secret)).await.unwrap();
    people.remove_factor::<Operator>(&ana).await.unwrap();
    assert_eq!(forgotten.take(), [&of_ana[..], &of_ana[..]].concat());
    people.remove_operator(&ana).await.unwrap();
    assert_eq!(forgotten.take(), of_ana);
}
