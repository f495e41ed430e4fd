-- Every table has the tenant and every statement filters by it. A row that makes
-- no sense is refused here, whatever the code believes.

CREATE TABLE research (
    id                   uuid PRIMARY KEY,
    tenant               text NOT NULL,
    status               text NOT NULL CHECK (status IN
                         ('asking', 'ready', 'running', 'reporting', 'completed', 'failed', 'cancelled', 'paused')),
    -- paused_from is the status that a paused research goes on with.
    paused_from          text CHECK (paused_from IN ('asking', 'ready', 'running', 'reporting')),
    paused_at            timestamptz,
    reason               text NOT NULL DEFAULT '',
    error_message        text NOT NULL DEFAULT '',
    prompt               text NOT NULL CHECK (prompt <> ''),
    num_questions        int NOT NULL CHECK (num_questions > 0),
    questions            text[] NOT NULL DEFAULT '{}',
    answers              text[] NOT NULL DEFAULT '{}',
    depth                int NOT NULL DEFAULT 0 CHECK (depth >= 0),
    breadth              int NOT NULL DEFAULT 0 CHECK (breadth >= 0),
    planned_queries      int NOT NULL DEFAULT 0 CHECK (planned_queries >= 0),
    -- start_digest identifies the values that the research was started with.
    start_digest         bytea,
    analysis_concurrency int NOT NULL DEFAULT 1 CHECK (analysis_concurrency > 0),
    language             text NOT NULL DEFAULT '',
    time_range           text NOT NULL DEFAULT '',
    categories           text[] NOT NULL DEFAULT '{}',
    safe_search          int NOT NULL DEFAULT 0 CHECK (safe_search BETWEEN 0 AND 2),
    report_words         int NOT NULL DEFAULT 0 CHECK (report_words >= 0),
    report_sources       int NOT NULL DEFAULT 0 CHECK (report_sources >= 0),
    -- A budget of 0 is no bound.
    budget_queries       int NOT NULL DEFAULT 0 CHECK (budget_queries >= 0),
    budget_pages         int NOT NULL DEFAULT 0 CHECK (budget_pages >= 0),
    budget_tokens        bigint NOT NULL DEFAULT 0 CHECK (budget_tokens >= 0),
    budget_cost_usd      double precision NOT NULL DEFAULT 0 CHECK (budget_cost_usd >= 0),
    budget_seconds       int NOT NULL DEFAULT 0 CHECK (budget_seconds >= 0),
    -- reserved_* is what open tasks may still consume at the most.
    reserved_tokens      bigint NOT NULL DEFAULT 0 CHECK (reserved_tokens >= 0),
    reserved_cost_usd    double precision NOT NULL DEFAULT 0,
    model_calls          int NOT NULL DEFAULT 0 CHECK (model_calls >= 0),
    input_tokens         bigint NOT NULL DEFAULT 0 CHECK (input_tokens >= 0),
    output_tokens        bigint NOT NULL DEFAULT 0 CHECK (output_tokens >= 0),
    -- open_queries counts the queries whose expansion is not applied yet, the
    -- root plan among them. At 0 the report is due.
    open_queries         int NOT NULL DEFAULT 0 CHECK (open_queries >= 0),
    -- event_sequence is the number of the last event.
    event_sequence       int NOT NULL DEFAULT 0 CHECK (event_sequence >= 0),
    traceparent          text NOT NULL DEFAULT '',
    created_at           timestamptz NOT NULL DEFAULT now(),
    started_at           timestamptz,
    finished_at          timestamptz,
    deadline             timestamptz,
    CHECK ((status = 'paused') = (paused_from IS NOT NULL)),
    CHECK ((status = 'paused') = (paused_at IS NOT NULL)),
    CHECK ((status IN ('completed', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
    CHECK (finished_at IS NULL OR open_queries = 0)
) WITH (fillfactor = 50);

CREATE INDEX research_list ON research (tenant, created_at DESC, id DESC);
CREATE INDEX research_open ON research (deadline) WHERE finished_at IS NULL;

CREATE TABLE serp_query (
    id              uuid PRIMARY KEY,
    tenant          text NOT NULL,
    research_id     uuid NOT NULL REFERENCES research ON DELETE CASCADE,
    parent_query_id uuid REFERENCES serp_query,
    ordinal         int NOT NULL CHECK (ordinal >= 0),
    depth           int NOT NULL CHECK (depth > 0),
    -- breadth is the number of queries that its level was made with.
    breadth         int NOT NULL CHECK (breadth > 0),
    text            text NOT NULL CHECK (text <> ''),
    objective       text NOT NULL,
    status          text NOT NULL DEFAULT 'processing' CHECK (status IN ('processing', 'completed', 'failed')),
    reason          text NOT NULL DEFAULT '',
    error_message   text NOT NULL DEFAULT '',
    hits            int,
    -- urls_open counts its websites that are not settled.
    urls_open       int NOT NULL DEFAULT 0 CHECK (urls_open >= 0),
    -- expanded says that its children were made, or that it has none.
    expanded        boolean NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now(),
    finished_at     timestamptz,
    UNIQUE NULLS NOT DISTINCT (research_id, parent_query_id, ordinal),
    CHECK ((parent_query_id IS NULL) = (depth = 1)),
    CHECK ((status = 'processing') = (finished_at IS NULL)),
    CHECK (status = 'processing' OR (urls_open = 0 AND reason <> '')),
    CHECK (status <> 'processing' OR NOT expanded)
) WITH (fillfactor = 80);

CREATE INDEX serp_query_parent ON serp_query (parent_query_id);

CREATE TABLE document (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant         text NOT NULL,
    research_id    uuid NOT NULL REFERENCES research ON DELETE CASCADE,
    -- url is the one that was found, fetched, and is cited.
    url            text NOT NULL CHECK (url <> ''),
    normalized_url text NOT NULL CHECK (normalized_url <> ''),
    -- url_digest stands for normalized_url in the index: URLs may be longer than
    -- an index entry can be.
    url_digest     bytea NOT NULL,
    status         text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'scraping', 'scraped', 'failed')),
    reason         text NOT NULL DEFAULT '',
    error_message  text NOT NULL DEFAULT '',
    title          text NOT NULL DEFAULT '',
    content        text,
    content_hash   text,
    language       text NOT NULL DEFAULT '',
    published      timestamptz,
    rung           text NOT NULL DEFAULT '',
    -- page is the rest of what the scraper said of it, sections included: a
    -- fathom.work.v1.Page as JSON, without its text.
    page           jsonb,
    -- raw is the body as served, zstd-compressed; null when over the cap.
    raw            bytea,
    created_at     timestamptz NOT NULL DEFAULT now(),
    settled_at     timestamptz,
    UNIQUE (research_id, url_digest),
    CHECK ((status = 'scraped') = (content IS NOT NULL)),
    CHECK ((status = 'scraped') = (content_hash IS NOT NULL)),
    CHECK ((status IN ('scraped', 'failed')) = (settled_at IS NOT NULL))
);

CREATE TABLE website (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant        text NOT NULL,
    research_id   uuid NOT NULL REFERENCES research ON DELETE CASCADE,
    query_id      uuid NOT NULL REFERENCES serp_query ON DELETE CASCADE,
    document_id   bigint NOT NULL REFERENCES document ON DELETE CASCADE,
    rank          int NOT NULL CHECK (rank >= 0),
    status        text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'scraping', 'scraped', 'analyzed', 'failed')),
    reason        text NOT NULL DEFAULT '',
    error_message text NOT NULL DEFAULT '',
    -- arrived orders the scraped websites of a query: the number of the event
    -- that told of it.
    arrived       int,
    copy_of       bigint REFERENCES website ON DELETE SET NULL,
    title         text NOT NULL DEFAULT '',
    snippet       text NOT NULL DEFAULT '',
    engine        text NOT NULL DEFAULT '',
    published     timestamptz,
    unlocated     int NOT NULL DEFAULT 0 CHECK (unlocated >= 0),
    created_at    timestamptz NOT NULL DEFAULT now(),
    settled_at    timestamptz,
    UNIQUE (query_id, document_id),
    CHECK ((status IN ('analyzed', 'failed')) = (settled_at IS NOT NULL)),
    CHECK ((status IN ('analyzed', 'failed')) = (reason <> '')),
    CHECK (status NOT IN ('scraped', 'analyzed') OR arrived IS NOT NULL)
) WITH (fillfactor = 80);

CREATE INDEX website_document ON website (document_id);
CREATE INDEX website_research ON website (research_id);
CREATE INDEX website_copy_of ON website (copy_of) WHERE copy_of IS NOT NULL;

CREATE TABLE extraction (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant       text NOT NULL,
    research_id  uuid NOT NULL REFERENCES research ON DELETE CASCADE,
    query_id     uuid NOT NULL REFERENCES serp_query ON DELETE CASCADE,
    website_id   bigint NOT NULL REFERENCES website ON DELETE CASCADE,
    ordinal      int NOT NULL CHECK (ordinal >= 0),
    claim        text NOT NULL,
    quote        text NOT NULL,
    start_offset int NOT NULL CHECK (start_offset >= 0),
    end_offset   int NOT NULL CHECK (end_offset >= start_offset),
    heading_path text[] NOT NULL DEFAULT '{}',
    page         int NOT NULL DEFAULT 0,
    relevance    double precision NOT NULL DEFAULT 0,
    UNIQUE (website_id, ordinal)
);

CREATE INDEX extraction_research ON extraction (research_id);
CREATE INDEX extraction_query ON extraction (query_id);

-- A task is also its own outbox: 'due' rows are published by the relay.
CREATE TABLE task (
    id           uuid PRIMARY KEY,
    tenant       text NOT NULL,
    research_id  uuid NOT NULL REFERENCES research ON DELETE CASCADE,
    kind         text NOT NULL CHECK (kind IN ('questions', 'queries', 'search', 'scrape', 'analyze', 'report')),
    query_id     uuid REFERENCES serp_query ON DELETE CASCADE,
    document_id  bigint REFERENCES document ON DELETE CASCADE,
    website_id   bigint REFERENCES website ON DELETE CASCADE,
    -- due: to be published at due_at; published: with the workers; the others are
    -- closed: done, failed for good, or dropped with its research's work.
    state        text NOT NULL DEFAULT 'due' CHECK (state IN ('due', 'published', 'done', 'failed', 'dropped')),
    attempt      int NOT NULL DEFAULT 0 CHECK (attempt >= 0),
    delivery     int NOT NULL DEFAULT 0 CHECK (delivery >= 0),
    due_at       timestamptz NOT NULL DEFAULT now(),
    leased_until timestamptz NOT NULL DEFAULT '-infinity',
    published_at timestamptz,
    -- checked_at is when the sweeper last saw that the bus holds it.
    checked_at   timestamptz,
    -- The failure of its last try.
    code         text NOT NULL DEFAULT '',
    message      text NOT NULL DEFAULT '',
    -- bury asks the sweeper to put the task into DEAD.
    bury         boolean NOT NULL DEFAULT false,
    reserved_tokens bigint NOT NULL DEFAULT 0 CHECK (reserved_tokens >= 0),
    created_at   timestamptz NOT NULL DEFAULT now(),
    closed_at    timestamptz,
    -- One question task, one plan per query, one scrape per document, one analysis
    -- per website, one report.
    UNIQUE NULLS NOT DISTINCT (research_id, kind, query_id, document_id, website_id),
    CHECK ((state IN ('done', 'failed', 'dropped')) = (closed_at IS NOT NULL)),
    CHECK (state <> 'published' OR published_at IS NOT NULL),
    CHECK (kind NOT IN ('search', 'analyze') OR query_id IS NOT NULL),
    CHECK ((kind = 'scrape') = (document_id IS NOT NULL)),
    CHECK ((kind = 'analyze') = (website_id IS NOT NULL))
) WITH (fillfactor = 70);

CREATE INDEX task_due ON task (due_at) WHERE state = 'due';
CREATE INDEX task_published ON task (published_at) WHERE state = 'published';
CREATE INDEX task_bury ON task (id) WHERE bury;
CREATE INDEX task_query ON task (query_id) WHERE query_id IS NOT NULL;
CREATE INDEX task_document ON task (document_id) WHERE document_id IS NOT NULL;
CREATE INDEX task_website ON task (website_id) WHERE website_id IS NOT NULL;

CREATE TABLE report (
    research_id uuid PRIMARY KEY REFERENCES research ON DELETE CASCADE,
    tenant      text NOT NULL,
    markdown    text NOT NULL,
    -- evidence is the fathom.work.v1.ReportResult as JSON, without its Markdown.
    evidence    jsonb NOT NULL,
    partial     boolean NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE error_output (
    research_id uuid PRIMARY KEY REFERENCES research ON DELETE CASCADE,
    tenant      text NOT NULL,
    markdown    text NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE event (
    research_id     uuid NOT NULL REFERENCES research ON DELETE CASCADE,
    sequence        int NOT NULL CHECK (sequence > 0),
    tenant          text NOT NULL,
    at              timestamptz NOT NULL DEFAULT clock_timestamp(),
    type            text NOT NULL,
    query_id        text NOT NULL DEFAULT '',
    url             text NOT NULL DEFAULT '',
    message         text NOT NULL DEFAULT '',
    reason          text NOT NULL DEFAULT '',
    query_text      text NOT NULL DEFAULT '',
    parent_query_id text NOT NULL DEFAULT '',
    depth           int NOT NULL DEFAULT 0,
    ordinal         int NOT NULL DEFAULT 0,
    count           int NOT NULL DEFAULT 0,
    PRIMARY KEY (research_id, sequence)
);

CREATE TABLE idempotency (
    tenant      text NOT NULL,
    method      text NOT NULL,
    key         text NOT NULL,
    digest      bytea NOT NULL,
    research_id uuid NOT NULL REFERENCES research ON DELETE CASCADE,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant, method, key)
);

CREATE INDEX idempotency_research ON idempotency (research_id);

-- tenant_spending holds what a tenant's researches have consumed and reserved.
CREATE TABLE tenant_spending (
    tenant            text PRIMARY KEY,
    spent_tokens      bigint NOT NULL DEFAULT 0 CHECK (spent_tokens >= 0),
    spent_cost_usd    double precision NOT NULL DEFAULT 0,
    reserved_tokens   bigint NOT NULL DEFAULT 0 CHECK (reserved_tokens >= 0),
    reserved_cost_usd double precision NOT NULL DEFAULT 0
);
