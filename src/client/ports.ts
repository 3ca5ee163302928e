/**
 * What the client needs of its surroundings. Browsers and Node have all of it; a test brings its own, and so may a page
 * with a transport of its own.
 */

/** Where to connect, and with what. A browser can send no headers: there a cookie or a ticket says who it is. */
export interface Address {
  url: string;
  protocols: string[];
  headers: Record<string, string>;
}

/** One open or opening socket. Nothing is heard of it after `close`. */
export interface Wire {
  send(text: string): void;
  close(): void;
}

export interface WireEvents {
  open(): void;
  message(text: string): void;
  /** It has ended, or never opened. */
  closed(code: number): void;
}

export interface Ports {
  connect(address: Address, on: WireEvents): Wire;
  /** The HTTP status with which the server answers a plain request there: a failed WebSocket does not tell why. */
  status(address: Address): Promise<number>;
  /** False when the machine knows that it has no network. */
  online(): boolean;
  /** Calls back when there is a network again, until the returned function is called. */
  onOnline(callback: () => void): () => void;
  now(): number;
  after(ms: number, callback: () => void): () => void;
  /** In [0, 1). */
  random(): number;
}

/** What browsers have and Node has not. */
interface Page {
  navigator?: { onLine?: boolean };
  addEventListener?(name: string, callback: () => void): void;
  removeEventListener?(name: string, callback: () => void): void;
}
const page = globalThis as Page;

export const systemPorts: Ports = {
  connect({ url, protocols, headers }, on) {
    // Node's own extension; a browser would read the object as the name of a protocol.
    const init = Object.keys(headers).length > 0 ? ({ protocols, headers } as unknown as string[]) : protocols;
    const socket = new WebSocket(url, init);
    socket.onopen = () => on.open();
    socket.onmessage = ({ data }) => on.message(String(data));
    socket.onclose = ({ code }) => on.closed(code);
    return {
      send: (text) => socket.send(text),
      close() {
        socket.onopen = socket.onmessage = socket.onclose = null;
        socket.close();
      },
    };
  },
  async status({ url, headers }) {
    const response = await fetch(url.replace(/^ws/, 'http'), { headers });
    await response.body?.cancel();
    return response.status;
  },
  online: () => page.navigator?.onLine !== false,
  onOnline(callback) {
    page.addEventListener?.('online', callback);
    return () => page.removeEventListener?.('online', callback);
  },
  now: () => performance.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};
