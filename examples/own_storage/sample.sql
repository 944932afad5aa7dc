-- Two users of a school. Their keys are `north-sample-key` and `south-sample-key`. Use them only for trials: they are public.

INSERT INTO users (id, login) VALUES (1, 'north'), (2, 'south');

INSERT INTO trainings (id, owner, handle, name, subtitle, lang, status, live_since, made_at) VALUES
    (1, 1, 'knots',  'Knots',         'Twelve that hold', 'en', 'live',    '2025-03-01 08:00:00', 1740000000),
    (2, 1, 'sailing', 'Sailing',      NULL,               'en', 'draft',   NULL,                  1750000000),
    (3, 1, 'rowing', 'Rowing',        NULL,               'en', 'retired', '2020-06-01 08:00:00', 1590000000),
    (4, 2, 'knots',  'Knoten',        NULL,               'de', 'live',    '2025-04-01 08:00:00', 1745000000);

INSERT INTO lessons (training, place, heading, abstract, text) VALUES
    (1, 10, 'Bowline',     'A loop that does not slip.', 'Only who has paid reads this.'),
    (1, 20, 'Clove hitch', NULL,                         'Nor does the API show it.');

INSERT INTO access_keys (user, sha256) VALUES
    (1, X'4D0157E995C250459BF556A4D0BC1B0E5C50D80919C7802EE08C716F938AA89B'),
    (2, X'0C9AD21404997FCB3C3167DA447FB4738AE692BE974E8083582714BADE8E1C1C');
