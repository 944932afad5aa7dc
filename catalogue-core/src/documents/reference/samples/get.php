<?php
$context = stream_context_create(['http' => [
    'header' => 'Authorization: Bearer ' . getenv('API_KEY'),
]]);
$body = file_get_contents('REQUEST_URL', false, $context);
if ($body === false) exit(1);
$answer = json_decode($body);
echo json_encode($answer, JSON_PRETTY_PRINT), "\n";
