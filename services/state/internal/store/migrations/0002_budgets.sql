-- What a research used up of the budgets that are counted in pieces. Tokens are
-- reserved before they are spent: reserved_tokens of research and task.
ALTER TABLE research
    ADD queries_made int NOT NULL DEFAULT 0 CHECK (queries_made >= 0),
    ADD pages_used   int NOT NULL DEFAULT 0 CHECK (pages_used >= 0);
