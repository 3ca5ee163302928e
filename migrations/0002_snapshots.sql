-- The session state after one Event, so that a long Session opens without reading its whole Log. Only a cache: rows may go
-- at any time, and `chk` chains each to its Event, so that one which does not fit the Log is recognised and ignored.
CREATE TABLE snapshots (
  session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (session_id),
  seq        INTEGER NOT NULL CHECK (seq >= 0),
  json       TEXT NOT NULL,
  chk        TEXT NOT NULL
) STRICT;
