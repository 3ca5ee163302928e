-- Bytes that Events name by their SHA-256 and never hold: once, however many Events and Sessions name them.
CREATE TABLE blobs (
  hash  TEXT NOT NULL PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;

-- Which Sessions a blob is kept for: it goes with the last of them.
CREATE TABLE blob_refs (
  session_id TEXT NOT NULL REFERENCES sessions (session_id),
  hash       TEXT NOT NULL REFERENCES blobs (hash),
  PRIMARY KEY (session_id, hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX blob_refs_by_hash ON blob_refs (hash);
