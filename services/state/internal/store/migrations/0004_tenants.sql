-- What a tenant's researches have taken of its budget. It is kept while a budget is
-- configured, and counted anew from the researches when state starts with one:
-- deleted_* is what can't be counted any more.
DROP TABLE tenant_spending;

CREATE TABLE tenant_usage (
    tenant                text PRIMARY KEY,
    input_tokens          bigint NOT NULL DEFAULT 0 CHECK (input_tokens >= 0),
    output_tokens         bigint NOT NULL DEFAULT 0 CHECK (output_tokens >= 0),
    reserved_tokens       bigint NOT NULL DEFAULT 0 CHECK (reserved_tokens >= 0),
    queries               bigint NOT NULL DEFAULT 0 CHECK (queries >= 0),
    pages                 bigint NOT NULL DEFAULT 0 CHECK (pages >= 0),
    deleted_input_tokens  bigint NOT NULL DEFAULT 0 CHECK (deleted_input_tokens >= 0),
    deleted_output_tokens bigint NOT NULL DEFAULT 0 CHECK (deleted_output_tokens >= 0),
    deleted_queries       bigint NOT NULL DEFAULT 0 CHECK (deleted_queries >= 0),
    deleted_pages         bigint NOT NULL DEFAULT 0 CHECK (deleted_pages >= 0)
) WITH (fillfactor = 50);
