-- Two users. The first has the session `north-sample-session`, and `north-old-session`, which has expired. Use them only for
-- trials: they are public.

INSERT INTO users (id, email) VALUES (1, 'north@example.com'), (2, 'south@example.com');

INSERT INTO sessions (id, user_id, digest, expires_at) VALUES
    (1, 1, X'C4FE0988BE7F70C1A5A7CFA821EBF09318F4A5CE77FEF7C0EA90CC318005EB79', 4102444800000000),
    (2, 1, X'06BD9799203AAE201B44521F27AD7F2D35572CD6EBD7978A770C6A9B222864B0', 1740000000000000);

INSERT INTO courses (id, user_id, slug, title, tagline, language, created_at, published_at, hidden) VALUES
    (1, 1, 'knots',   'Knots',   'Twelve that hold', 'en', 1740000000000000, 1740816000000000, FALSE),
    (2, 1, 'sailing', 'Sailing', '',                 'en', 1750000000000000, NULL,             FALSE),
    (3, 1, 'rowing',  'Rowing',  '',                 'en', 1590000000000000, 1590998400000000, TRUE),
    (4, 2, 'weaving', 'Weben',   '',                 'de', 1745000000000000, 1745000000000000, FALSE);

INSERT INTO lessons (course_id, position, title, summary, body) VALUES
    (1, 1, 'Bowline',     'A loop that does not slip.', 'Only who has paid reads this.'),
    (1, 2, 'Clove hitch', '',                           'Nor does the API show it.');
