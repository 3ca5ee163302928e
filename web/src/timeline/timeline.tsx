/** A Session's Log, made visible: every Event with its check value, newest first. It only reads, and goes on as the Log does. */
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import type { VirtualizerHandle } from 'virtua';
import { usePage } from '../page.tsx';
import { type Client, connection } from '../server/client.ts';
import { sessions } from '../state/sessions.ts';
import { useStore } from '../state/store.ts';
import { Button } from '../ui/button.tsx';
import { type Chain, chainOf, counted } from './chain.ts';
import { ChainBar } from './chain-bar.tsx';
import { EventTable } from './event-table.tsx';
import { FAMILIES, FAMILY_NAMES, type Filter, isFiltering, matcherOf, NO_FILTER } from './families.ts';
import { LogReader } from './log-reader.ts';
import './timeline.css';
import './event.css';

export function Timeline({ sessionId }: { sessionId: string }) {
  const { client } = usePage();
  const reader = useReader(client, sessionId);
  const { events, opening, hasOlder, error } = useStore(reader.view);
  const [filter, setFilter] = useState(NO_FILTER);
  const list = useRef<VirtualizerHandle>(null);
  const { chain, verify } = useChain(client, sessionId, reader);
  const shown = useMemo(() => (isFiltering(filter) ? events.filter(matcherOf(filter)) : events), [events, filter]);
  const isSearching = isFiltering(filter) && hasOlder && !error;
  useReadAll(reader, isFiltering(filter));
  const broken = chain.kind === 'broken' ? chain : undefined;
  const showBroken = useShowBroken(reader, broken?.seq, list, setFilter);

  return (
    <section className="timeline" aria-label="Log">
      <ChainBar chain={chain} total={reader.total} onVerify={verify} onShow={showBroken} />
      <FilterBar filter={filter} onChange={setFilter}>
        {isFiltering(filter) && `${shown.length.toLocaleString('en')} of `}
        {counted(reader.total)}
        {isSearching && ', reading…'}
      </FilterBar>
      {error && (
        <p className="timeline-error" role="alert">
          The Log could not be read: {error}
          <Button small onClick={() => void reader.newer()}>
            Try again
          </Button>
        </p>
      )}
      {opening && <p className="timeline-note">Reading the Log…</p>}
      {!opening && shown.length === 0 && !isSearching && !error && <p className="timeline-note">No such Event.</p>}
      <EventTable
        events={shown}
        total={isSearching ? -1 : isFiltering(filter) ? shown.length : reader.total}
        broken={broken}
        reader={reader}
        list={list}
      />
    </section>
  );
}

function useReader(client: Client, sessionId: string): LogReader {
  const reader = useMemo(
    () => new LogReader((page) => client.request('_pixir/session/log', { sessionId, ...page })),
    [client, sessionId],
  );
  // The list of Sessions is told of every Event; what happened without a connection is read when there is one again.
  const seq = useStore(sessions, (all) => all.sessions.find((one) => one.sessionId === sessionId)?._meta.pixir.seq);
  const isLive = useStore(connection, ({ kind }) => kind === 'live');
  useEffect(() => {
    const isNews = seq === undefined || seq >= reader.total;
    if (isLive && isNews) void reader.newer();
  }, [reader, seq, isLive]);
  return reader;
}

/** A filter is about all Events. */
function useReadAll(reader: LogReader, isWanted: boolean): void {
  useEffect(() => {
    if (!isWanted) return;
    const life = new AbortController();
    void reader.readTo(0, life.signal);
    return () => life.abort();
  }, [reader, isWanted]);
}

/** What more than this has is verified when somebody asks for it. */
const VERIFIED_AT_ONCE = 5_000;

function useChain(client: Client, sessionId: string, reader: LogReader): { chain: Chain; verify(): void } {
  const [chain, setChain] = useState<Chain>({ kind: 'unverified' });
  const isOpen = useStore(reader.view, ({ opening }) => !opening);
  const isLive = useStore(connection, ({ kind }) => kind === 'live');

  const [verify] = useState(() => async () => {
    setChain({ kind: 'verifying' });
    const failed = (error: unknown): Chain => ({ kind: 'failed', message: String((error as Error).message) });
    setChain(await client.request('_pixir/session/verify', { sessionId }).then(chainOf, failed));
  });
  // Again on a new connection: it may be another server, on another disk.
  useEffect(() => {
    if (isOpen && isLive && reader.total < VERIFIED_AT_ONCE) void verify();
  }, [isOpen, isLive, reader, verify]);
  return { chain, verify: () => void verify() };
}

/** Goes to where the chain breaks as soon as that is known, and again when asked to. */
function useShowBroken(
  reader: LogReader,
  seq: number | undefined,
  list: RefObject<VirtualizerHandle | null>,
  setFilter: (filter: Filter) => void,
): () => void {
  const [wanted, setWanted] = useState<number>();
  useEffect(() => setWanted(seq), [seq]);
  useEffect(() => {
    if (wanted === undefined) return;
    const show = async () => {
      setFilter(NO_FILTER);
      await reader.readTo(wanted);
      const index = reader.view.get().events.findIndex((event) => event.seq === wanted);
      // After it has been drawn.
      requestAnimationFrame(() => index >= 0 && list.current?.scrollToIndex(index, { align: 'center' }));
      setWanted(undefined);
    };
    void show();
  }, [reader, wanted, list, setFilter]);
  return () => setWanted(seq);
}

interface FilterProps {
  filter: Filter;
  onChange(filter: Filter): void;
  children: ReactNode;
}

function FilterBar({ filter, onChange, children }: FilterProps) {
  return (
    <search className="log-filter">
      <input
        type="search"
        className="input"
        aria-label="Filter Events"
        placeholder="Type, who, seq, check value"
        value={filter.text}
        onChange={(event) => onChange({ ...filter, text: event.target.value })}
      />
      <select
        className="input"
        aria-label="Kind of Event"
        value={filter.family}
        onChange={(event) => onChange({ ...filter, family: event.target.value as Filter['family'] })}
      >
        <option value="all">All kinds</option>
        {FAMILIES.map((family) => (
          <option key={family} value={family}>
            {FAMILY_NAMES[family]}
          </option>
        ))}
      </select>
      <span className="log-count">{children}</span>
    </search>
  );
}
