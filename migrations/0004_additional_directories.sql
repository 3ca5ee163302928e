-- Where the tools of a Session work besides its workspace, as a JSON list: who reaches a Session depends on it.
ALTER TABLE sessions ADD COLUMN additional_directories TEXT NOT NULL DEFAULT '[]';
