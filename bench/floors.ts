/** What this machine can do at best: the bare parts that an agent is made of, without an agent. */
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Group } from './context.ts';
import { now, quantile, repeat } from './measure.ts';
import { DELTA_LENGTH } from './model-script.ts';
import { environmentOf, scratchDirectory, startNode } from './processes.ts';
import type { Row } from './report.ts';
import { openWebSocket } from './wires.ts';
import { startWebSocketFloor } from './ws-floor.ts';

const DELTAS = 2_000;
const MESSAGES = 50_000;

export const floors: Group = async ({ model }) => ({
  title: 'The machine',
  floor: 'floor',
  rows: [
    { name: 'node -e 0, start to exit', unit: 'ms', floor: await nodeStart() },
    ...(await webSocket()),
    ...commits(),
    { name: 'the model alone', unit: 'deltas/s', floor: await modelAlone(model.baseUrl) },
  ],
});

async function nodeStart(): Promise<number> {
  const env = environmentOf(scratchDirectory('home'));
  const times = await repeat(15, async () => {
    const began = now();
    await once(startNode(['-e', '0'], env, true).child, 'exit');
    return now() - began;
  });
  return quantile(times);
}

async function webSocket(): Promise<Row[]> {
  const floor = await startWebSocketFloor();
  let received = 0;
  let expected = 1;
  let arrived = Promise.withResolvers<void>();
  const wire = await openWebSocket(floor, () => {
    received += 1;
    if (received === expected) arrived.resolve();
  });
  const roundTrip = async (order: string, messages: number) => {
    received = 0;
    expected = messages;
    arrived = Promise.withResolvers<void>();
    const began = now();
    wire.send(order);
    await arrived.promise;
    return now() - began;
  };
  const oneWay = (order: string) => repeat(8, () => roundTrip(`${order} ${MESSAGES}`, MESSAGES));
  const echoes = await repeat(3_000, () => roundTrip('echo', 1));
  const [single, corked] = [await oneWay('send'), await oneWay('cork')];
  await floor.stop();
  return [
    { name: 'ws echo, round trip', unit: 'ms', floor: quantile(echoes.slice(500)) },
    { name: 'ws to one client', unit: 'messages/s', floor: (MESSAGES / quantile(single)) * 1_000 },
    { name: 'ws to one client, corked', unit: 'messages/s', floor: (MESSAGES / quantile(corked)) * 1_000 },
  ];
}

function commits(): Row[] {
  const db = new Database(join(scratchDirectory('sqlite'), 'floor.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE events (session TEXT, seq INT, json TEXT, PRIMARY KEY (session, seq)) WITHOUT ROWID');
  const insert = db.prepare('INSERT INTO events VALUES (?, ?, ?)');
  const json = 'x'.repeat(400);
  const times: number[] = [];
  for (let seq = 0; seq < 4_000; seq++) {
    const began = now();
    insert.run('session', seq, json);
    times.push(now() - began);
  }
  db.close();
  const measured = times.slice(500);
  const mean = measured.reduce((sum, time) => sum + time, 0) / measured.length;
  return [
    { name: 'SQLite FULL commit of 400 B', unit: 'ms', floor: quantile(measured) },
    { name: 'SQLite FULL commits', unit: 'commits/s', floor: 1_000 / mean },
  ];
}

/** How fast its answers can be fetched, so that nobody mistakes the model for the limit. */
async function modelAlone(baseUrl: string): Promise<number> {
  const body = JSON.stringify({ input: [{ role: 'user', content: `deltas ${DELTAS}` }] });
  const agent = new Agent({ keepAlive: true });
  const times = await repeat(40, async () => {
    const began = now();
    const sent = request(`${baseUrl}/responses`, { method: 'POST', agent }).end(body);
    const [response] = await once(sent, 'response');
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    await once(response, 'end');
    if (bytes < DELTAS * DELTA_LENGTH) throw new Error('the model said too little');
    return now() - began;
  });
  agent.destroy();
  return (DELTAS / quantile(times.slice(5))) * 1_000;
}
