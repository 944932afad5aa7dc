INSERT INTO users (id, name, email, created_at, updated_at) VALUES
    ('0198c5d2-a4b0-7c3e-9f1d-6a5b4c3d2e1f', 'North', 'north@example.org', '2025-01-01 00:00:00', '2025-01-01 00:00:00'),
    ('0198c5d2-a4b0-7c3e-9f1d-6a5b4c3d2e20', 'South', 'south@example.org', '2025-01-01 00:00:00', '2025-01-01 00:00:00');

INSERT INTO courses (id, user_id, slug, title, tagline, locale, status, access, published_at, created_at, deleted_at) VALUES
    ('0198c5d2-a4b0-7c3e-9f1d-000000000001', '0198c5d2-a4b0-7c3e-9f1d-6a5b4c3d2e1f', 'knots', 'Knots',
     'Seven that hold', 'en', 'public', 'free', '2025-03-01 08:00:00', '2025-02-03 10:00:05', NULL),
    ('0198c5d2-a4b0-7c3e-9f1d-000000000002', '0198c5d2-a4b0-7c3e-9f1d-6a5b4c3d2e1f', 'rowing', 'Rowing',
     NULL, 'en', 'hidden', NULL, '2025-03-01 08:00:00', '2025-02-03 10:00:05', NULL),
    ('0198c5d2-a4b0-7c3e-9f1d-000000000003', '0198c5d2-a4b0-7c3e-9f1d-6a5b4c3d2e1f', 'sailing', 'Sailing',
     'For the first summer', 'en', 'draft', 'members', NULL, '2025-09-14 18:30:59', NULL),
    ('0198c5d2-a4b0-7c3e-9f1d-000000000004', '0198c5d2-a4b0-7c3e-9f1d-6a5b4c3d2e1f', 'sailing', 'Sailing in winter',
     NULL, 'en', 'draft', NULL, NULL, '2025-10-01 00:00:00', '2025-10-02 00:00:00'),
    ('0198c5d2-a4b0-7c3e-9f1d-000000000005', '0198c5d2-a4b0-7c3e-9f1d-6a5b4c3d2e20', 'knots', 'Knoten',
     NULL, 'de', 'draft', NULL, NULL, '2025-05-05 05:05:05', NULL);

INSERT INTO lessons (id, course_id, sort_order, title, summary, content, deleted_at) VALUES
    ('0198c5d2-a4b0-7c3e-9f1d-000000000011', '0198c5d2-a4b0-7c3e-9f1d-000000000001', 1, 'Bowline',
     'A loop that holds', 'The API does not show this.', NULL),
    ('0198c5d2-a4b0-7c3e-9f1d-000000000012', '0198c5d2-a4b0-7c3e-9f1d-000000000001', 2, 'Granny knot',
     NULL, NULL, '2025-02-04 00:00:00'),
    ('0198c5d2-a4b0-7c3e-9f1d-000000000013', '0198c5d2-a4b0-7c3e-9f1d-000000000001', 3, 'Clove hitch',
     'On a post', NULL, NULL),
    ('0198c5d2-a4b0-7c3e-9f1d-000000000014', '0198c5d2-a4b0-7c3e-9f1d-000000000003', 1, 'The wind', NULL, NULL, NULL);
