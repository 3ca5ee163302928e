/**
 * What a connection is made of in Node: `ws` instead of the platform's WebSocket, which cannot let go of a server that
 * does not answer and would keep the process alive for it.
 */
import { WebSocket } from 'ws';
import { type Address, type Ports, systemPorts } from '../client/ports.ts';

/** How long a server may take to say goodbye. */
const GOODBYE_MS = 1_000;

export interface NodeAddress extends Address {
  /** The one certificate to trust there, as PEM, whatever name is in it: who wrote it down owns the data directory. */
  certificate?: string;
}

export const nodePorts: Ports = {
  ...systemPorts,
  connect({ url, protocols, headers, certificate }: NodeAddress, on) {
    const trust = certificate ? pinned(certificate) : {};
    const socket = new WebSocket(url, protocols, { headers, perMessageDeflate: false, maxPayload: 0, ...trust });
    let dropped = false;
    socket.on('open', () => dropped || on.open());
    socket.on('message', (data) => dropped || on.message(String(data)));
    socket.on('close', (code) => dropped || on.closed(code));
    // What it means is said by the code of the end that follows.
    socket.on('error', () => undefined);
    return {
      send: (text) => socket.send(text),
      close() {
        dropped = true;
        socket.close();
        setTimeout(() => socket.terminate(), GOODBYE_MS).unref();
      },
    };
  },
};

/** A certificate of a chain is trusted by itself, too: `allowPartialTrustChain`. */
function pinned(certificate: string) {
  return { ca: certificate, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
}
