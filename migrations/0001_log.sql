-- The Log. `sessions` is a projection of `events`, kept in the same transaction, so that a list of Sessions, the head of a
-- Log and the Turns that a crash left open can be read without folding anything.

CREATE TABLE sessions (
  session_id TEXT NOT NULL PRIMARY KEY,
  workspace  TEXT NOT NULL,
  owner      TEXT NOT NULL,
  title      TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  epoch      TEXT NOT NULL,
  head_seq   INTEGER NOT NULL,
  head_chk   TEXT NOT NULL,
  open_turn  TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_owner ON sessions (owner, updated_at);
CREATE INDEX sessions_with_open_turn ON sessions (session_id) WHERE open_turn IS NOT NULL;

-- `json` is the Event exactly as it was checked into the chain. An ordinary rowid table on purpose: Events of a few
-- kilobytes make a WITHOUT ROWID tree deep, and writing in groups is then half as fast.
CREATE TABLE events (
  session_id TEXT NOT NULL REFERENCES sessions (session_id),
  seq        INTEGER NOT NULL,
  json       TEXT NOT NULL,
  chk        TEXT NOT NULL,
  PRIMARY KEY (session_id, seq)
) STRICT;

-- The text so far of the one item that is streaming. JSON, because a text cut inside a surrogate pair survives in JSON
-- and not in UTF-8.
CREATE TABLE drafts (
  session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (session_id),
  message_id TEXT NOT NULL,
  json       TEXT NOT NULL
) STRICT;

-- An id that was deleted is never given out again: a client may still hold a cursor into it.
CREATE TABLE deleted_sessions (
  session_id TEXT NOT NULL PRIMARY KEY,
  deleted_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
