-- How the last Turn of a Session ended, so that a list of Sessions shows it without folding anything. What was recorded
-- before is looked up in the Log; an Event that cannot be read is passed over, so that damage stays in its Session.
ALTER TABLE sessions ADD COLUMN outcome TEXT;

UPDATE sessions SET outcome = (
  SELECT json ->> '$.data.outcome' FROM events
  WHERE session_id = sessions.session_id
    AND CASE WHEN json_valid(json) THEN json ->> '$.type' END = 'turn_finished'
  ORDER BY seq DESC LIMIT 1
);
