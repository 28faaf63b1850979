<?php
// One call of Quita's API.

declare(strict_types=1);

function call(string $method, string $path, ?array $body = null, array $headers = []): array
{
    $url = getenv('QUITA_URL') ?: 'http://127.0.0.1:8080';
    $headers[] = 'Authorization: Bearer ' . getenv('QUITA_KEY');
    $headers[] = 'Content-Type: application/json';
    $options = ['method' => $method, 'header' => $headers, 'timeout' => 30, 'ignore_errors' => true];
    if ($body !== null) {
        // An empty array would be [], which is no JSON object.
        $options['content'] = json_encode((object) $body, JSON_THROW_ON_ERROR);
    }
    $text = file_get_contents($url . $path, false, stream_context_create(['http' => $options]));
    $answer = json_decode((string) $text, true, flags: JSON_THROW_ON_ERROR);
    if ((int) explode(' ', $http_response_header[0])[1] >= 400) {
        fwrite(STDERR, "{$answer['code']}: {$answer['message']} (requestId {$answer['requestId']})\n");
        exit(1);
    }
    return $answer;
}
