//! Users of merchants, and their passwords.

use super::*;

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
    let desk = office.sign_in("ana@loja.example", &first).await.unwrap();
    let phone = office.sign_in("ana@loja.example", &first).await.unwrap();
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
