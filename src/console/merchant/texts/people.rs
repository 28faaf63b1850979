//! Texts about people and their passwords.

use crate::console::kit::texts::group;

group! {
    /// People, roles, the own account.
    People {
        lead: "Quem entra neste console, e o que pode fazer.", "Who gets into this console, and what they may do.";
        role: "Papel", "Role";
        owner_may: "Tudo, inclusive pessoas e auditoria.", "Everything, people and audit log included.";
        developer_may: "Aplicações e chaves, pagamentos e entregas.", "Applications and keys, payments and deliveries.";
        viewer_may: "Só olhar.", "Look only.";
        you: "você", "you";
        since: "Desde", "Since";
        add: "Nova pessoa", "New person";
        add_button: "Criar", "Create";
        change_role: "Mudar papel", "Change role";
        reset_password: "Nova senha", "New password";
        remove: "Remover", "Remove";
        remove_question: "Remover {login}?", "Remove {login}?";
        remove_sentence: "As sessões terminam agora. As chaves de API continuam.",
            "Their sessions end now. API keys stay.";
        reset_question: "Dar uma senha nova a {login}?", "Give {login} a new password?";
        reset_sentence: "A senha atual deixa de valer e as sessões terminam agora.",
            "The current password stops working and their sessions end now.";
        password_for: "Senha de {login}", "Password of {login}";
        password_shown_once: "Copie agora: ela não aparece de novo. Peça que seja trocada em Sua conta.",
            "Copy it now: it is not shown again. Ask for it to be changed under Your account.";
        not_an_email: "Este e-mail não é válido.", "This is not an e-mail address.";
        not_yourself: "O próprio papel não se muda, nem se remove a própria conta: peça a outro dono.",
            "Nobody changes the own role or removes the own account: ask another owner.";
        current_password: "Senha atual", "Current password";
        new_password: "Senha nova", "New password";
        change_password: "Mudar senha", "Change password";
        change_password_hint: "De 15 a 256 caracteres. Suas outras sessões terminam.",
            "15 to 256 characters. Your other sessions end.";
        password_changed: "Senha mudada. Suas outras sessões terminaram.", "Password changed. Your other sessions have ended.";
        removed: "Pessoa removida.", "Person removed.";
        role_changed: "Papel mudado.", "Role changed.";
        language: "Idioma", "Language";
        merchant: "Lojista", "Merchant";
    }
}
