/** What is attached to the draft: small pictures, names and sizes, each of which can be taken out again. */
import { FileText, X } from 'lucide-react';
import { useMemo } from 'react';
import { useStore } from '../state/store.ts';
import { IconButton } from '../ui/button.tsx';
import './attachments.css';
import { type Attachment, mentioned } from './draft.ts';
import type { DraftStore } from './drafts.ts';
import { bytesText } from './format.ts';
import { focusPrompt } from './prompt-field.tsx';

export function AttachmentList({ draft }: { draft: DraftStore }) {
  const attachments = useStore(draft, (value) => value.attachments);
  if (attachments.length === 0) return null;
  function remove(id: number): void {
    draft.change({ attachments: draft.get().attachments.filter((one) => one.id !== id) });
    focusPrompt();
  }
  return (
    <ul className="attachments" aria-label="Attachments">
      {attachments.map((attachment) => (
        <li key={attachment.id} className="attachment">
          <Picture attachment={attachment} />
          <span className="attachment-text">
            <span className="attachment-name" title={attachment.name}>
              {attachment.name}
            </span>
            <span className="attachment-size">{bytesText(attachment.size)}</span>
          </span>
          <IconButton icon={X} label={`Remove ${attachment.name}`} small onClick={() => remove(attachment.id)} />
        </li>
      ))}
    </ul>
  );
}

function Picture({ attachment }: { attachment: Attachment }) {
  const url = useMemo(
    () => (attachment.kind === 'image' ? `data:${attachment.mimeType};base64,${attachment.data}` : undefined),
    [attachment],
  );
  if (url === undefined) return <FileText size={18} className="attachment-icon" aria-hidden />;
  return <img className="attachment-picture" src={url} alt="" decoding="async" />;
}

/** Files that go along because the text mentions them. */
export function Mentions({ draft }: { draft: DraftStore }) {
  const { text, links } = useStore(draft);
  const paths = useMemo(() => mentioned(links, text).map(({ path }) => path), [links, text]);
  if (paths.length === 0) return null;
  return <p className="composer-mentions">With {paths.join(', ')}</p>;
}
