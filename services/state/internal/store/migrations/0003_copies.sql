-- A page that other addresses show too is one source. copy_of names the page of the
-- same research that has the same text and came before; that one is no copy itself.
ALTER TABLE document
    ADD copy_of    bigint REFERENCES document ON DELETE SET NULL CHECK (copy_of <> id),
    -- similarity is the SimHash of the text.
    ADD similarity bigint NOT NULL DEFAULT 0,
    -- identity_digest stands for the address that the page itself goes by.
    ADD identity_digest bytea,
    -- domain is the registrable domain of url, empty where there is none.
    ADD domain     text NOT NULL DEFAULT '';

CREATE INDEX document_copy_of ON document (copy_of) WHERE copy_of IS NOT NULL;
CREATE INDEX document_original ON document (research_id) INCLUDE (content_hash, identity_digest, similarity)
    WHERE status = 'scraped' AND copy_of IS NULL;
CREATE INDEX document_domain ON document (research_id, domain) WHERE domain <> '';
CREATE INDEX document_raw ON document (settled_at) WHERE raw IS NOT NULL;
