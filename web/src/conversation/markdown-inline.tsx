/** What stands inside of a paragraph: emphasis, code, links. An image is a word about an image until a person opens it. */
import { ImageIcon } from 'lucide-react';
import type { Token, Tokens } from 'marked';
import { useState } from 'react';
import { hostOf, isInlineImage, safeHref, withoutEntities } from './links.ts';
import { LongText } from './long-text.tsx';

export function InlineTokens({ tokens }: { tokens: readonly Token[] | undefined }) {
  return tokens?.map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no other name, and only the last ones change.
    <InlineToken key={index} token={token} />
  ));
}

type Known =
  | Tokens.Text
  | Tokens.Escape
  | Tokens.Strong
  | Tokens.Em
  | Tokens.Del
  | Tokens.Codespan
  | Tokens.Br
  | Tokens.Link
  | Tokens.Image;

function InlineToken({ token }: { token: Token }) {
  const known = token as Tokens.Generic as Known;
  switch (known.type) {
    case 'text':
      return known.tokens ? <InlineTokens tokens={known.tokens} /> : <LongText text={withoutEntities(known.text)} />;
    case 'escape':
      return known.text;
    case 'strong':
      return (
        <strong>
          <InlineTokens tokens={known.tokens} />
        </strong>
      );
    case 'em':
      return (
        <em>
          <InlineTokens tokens={known.tokens} />
        </em>
      );
    case 'del':
      return (
        <del>
          <InlineTokens tokens={known.tokens} />
        </del>
      );
    case 'codespan':
      return <code>{known.text}</code>;
    case 'br':
      return <br />;
    case 'link':
      return <Link token={known} />;
    case 'image':
      return <Image address={known.href} name={withoutEntities(known.text)} />;
    default:
      return <LongText text={token.raw} />;
  }
}

function Link({ token: { href, title, tokens } }: { token: Tokens.Link }) {
  const address = safeHref(href);
  if (address === undefined)
    return (
      <span className="markdown-no-link" title={href}>
        <InlineTokens tokens={tokens} />
      </span>
    );
  return (
    <a href={address} title={title ? `${title}\n${address}` : address} target="_blank" rel="noopener noreferrer">
      <InlineTokens tokens={tokens} />
    </a>
  );
}

function Image({ address, name }: { address: string; name: string }) {
  const host = hostOf(address);
  const text = name === '' ? 'Image' : name;
  if (isInlineImage(address)) return <InlineImage address={address} name={text} />;
  if (host === undefined)
    return (
      <span className="markdown-image">
        <ImageIcon size={14} aria-hidden />
        {text}
      </span>
    );
  return (
    <a className="markdown-image" href={safeHref(address)} title={address} target="_blank" rel="noopener noreferrer">
      <ImageIcon size={14} aria-hidden />
      {text}
      {host !== '' && <span className="markdown-host">{host}</span>}
    </a>
  );
}

function InlineImage({ address, name }: { address: string; name: string }) {
  const [isShown, setShown] = useState(false);
  if (isShown) return <img className="markdown-shown-image" src={address} alt={name} />;
  return (
    <button type="button" className="markdown-image" onClick={() => setShown(true)}>
      <ImageIcon size={14} aria-hidden />
      {name}
      <span className="markdown-host">show</span>
    </button>
  );
}
