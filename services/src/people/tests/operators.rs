//! Operators, and the first of them.

use quita_domain::people::{Operator, OperatorRole};

use super::*;

#[tokio::test]
async fn operators_are_people_of_their_own_and_one_is_always_left() {
    let office = office();
    let people = &office.people;
    assert!(!people.has_operators().await.unwrap());
    let ana = login("ana@quita.example");
    let bia = login("bia@quita.example");
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
