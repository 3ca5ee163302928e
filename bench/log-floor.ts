/**
 * The smallest program that keeps a record and shows it, a process of its own: SQLite rows in pages, each an update, each
 * a frame, and no agent. `last N` makes it send the last N rows and then `done`.
 */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type WebSocket, WebSocketServer } from 'ws';
import { now, quantile, repeat } from './measure.ts';
import { endWithParent, environmentOf, firstLine, type Running, scratchDirectory, startNode } from './processes.ts';
import { type Endpoint, openWebSocket } from './wires.ts';

const PAGE = 200;
const SESSION = 'session';
const DONE = 'done';

interface Floor extends Running {
  /** Connects, and returns what asks for the last `rows` and resolves when they are there. */
  connect(): Promise<{ last(rows: number): Promise<void>; close(): void }>;
}

/** @param rowBytes the length of each update. */
export async function startLogFloor(rows: number, rowBytes: number): Promise<Floor> {
  const directory = scratchDirectory('log');
  const args = [import.meta.filename, directory, String(rows), String(Math.round(rowBytes))];
  const running = startNode(args, environmentOf(directory));
  const endpoint = { url: await firstLine(running) };
  return { ...running, connect: () => connect(endpoint) };
}

/** Milliseconds until a client has the last `rows` updates of `rowBytes` each: the first time, and in the middle. */
export async function lastRows(
  rows: number,
  rowBytes: number,
  stored = rows,
): Promise<{ first: number; warm: number }> {
  const floor = await startLogFloor(stored, rowBytes);
  const client = await floor.connect();
  const [first = Number.NaN, ...times] = await repeat(40, async () => {
    const began = now();
    await client.last(rows);
    return now() - began;
  });
  await floor.stop();
  return { first, warm: quantile(times.slice(10)) };
}

async function connect(endpoint: Endpoint) {
  let done = Promise.withResolvers<void>();
  const wire = await openWebSocket(endpoint, (text) => {
    if (text === DONE) done.resolve();
  });
  return {
    async last(rows: number) {
      done = Promise.withResolvers<void>();
      wire.send(`last ${rows}`);
      await done.promise;
    },
    close: () => wire.close(),
  };
}

function serve(directory: string, rows: number, rowBytes: number): void {
  const db = new Database(join(directory, 'floor.db'));
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE events (session TEXT, seq INT, json TEXT, PRIMARY KEY (session, seq))');
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?)');
  const json = JSON.stringify({ text: 'x'.repeat(Math.max(0, rowBytes - 70)) });
  db.transaction(() => {
    for (let seq = 0; seq < rows; seq++) insert.run(SESSION, seq, json);
  })();
  const page = db
    .prepare<[string, number, number], string>(
      'SELECT json FROM events WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?',
    )
    .pluck();

  function send(ws: WebSocket, socket: Socket, count: number): void {
    socket.cork();
    for (let after = rows - count - 1; after < rows - 1; after += PAGE) {
      for (const row of page.all(SESSION, after, PAGE)) {
        ws.send(`{"jsonrpc":"2.0","method":"session/update","params":${row}}`);
      }
    }
    ws.send(DONE);
    socket.uncork();
  }

  const server = createServer();
  new WebSocketServer({ server, perMessageDeflate: false }).on('connection', (ws, { socket }) => {
    ws.on('message', (order) => send(ws, socket, Number(order.toString().split(' ')[1])));
  });
  server.listen(0, '127.0.0.1', () => console.log(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  endWithParent();
}

const [, , directory = '', rows, rowBytes] = process.argv;
if (import.meta.main) serve(directory, Number(rows), Number(rowBytes));
