/** What a person has said: text as it was written, pictures, and the files that came along. */
import { FileText, Link2 } from 'lucide-react';
import { useState } from 'react';
import { connection } from '../server/client.ts';
import type { Item } from '../state/items.ts';
import { useStore } from '../state/store.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { safeHref } from './links.ts';
import { LongText } from './long-text.tsx';
import { itemMarkdown } from './to-markdown.ts';

type Prompt = Extract<Item, { type: 'user' }>;
type Block = Prompt['content'][number];

export function PromptItem({ item }: { item: Prompt }) {
  const texts = item.content.filter((block) => block.type === 'text');
  const others = item.content.filter((block) => block.type !== 'text');
  return (
    <article className="prompt" aria-label="You">
      {texts.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a prompt never move.
        <PromptText key={index} text={block.text} />
      ))}
      {others.length > 0 && (
        <div className="attachments">
          {others.map((block, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the blocks of a prompt never move.
            <Attachment key={index} block={block} />
          ))}
        </div>
      )}
      {item.pending && <Pending />}
      <div className="message-tools">
        <CopyButton text={itemMarkdown(item)} label="Copy prompt" />
      </div>
    </article>
  );
}

/** The server has not said yet that it has it. */
function Pending() {
  const isCut = useStore(connection, ({ kind }) => kind === 'reconnecting' || kind === 'offline');
  return (
    <p className="prompt-pending">
      {isCut ? 'Not confirmed yet. Sends when the connection is back, and runs once.' : 'Sending…'}
    </p>
  );
}

function Attachment({ block }: { block: Exclude<Block, { type: 'text' }> }) {
  switch (block.type) {
    case 'image':
      return <Picture data={block.data} mimeType={block.mimeType} />;
    case 'audio':
      return <span className="chip">Audio, {block.mimeType}</span>;
    case 'resource_link':
      return <ResourceLink name={block.title ?? block.name} uri={block.uri} />;
    case 'resource':
      return <Resource resource={block.resource} />;
  }
}

const FOLDED_LINES = 14;
const FOLDED_LENGTH = 1_800;

function PromptText({ text }: { text: string }) {
  const [isOpen, setOpen] = useState(false);
  const lines = text.split('\n');
  const isLong = lines.length > FOLDED_LINES + 4 || text.length > FOLDED_LENGTH * 1.3;
  const folded = lines.slice(0, FOLDED_LINES).join('\n').slice(0, FOLDED_LENGTH);
  return (
    <>
      <p className="prompt-text">{isLong && !isOpen ? `${folded}…` : <LongText text={text} />}</p>
      {isLong && (
        <Button look="quiet" small className="prompt-more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : 'Show all'}
        </Button>
      )}
    </>
  );
}

/** Pictures only: what else calls itself an image is not drawn. */
const PICTURE = /^image\/(png|jpeg|gif|webp|avif)$/;

function Picture({ data, mimeType }: { data: string; mimeType: string }) {
  const [isOpen, setOpen] = useState(false);
  if (!PICTURE.test(mimeType)) return <span className="chip">Image, {mimeType}</span>;
  const address = `data:${mimeType};base64,${data}`;
  return (
    <>
      <button type="button" className="thumbnail" aria-label="Show image" onClick={() => setOpen(true)}>
        <img src={address} alt="Attached to the prompt" decoding="async" />
      </button>
      {isOpen && (
        <Dialog title="Image" className="picture-dialog" onClose={() => setOpen(false)}>
          <img src={address} alt="Attached to the prompt" />
        </Dialog>
      )}
    </>
  );
}

function ResourceLink({ name, uri }: { name: string; uri: string }) {
  const href = safeHref(uri);
  const content = (
    <>
      <Link2 size={14} aria-hidden />
      <span>{name}</span>
    </>
  );
  if (href === undefined)
    return (
      <span className="chip" title={uri}>
        {content}
      </span>
    );
  return (
    <a className="chip" href={href} title={uri} target="_blank" rel="noopener noreferrer">
      {content}
    </a>
  );
}

function Resource({ resource }: { resource: Extract<Block, { type: 'resource' }>['resource'] }) {
  const [isOpen, setOpen] = useState(false);
  const name = resource.uri.split('/').at(-1) || resource.uri;
  if (!('text' in resource))
    return (
      <span className="chip" title={resource.uri}>
        <FileText size={14} aria-hidden />
        <span>{name}</span>
      </span>
    );
  return (
    <>
      <button type="button" className="chip" title={resource.uri} onClick={() => setOpen(true)}>
        <FileText size={14} aria-hidden />
        <span>{name}</span>
      </button>
      {isOpen && (
        <Dialog title={name} className="resource-dialog" onClose={() => setOpen(false)}>
          <pre>
            <LongText text={resource.text} />
          </pre>
        </Dialog>
      )}
    </>
  );
}
