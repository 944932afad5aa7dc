<?php
$context = stream_context_create(['http' => [
    'header' => 'Authorization: Bearer ' . getenv('API_KEY'),
]]);
$body = file_get_contents('REQUEST_URL', false, $context);
if ($body === false) exit(1);
$json = json_decode($body);
echo json_encode($json, JSON_PRETTY_PRINT), "\n";
