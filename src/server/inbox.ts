/** What a client has posted and its Peer has not been given yet: in order, and no faster than the client may send. */
import type { Clock } from '../core/clock.ts';
import { throttle } from './throttle.ts';

export interface InboxOptions {
  clock: Clock;
  maxMessagesPerSecond: number;
  receive(text: string): void;
  /** The client has sent too fast for too long. */
  onRelentless(): void;
}

export interface Inbox {
  /** Resolves when the message has been handed over; false: it never will be. */
  put(text: string): Promise<boolean>;
  end(): void;
}

export function createInbox({ clock, maxMessagesPerSecond, receive, onRelentless }: InboxOptions): Inbox {
  let waiting: { text: string; resolve(taken: boolean): void }[] = [];
  let state: 'open' | 'paused' | 'ended' = 'open';
  const source = {
    pause() {
      state = 'paused';
    },
    resume() {
      state = 'open';
      handOver();
    },
  };
  const pace = throttle({ source, perSecond: maxMessagesPerSecond, clock, onRelentless });

  function handOver(): void {
    while (state === 'open') {
      const next = waiting.shift();
      if (!next) return;
      pace.count();
      receive(next.text);
      next.resolve(true);
    }
  }

  return {
    put(text) {
      if (state === 'ended') return Promise.resolve(false);
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.push({ text, resolve });
      handOver();
      return promise;
    },
    end() {
      state = 'ended';
      pace.end();
      for (const { resolve } of waiting) resolve(false);
      waiting = [];
    },
  };
}
