//! Texts of the frame around every page, and texts shared by many pages.

use super::group;

group! {
    /// Texts shared by many pages.
    Everywhere {
        skip: "Ir para o conteúdo", "Skip to content";
        main_navigation: "Principal", "Main";
        path: "Caminho", "Path";
        pages: "Páginas", "Pages";
        actions: "Ações", "Actions";
        cost: "Custo do adquirente", "Acquirer's cost";
        reckoned_cost: "calculado: {amount}", "calculated: {amount}";
        overview: "Visão geral", "Overview";
        payments: "Pagamentos", "Payments";
        links: "Links", "Links";
        refunds: "Devoluções", "Refunds";
        disputes: "Contestações", "Disputes";
        deliveries: "Entregas", "Deliveries";
        requests: "Chamadas", "Requests";
        applications: "Aplicações", "Applications";
        people: "Pessoas", "People";
        audit: "Auditoria", "Audit log";
        account: "Sua conta", "Your account";
        mode: "Modo", "Mode";
        test: "Teste", "Test";
        live: "Produção", "Live";
        test_mode: "Modo de teste.", "Test mode.";
        test_mode_sentence: "Nada aqui movimenta dinheiro.", "Nothing here moves money.";
        sign_in: "Entrar", "Sign in";
        sign_out: "Sair", "Sign out";
        email: "E-mail", "E-mail";
        password: "Senha", "Password";
        sign_in_failed: "Não foi possível entrar.", "Sign-in failed.";
        sign_in_failed_sentence: "E-mail ou senha não conferem.", "E-mail or password is wrong.";
        forgot: "Esqueceu a senha? Quem é dono da conta define outra em Pessoas.",
            "Forgot your password? An owner of the account can set a new one under People.";
        operator_forgot: "Esqueceu a senha? Outro operador define outra em Pessoas; se não há outro: quita users operators reset-password. A senha da configuração não abre mais nada.",
            "Forgot your password? Another operator can set a new one under People. If there is none, run quita users \
            operators reset-password. The configured password no longer works.";
        operator: "Operação", "Operations";
        times_are: "Horários de Brasília", "Times are in Brasília time";
        copy: "Copiar", "Copy";
        copied: "Copiado", "Copied";
        copy_failed: "Selecionado: copie com Ctrl+C", "Selected: copy with Ctrl+C";
        word_live: "Atualizada", "Up to date";
        word_reconnecting: "Reconectando…", "Reconnecting…";
        word_paused: "Em pausa", "Paused";
        node_away_since: "Este nó não responde desde", "This node has not answered since";
        node_away_content: "O que você vê é daquele momento.", "What you see is from then.";
        outage_silent: "O armazenamento não responde", "The store does not answer";
        outage_no_writes: "Nada pode ser gravado", "Nothing can be stored";
        outage_read_only: "O armazenamento não aceita gravações", "The store does not accept writes";
        outage_full: "O disco do armazenamento está cheio", "The store's disk is full";
        outage_broken: "O armazenamento não é mais confiável (arquivo apagado ou danificado, ou falha do disco)",
            "The store can no longer be trusted (a file was deleted or damaged, or the disk failed)";
        outage_since: "desde", "since";
        outage_for_operators: "Os lojistas recebem 503 store_unavailable. Nada do que foi respondido se perde, e tudo continua sozinho quando ele volta.",
            "Merchants get 503 store_unavailable. No acknowledged request is lost, and the service resumes \
            automatically when the store is back.";
        outage_full_for_operators: "Leituras são respondidas; para o resto os lojistas recebem 503 store_unavailable. Libere espaço: o serviço continua sozinho. Nada do que foi respondido se perde.",
            "Reads still work; all other requests of merchants get 503 store_unavailable. Free up space: the service \
            then resumes automatically. No acknowledged request is lost.";
        outage_broken_for_operators: "Os lojistas recebem 503 store_unavailable até que o armazenamento seja reparado e o serviço reiniciado. Leia o manual antes de reiniciar.",
            "Merchants get 503 store_unavailable until the store is repaired and the service restarted. Read the runbook before you restart.";
        outage_for_merchants: "Pedidos recebem 503 store_unavailable: repita-os com a mesma Idempotency-Key. Nada do que foi respondido se perde.",
            "Requests get 503 store_unavailable: send them again with the same Idempotency-Key. No acknowledged \
            request is lost.";
        outage_broken_for_merchants: "Pedidos recebem 503 store_unavailable: repita-os mais tarde com a mesma Idempotency-Key.",
            "Requests get 503 store_unavailable: send them again later with the same Idempotency-Key.";
        runbook: "Manual de operação", "Runbook";
        what_to_do: "O que fazer", "What to do";
        older: "Mais antigos", "Older";
        newest: "Mais novos", "Newest";
        newest_first: "Mais novos primeiro", "Newest first";
        save: "Salvar", "Save";
        cancel: "Voltar", "Go back";
        status: "Status", "Status";
        method: "Método", "Method";
        amount: "Valor", "Amount";
        created: "Criado", "Created";
        who: "Quem", "Who";
        what: "O quê", "What";
        when: "Quando", "When";
        from_where: "De onde", "Source";
        before: "Antes", "Before";
        after: "Depois", "After";
        never: "nunca", "never";
        all: "Todos", "All";
        done: "Feito.", "Done.";
        audit_lead: "Cada mudança feita por uma pessoa, e cada entrada recusada, para sempre.",
            "Every change made by a person and every refused sign-in, kept permanently.";
        command_line: "linha de comando", "command line";
        audit_erased: "apagado", "erased";
        audit_empty: "Nada mudou ainda", "No entries yet";
    }
}
