/** The Feeds of one connection: at most one a Session. They end with the connection; Sessions and Turns do not notice. */
import { attach as watchSession } from '../core/conversation.ts';
import { limitExceeded } from '../core/limits.ts';
import { assertMay, may, type Principal, reaches } from '../core/principal.ts';
import type { Runtime } from '../core/runtime.ts';
import type { Session } from '../core/session.ts';
import type { Agent } from './agent.ts';
import { encodeCursor, headPosition, type Position } from './cursor.ts';
import { onlyObserving } from './errors.ts';
import { Feed } from './feed.ts';
import type { FeedOptions, FeedSink } from './feed-ports.ts';

/** Decides where a Feed begins, once the Session is open and nothing of it can be missed any more. */
export type AttachPlan = (session: Session) => Promise<{ position: Position; options?: Partial<FeedOptions> }>;

/** Only what comes. */
export const fromHead: AttachPlan = async (session) => ({ position: headPosition(session) });

export class Feeds {
  readonly #runtime: Runtime;
  readonly #principal: Principal;
  readonly #sink: FeedSink;
  readonly #maxFeeds: number;
  readonly #feeds = new Map<string, Promise<Feed>>();
  /** Places that are kept for Sessions which are being made. */
  #kept = 0;
  #ended = false;
  /** The client asked for cursors in `initialize`. */
  cursors = false;
  /** The client said in `initialize` that it shows compactions. */
  compaction = false;

  constructor({ runtime, limits }: Agent, principal: Principal, sink: FeedSink) {
    this.#runtime = runtime;
    this.#principal = principal;
    this.#sink = sink;
    this.#maxFeeds = limits.attachedSessions;
  }

  /**
   * The Feed of this Session, for a method that changes something; attached at the head where there is none yet.
   *
   * @throws ProtocolError when the connection only observes this Session; CoreError `forbidden`, `limit_exceeded`.
   */
  async control(sessionId: string): Promise<Feed> {
    assertMay(this.#principal, 'prompt');
    if (await this.observes(sessionId)) throw onlyObserving();
    const attached = this.#feeds.get(sessionId);
    if (attached) return attached;
    const feed = await this.attach(sessionId, fromHead);
    feed.start();
    return feed;
  }

  async observes(sessionId: string): Promise<boolean> {
    return (await this.#feeds.get(sessionId))?.options.role === 'observer';
  }

  /** The Feed of a Session that `create` makes; without a place for it none is made. @throws CoreError `limit_exceeded`. */
  async attachNew(create: () => Promise<Session>): Promise<Feed> {
    this.#assertPlace();
    this.#kept++;
    let session: Session;
    try {
      session = await create();
    } finally {
      this.#kept--;
    }
    // In the same tick: nobody else can have taken the place.
    return this.attach(session.id, fromHead);
  }

  /**
   * Replaces the Feed of this Session by one that begins where `plan` says. The caller starts it.
   *
   * @throws CoreError `limit_exceeded` when there is none to replace and no place for another.
   */
  attach(sessionId: string, plan: AttachPlan): Promise<Feed> {
    if (!this.detach(sessionId)) this.#assertPlace();
    const feed = this.#open(sessionId, plan).then((opened) => {
      if (this.#feeds.get(sessionId) !== feed) opened.stop();
      return opened;
    });
    // After the end nobody would take a Feed out again, and whoever waits for it would wait for ever.
    if (!this.#ended) this.#feeds.set(sessionId, feed);
    feed.catch(() => {
      if (this.#feeds.get(sessionId) === feed) this.#feeds.delete(sessionId);
    });
    return feed;
  }

  #assertPlace(): void {
    if (this.#feeds.size + this.#kept >= this.#maxFeeds) throw limitExceeded('attached_sessions', this.#maxFeeds);
  }

  async #open(sessionId: string, plan: AttachPlan): Promise<Feed> {
    let feed: Feed | undefined;
    const watch = await watchSession(this.#runtime, this.#principal, sessionId, (signal) => {
      // With a root that the principal does not reach, the Session is none of its business any more.
      if (feed && !reaches(this.#principal, feed.session.state)) this.detach(sessionId);
      else feed?.hear(signal);
    });
    try {
      const { position, options } = await plan(watch.session);
      const approves = may(this.#principal, 'approve');
      const { cursors, compaction } = this;
      const defaults = { cursors, compaction, role: 'controller' as const, announce: false, thoughtsAfter: -1 };
      const wanted = { ...defaults, ...options, approves };
      // Whoever can only watch is an observer, whatever it asks for.
      const role = approves || may(this.#principal, 'prompt') ? wanted.role : 'observer';
      feed = new Feed(watch, this.#runtime, this.#sink, position, { ...wanted, role });
      return feed;
    } catch (error) {
      watch.stop();
      throw error;
    }
  }

  /** Ends the Feed of this Session; false when there is none. */
  detach(sessionId: string): boolean {
    this.#feeds.get(sessionId)?.then((feed) => feed.stop(), ignore);
    return this.#feeds.delete(sessionId);
  }

  /** Resolves when the connection has been sent everything up to `seq`, or is not attached any more. */
  async sent(sessionId: string, seq: number): Promise<void> {
    for (;;) {
      // A load may replace the Feed meanwhile: then the new one has to get there.
      const feed = await this.#feeds.get(sessionId);
      if (!feed || (await feed.reached(seq))) return;
    }
  }

  /** The newest position of every attached Session, by its id: a client compares it with its own. */
  async heads(): Promise<Record<string, string>> {
    const feeds = await Promise.all([...this.#feeds.values()].map((feed) => feed.catch(ignore)));
    const open = feeds.filter((feed) => feed !== undefined);
    return Object.fromEntries(open.map(({ session: { id, tail } }) => [id, encodeCursor(tail.epoch, tail)]));
  }

  /** The client can take more. */
  kick(): void {
    for (const feed of this.#feeds.values()) feed.then((attached) => attached.kick(), ignore);
  }

  end(): void {
    this.#ended = true;
    for (const sessionId of [...this.#feeds.keys()]) this.detach(sessionId);
  }
}

function ignore(): undefined {
  // Whoever asked for the Feed hears of it.
  return undefined;
}
