/** One part of a result: text, a change, an image, a link, a terminal. Nothing is fetched, and images wait for a click. */
import type { ContentBlock, ToolCallContent } from '@agentclientprotocol/sdk';
import { Image } from 'lucide-react';
import { lazy, Suspense } from 'react';
import type { OpenSession } from '../state/open-session.ts';
import { Button } from '../ui/button.tsx';
import { useRemembered } from './card-memory.ts';
import { Output } from './output.tsx';
import { plainOutput, safeUrl, visible } from './plain-text.ts';
import { relativePath } from './words.ts';

const DiffView = lazy(() => import('./diff-view.tsx').then(({ DiffView }) => ({ default: DiffView })));

interface PartProps {
  session: OpenSession | undefined;
  memoryKey: string;
  cwd: string | undefined;
  /** What the output says is seen anyway. */
  isQuiet?: boolean;
  /** Of the whole call: how it ended. */
  note?: string | undefined;
}

export function ContentPart({ content, ...part }: PartProps & { content: ToolCallContent }) {
  switch (content.type) {
    case 'diff':
      return (
        <Suspense fallback={<p className="tool-note">Comparing…</p>}>
          <DiffView {...part} path={relativePath(content.path, part.cwd)} change={content} />
        </Suspense>
      );
    case 'terminal':
      return <p className="tool-note">It ran in the terminal of a connected editor.</p>;
    case 'content':
      return <Block block={content.content} {...part} />;
    default:
      return <Unknown what={content} {...part} />;
  }
}

function Block({ block, ...part }: PartProps & { block: ContentBlock }) {
  switch (block.type) {
    case 'text':
      return <Text text={block.text} {...part} />;
    case 'image':
      return <ToolImage {...block} {...part} />;
    case 'audio':
      return <p className="tool-note">Sound ({visible(block.mimeType)}), which is not played here.</p>;
    case 'resource_link':
      return <ResourceLink uri={block.uri} name={block.title ?? block.name} />;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource)
        return <Output label={visible(resource.uri)} text={resource.text} {...part} note={undefined} />;
      return <p className="tool-note">A file that is not text: {visible(resource.uri)}</p>;
    }
    default:
      return <Unknown what={block} {...part} />;
  }
}

/** One short line needs no frame around it. */
function Text({ text, ...part }: PartProps & { text: string }) {
  const isShort = text !== '' && text.length <= SHORT && !text.trimEnd().includes('\n') && part.isQuiet;
  if (isShort) return <p className="tool-note">{plainOutput(text).trim()}</p>;
  return <Output label="Output" text={text} {...part} />;
}

const SHORT = 200;

/** A server may be newer than this page: then at least it is not hidden. */
function Unknown({ what, ...part }: PartProps & { what: unknown }) {
  return <Output label="Unknown content" text={JSON.stringify(what, null, 2)} {...part} note={undefined} />;
}

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

function ToolImage({ data, mimeType, session, memoryKey }: PartProps & { data: string; mimeType: string }) {
  const [isShown = false, setShown] = useRemembered<boolean>(session, `${memoryKey} image`);
  if (!PICTURES.includes(mimeType)) return <p className="tool-note">An image that is not shown: {visible(mimeType)}</p>;
  if (isShown)
    return <img className="tool-image" src={`data:${mimeType};base64,${data}`} alt="From the tool's result" />;
  const size = Math.ceil((data.length * 0.75) / 1024).toLocaleString('en');
  return (
    <Button small className="tool-show-image" onClick={() => setShown(true)}>
      <Image size={15} aria-hidden />
      Show image ({mimeType.slice('image/'.length).toUpperCase()}, {size} kB)
    </Button>
  );
}

function ResourceLink({ uri, name }: { uri: string; name: string }) {
  const url = safeUrl(uri);
  if (!url) {
    return (
      <p className="tool-note" title={visible(uri)}>
        {visible(name)} <code>{visible(uri)}</code>
      </p>
    );
  }
  return (
    <a className="tool-link" href={url} title={url} target="_blank" rel="noopener noreferrer">
      {visible(name)}
    </a>
  );
}
