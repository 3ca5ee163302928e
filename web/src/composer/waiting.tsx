/** Above the field: the prompts that wait for their turn, and the one that was not taken. Nothing that was sent is out of sight. */
import { CircleAlert, Clock, Pencil, RotateCcw, X } from 'lucide-react';
import { useMemo } from 'react';
import { connection } from '../server/client.ts';
import type { OpenSession } from '../state/open-session.ts';
import type { QueuedPrompt } from '../state/queue.ts';
import { useStore } from '../state/store.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { isTooLargeToKeep, summaryOf } from './draft.ts';
import { focusPrompt } from './prompt-field.tsx';
import './waiting.css';

interface WaitingProps {
  session: OpenSession;
  /** Takes what was to be sent back into the field. */
  onEdit(prompt: QueuedPrompt): void;
}

export function Waiting({ session, onEdit }: WaitingProps) {
  const queue = useStore(session.view, (view) => view.queue);
  const failed = useStore(session.view, (view) => view.failed);
  const when = useWhen(session);
  return (
    <>
      {failed && <Failed session={session} failed={failed} onEdit={onEdit} />}
      {queue.length > 0 && (
        <section className="queue" aria-label="Queued">
          <p className="queue-when">
            <Clock size={14} aria-hidden />
            {when}
          </p>
          <ol className="queue-list">
            {queue.map((prompt) => (
              <Queued key={prompt.promptKey} prompt={prompt} session={session} onEdit={onEdit} />
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

function useWhen(session: OpenSession): string {
  const running = useStore(session.view, (view) => view.running);
  const isLive = useStore(connection, ({ kind }) => kind === 'live');
  if (!isLive) return 'Queued: sends when the connection is back';
  return running ? 'Queued: sends when this Turn ends' : 'Sending…';
}

function Queued({ prompt, session, onEdit }: { prompt: QueuedPrompt } & WaitingProps) {
  const summary = summaryOf(prompt.content);
  const isTooLarge = useMemo(() => isTooLargeToKeep(prompt.content), [prompt]);
  return (
    <li className="queued">
      <span className="queued-what">
        <span className="queued-text">{summary}</span>
        {isTooLarge && <span className="queued-note">Too large to survive a reload</span>}
      </span>
      <IconButton
        icon={Pencil}
        label="Edit"
        aria-description={summary}
        small
        onClick={() => {
          if (session.unqueue(prompt.promptKey)) onEdit(prompt);
        }}
      />
      <IconButton
        icon={X}
        label="Remove from the queue"
        aria-description={summary}
        small
        onClick={() => leave(() => session.unqueue(prompt.promptKey))}
      />
    </li>
  );
}

/** The buttons go with what they were for. */
function leave(settle: () => void): void {
  settle();
  focusPrompt();
}

interface FailedProps extends WaitingProps {
  failed: { prompt: QueuedPrompt; message: string };
}

function Failed({ session, failed: { prompt, message }, onEdit }: FailedProps) {
  return (
    <section className="failed" aria-label="Not sent">
      <p className="failed-why" role="alert">
        <CircleAlert size={15} aria-hidden />
        <span>Not sent: {message}</span>
      </p>
      <p className="queued-text">{summaryOf(prompt.content)}</p>
      <div className="failed-actions">
        <Button small onClick={() => leave(() => session.retryFailed())}>
          <RotateCcw size={14} aria-hidden />
          Retry
        </Button>
        <Button
          small
          onClick={() => {
            session.dismissFailed();
            onEdit(prompt);
          }}
        >
          <Pencil size={14} aria-hidden />
          Edit
        </Button>
        <Button small look="quiet" onClick={() => leave(() => session.dismissFailed())}>
          Dismiss
        </Button>
      </div>
    </section>
  );
}
