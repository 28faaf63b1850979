//! Texts about applications, keys, secrets and test events.

use crate::console::kit::texts::group;

group! {
    /// Applications, and their keys, secrets and test events.
    Applications {
        lead: "Cada programa seu tem chaves próprias e, em cada modo, um segredo que assina os webhooks.",
            "Each of your programs has its own keys and, in each mode, a secret that signs its webhooks.";
        empty: "Nenhuma aplicação ainda", "No applications yet";
        new: "Nova aplicação", "New application";
        name: "Nome", "Name";
        name_hint: "De 1 a 60 caracteres. Fica no registro; o título pode mudar depois.",
            "1 to 60 characters. The name is permanent; the title can be changed later.";
        title: "Título", "Title";
        create: "Criar aplicação", "Create application";
        rename: "Renomear", "Rename";
        exists: "Já existe uma aplicação com este nome.", "An application with this name already exists.";
        bad_name: "O nome tem de 1 a 60 caracteres visíveis.", "The name must have 1 to 60 visible characters.";
        not_an_address: "Este nome não pode fazer parte de um endereço.", "This name can't be part of an address.";
        live_keys: "Chaves em uso", "Active keys";
        keys: "Chaves de API", "API keys";
        key: "Chave", "Key";
        key_state: "Estado", "State";
        state_live: "Em uso", "Active";
        state_old: "Troque: tem mais de um ano", "Rotate it: older than a year";
        state_ends_soon: "Termina em breve", "Expires soon";
        ending_here: "Há chaves que terminam em menos de 30 dias.", "Some keys expire within 30 days.";
        ending_sentence: "Troque cada uma a tempo: a nova vale pelo mesmo prazo, e a antiga ainda por 24 horas.",
            "Rotate each one in time: the new key is valid for as long, and the old one works for 24 more hours.";
        state_expired: "Expirada", "Expired";
        state_revoked: "Revogada", "Revoked";
        scopes: "Permissões", "Scopes";
        last_use: "Último uso", "Last use";
        expires: "Expira", "Expires";
        ends: "Termina", "Expires";
        made: "criada em", "created on";
        made_by: "por", "by";
        no_keys: "Nenhuma chave neste modo", "No keys in this mode";
        new_key: "Nova chave", "New key";
        scope_write: "Criar, cancelar, capturar e devolver", "Create, cancel, capture and refund";
        scope_read: "Ler pagamentos", "Read payments";
        scope_webhooks: "Ver e repetir entregas", "View deliveries and redeliver events";
        no_scope: "Escolha ao menos uma permissão.", "Choose at least one scope.";
        expiry_never: "nunca", "never";
        expiry_30: "em 30 dias", "in 30 days";
        expiry_90: "em 90 dias", "in 90 days";
        expiry_365: "em 1 ano", "in 1 year";
        key_hint: "A chave aparece uma única vez, logo depois de criada.", "The key is shown only once, right after it is created.";
        create_key: "Criar chave", "Create key";
        publishable: "publicável", "publishable";
        publishable_hint: "Uma chave publicável fica na página: só pede tokens de cartões, a partir das origens abaixo.",
            "A publishable key is part of your page. It can only create card tokens, from the origins below.";
        create_publishable: "Criar chave publicável", "Create publishable key";
        publishable_shown_once: "Pode ficar na página. Copie agora: ela não aparece de novo.",
            "You can use it in a page. Copy it now: it is not shown again.";
        exposed_here: "Uma chave secreta veio de um navegador: está perdida.",
            "A secret key came from a browser and is compromised.";
        exposed_see: "Veja qual, crie outra e revogue-a:", "See which one, create another, and revoke it:";
        exposed_sentence: "Quem abriu a página pode lê-la. Crie outra chave, revogue esta e use na página uma chave publicável:",
            "Everyone who opened the page can read it. Create another key, revoke this one, and use a publishable key \
            in the page:";
        rotate: "Trocar", "Rotate";
        revoke: "Revogar", "Revoke";
        rotate_question: "Trocar a chave {id}?", "Rotate the key {id}?";
        rotate_sentence: "Uma chave nova com as mesmas permissões é criada. A atual ainda vale por 24 horas; depois para.",
            "A new key with the same scopes is created. The current one works for 24 more hours, then stops.";
        ends_soon: "Esta chave termina em menos de um dia: crie uma nova em vez de trocar.",
            "This key expires within a day: create a new one instead of rotating it.";
        too_many_keys: "A aplicação já tem 100 chaves em uso, o máximo: revogue as que ninguém usa.",
            "The application has 100 active keys, the maximum: revoke unused keys.";
        too_many_merchant_keys: "Já são 1.000 chaves em uso ou terminadas há menos de 30 dias, o máximo de todas as aplicações juntas.",
            "All applications together have 1,000 keys that are active, or that expired or were revoked within the last \
            30 days, the maximum.";
        bad_expiry: "O prazo não foi entendido.", "The expiry could not be read.";
        revoke_question: "Revogar a chave {id}?", "Revoke the key {id}?";
        revoke_sentence: "Ela para de funcionar em até 5 segundos, em toda parte. Não há volta.",
            "It stops working everywhere within 5 seconds. This can't be undone.";
        revoked: "Chave revogada. Ela para de funcionar em até 5 segundos.", "Key revoked. It stops working within 5 seconds.";
        new_key_title: "Sua chave nova", "Your new key";
        key_shown_once: "Copie agora: ela não aparece de novo.", "Copy it now: it is not shown again.";
        try_it: "Experimente", "Try it";
        try_it_sentence: "Cria um PIX de R$ 100,00. Cole no terminal:", "Creates a PIX payment of R$ 100.00. Paste it into a terminal:";
        secret: "Segredo dos webhooks", "Webhook secret";
        secret_sentence: "Assina cada evento deste modo; o outro modo tem o seu. Na troca, o antigo ainda assina por 24 horas.",
            "Signs every event of this mode; the other mode has its own. After a rotation the previous secret also \
            signs for 24 hours.";
        secret_current: "Atual", "Current";
        secret_previous: "Anterior", "Previous";
        until: "até", "until";
        secret_rotating: "Em troca", "Rotating";
        rotate_secret: "Trocar segredo", "Rotate secret";
        rotate_secret_question: "Trocar o segredo de {title}?", "Rotate the secret of {title}?";
        rotate_secret_sentence: "Por 24 horas cada evento deste modo leva também a assinatura do segredo atual; depois só a nova.",
            "For 24 hours every event of this mode is signed with both the current and the new secret, then with the \
            new one only.";
        too_many_secrets: "Cinco segredos assinam já. O próximo pode ser criado depois de {until}, quando o mais antigo para.",
            "Five secrets already sign events. The next one can be created after {until}, when the oldest expires.";
        rotated_meanwhile: "O segredo já foi trocado. Para trocá-lo de novo, volte à aplicação.",
            "The secret has already been rotated. To rotate it again, go back to the application.";
        secret_title: "Segredo dos webhooks de {title}", "Webhook secret of {title}";
        secret_shown_once: "Copie agora: ele não aparece de novo. Com ele seu sistema confere a assinatura de cada evento.",
            "Copy it now: it is not shown again. Use it in your system to verify the signature of every event.";
        endpoint: "Endereço dos webhooks", "Webhook endpoint";
        endpoint_sentence: "Recebe os eventos deste modo dos pagamentos criados sem postbackUrl. Os que já existem ficam com o seu.",
            "Receives this mode's events for payments created without postbackUrl. Existing payments keep their \
            endpoint.";
        endpoint_hint: "Vazio: nenhum.", "Leave empty for none.";
        origins: "Origens das páginas", "Page origins";
        origins_sentence: "Páginas que podem pedir tokens de cartões com as chaves publicáveis, nos dois modos: uma origem por linha, até 20.",
            "Pages that may create card tokens with publishable keys, in both modes. One origin per line, up to 20.";
        no_origin: "“{text}” não é uma origem: escreva esquema, host e talvez porta, como https://loja.exemplo.com.br.",
            "“{text}” is not an origin: enter scheme, host and optional port, such as https://shop.example.com.";
        other_origin: "“{text}” não é uma origem como os navegadores escrevem. Seria {meant}?",
            "“{text}” is not an origin as browsers write it. Did you mean {meant}?";
        no_https_origin: "{text} precisa ser https; http é só para desenvolvimento.",
            "{text} must be https; http is for development only.";
        repeated_origin: "{text} está na lista duas vezes.", "{text} is in the list twice.";
        too_many_origins: "Uma aplicação tem até 20 origens.", "An application has at most 20 origins.";
        test_event: "Evento de teste", "Test event";
        test_event_sentence: "Manda agora um payment.paid de mentira, assinado com o segredo desta aplicação e deste modo, e mostra a troca.",
            "Sends a sample payment.paid now, signed with the secret of this application and mode, and shows request and response.";
        send_to: "Enviar para", "Send to";
        send: "Enviar", "Send";
        bad_url: "O endereço precisa ser uma URL inteira, http:// ou https://, sem usuário, senha e fragmento; em produção, https num lugar público.",
            "The address must be a complete URL, http:// or https://, without user, password or fragment; in \
            production, https on a public host.";
        request: "Pedido", "Request";
        answer: "Resposta", "Answer";
        no_answer: "Sem resposta", "No answer";
        empty_answer: "(resposta vazia)", "(empty answer)";
    }
}
