//! Texts about the users of a merchant.

use crate::console::kit::texts::group;

group! {
    /// Roles, keys and secrets that users know, policies for all users, and the user's own account.
    Users {
        owner_may: "Tudo, inclusive pessoas e auditoria.", "Everything, including people and audit log.";
        developer_may: "Aplicações e chaves, pagamentos e entregas.", "Applications and keys, payments and deliveries.";
        viewer_may: "Só olhar.", "Read only.";
        remove_sentence: "As sessões terminam agora. O que a pessoa viu continua valendo, se não for trocado.",
            "Their sessions end now. Keys and secrets that they have seen still work until you revoke or rotate them.";
        revoke_keys: "Revogar as chaves de API que a pessoa criou", "Revoke the API keys that they created";
        revoke_keys_sentence: "Cada chave apareceu uma única vez, para quem a criou ou trocou. Os programas que usam uma chave revogada param em até 5 segundos.",
            "Each key was shown once, to the person who created or rotated it. Programs that use a revoked key stop \
            within 5 seconds.";
        knows_no_keys: "A pessoa não criou nenhuma chave de API que ainda valha.",
            "They created no API keys that still work.";
        knows_secrets: "Segredos de webhooks que a pessoa viu", "Webhook secrets that they have seen";
        knows_secrets_sentence: "Com eles se forjam eventos. Troque-os; na troca, o antigo ainda assina por 24 horas.",
            "Events can be forged with them. Rotate them; after a rotation the old one still signs for 24 hours.";
        not_yourself: "O próprio papel não se muda, nem se remove a própria conta: peça a outro dono.",
            "You can't change your own role or remove your own account: ask another owner.";
        policy: "Regras para todos", "Rules for everyone";
        require_factor: "Exigir a verificação em duas etapas.", "Require a second factor.";
        require_factor_hint: "Quem não tem ativa a sua antes de continuar.", "People without one must set it up before they continue.";
        confirm_above: "Confirmar devoluções acima de", "Confirm refunds above";
        confirm_above_hint: "Quem devolve mais do que isto confirma de novo que é quem diz ser. Vazio: ninguém.",
            "A person who refunds more than this must confirm their identity. Leave empty to turn this off.";
        policy_changed: "Regras mudadas.", "Rules changed.";
        profile: "O que os pagadores veem", "What payers see";
        display_name: "Nome da loja", "Shop name";
        display_name_hint: "Nas páginas de pagamento e nos boletos. Vazio: {merchant}.",
            "Shown on payment pages and boletos. Leave empty for {merchant}.";
        contact: "Contato", "Contact";
        contact_hint: "E-mail, telefone ou site para dúvidas. Vazio: nenhum.",
            "E-mail address, telephone or website for questions. Leave empty for none.";
        logo: "Logotipo", "Logo";
        logo_hint: "PNG ou JPEG de até 32 KiB e 1024 pixels de cada lado, nas páginas de pagamento. Precisa de JavaScript.",
            "PNG or JPEG of at most 32 KiB and 1024 pixels a side, on payment pages. Needs JavaScript.";
        has_logo: "Agora: {logo}.", "Current: {logo}.";
        remove_logo: "Remover o logotipo", "Remove the logo";
        bad_logo: "O logotipo é um PNG ou JPEG de até 32 KiB e 1024 pixels de cada lado.",
            "The logo must be a PNG or JPEG of at most 32 KiB and 1024 pixels a side.";
        profile_changed: "Mudado. As páginas de pagamento já mostram.", "Changed. Payment pages show it now.";
        bad_display_name: "O nome tem no máximo 60 caracteres, todos visíveis.",
            "The name must have at most 60 characters, all of them visible.";
        bad_contact: "O contato tem no máximo 100 caracteres, todos visíveis.",
            "The contact must have at most 100 characters, all of them visible.";
        language: "Idioma", "Language";
        merchant: "Lojista", "Merchant";
    }
}
