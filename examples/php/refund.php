<?php
// Gives money back and waits until it went: php refund.php TRANSACTION_ID [CENTS]

declare(strict_types=1);

require __DIR__ . '/quita.php';

$transactionId = $argv[1];
$cents = $argv[2] ?? null;
$body = $cents === null ? [] : ['amount' => (int) $cents]; // all that is left, or a part
// One key for each refund that you mean: sent again, it gives nothing back twice.
$key = "Idempotency-Key: refund-$transactionId-" . ($cents ?? 'all');
$refund = call('POST', "/pay/payments/$transactionId/refunds", $body, [$key]);
for ($tries = 0; $tries < 60 && $refund['status'] === 'processing'; $tries++) {
    sleep(1);
    $payment = call('GET', "/pay/payments/$transactionId");
    $known = array_filter($payment['refunds'], fn (array $one) => $one['refundId'] === $refund['refundId']);
    $refund = array_values($known)[0];
}
echo "{$refund['refundId']} {$refund['amount']} {$refund['status']}\n";
