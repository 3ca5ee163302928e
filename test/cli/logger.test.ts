import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogLevel } from '../../src/cli/config.ts';
import { createLogger } from '../../src/cli/logger.ts';
import { runModule } from './support.ts';

function logTo(level: LogLevel, stream: { isTTY?: boolean; writableLength?: number } = {}) {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  return { lines, logger: createLogger(level, { writableLength: 0, ...stream, write }) };
}

test('[STDERR1] each line is one JSON object with time, level and message, from the configured level up', () => {
  const { lines, logger } = logTo('warn');
  logger.debug({ n: 1 }, 'no');
  logger.info({ n: 2 }, 'no');
  logger.warn({ n: 3 }, 'two\nlines');
  logger.error({ err: new TypeError('broken') }, 'fault');
  assert.equal(lines.length, 2);
  const [warning, error] = lines.map((line) => JSON.parse(line));
  assert.deepEqual([warning.level, warning.n, warning.msg], [40, 3, 'two\nlines']);
  assert.ok(Date.parse(warning.time) > 0);
  assert.deepEqual([error.level, error.err.type, error.err.message], [50, 'TypeError', 'broken']);
  assert.ok(lines.every((line) => line.indexOf('\n') === line.length - 1));
});

test('[STDERR1] silent is silent', () => {
  const { lines, logger } = logTo('silent');
  logger.error({}, 'no');
  assert.deepEqual(lines, []);
});

test('[STDERR2] credentials are never written, wherever they sit', () => {
  for (const isTTY of [false, true]) {
    const { lines, logger } = logTo('info', { isTTY });
    const secrets = {
      authorization: 'canary',
      cookie: 'canary',
      'set-cookie': ['canary'],
      token: 'canary',
      apiKey: 'canary',
    };
    logger.info(secrets, 'top');
    logger.info({ headers: secrets }, 'one down');
    logger.info({ req: { headers: secrets } }, 'two down');
    logger.error({ err: Object.assign(new Error('x'), { config: { headers: secrets } }) }, 'three down');
    assert.ok(!lines.join('').includes('canary'), lines.join(''));
    assert.ok(lines.join('').includes('[secret]'));
  }
});

test('[STDERR3] a person at a terminal gets readable lines', () => {
  const { lines, logger } = logTo('info', { isTTY: true });
  logger.info({ port: 1 }, 'hello');
  assert.match(lines.join(''), /INFO.*hello/);
  assert.throws(() => JSON.parse(lines.join('')));
});

test('[STDERR4] when stderr is not read, lines are dropped instead of kept', () => {
  const { lines, logger } = logTo('info', { writableLength: 8 * 1024 * 1024 });
  logger.info({}, 'dropped');
  assert.deepEqual(lines, []);
});

test('[STDERR5] nothing is loaded before the first line, and that line is out when the process exits', async () => {
  const { code, stdout, stderr } = await runModule(`
    import { createRequire } from 'node:module';
    import { createLogger } from 'src/cli/logger.ts';
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes('/pino/')).length;
    const logger = createLogger('info');
    logger.debug({}, 'not written');
    console.log(loaded() === 0);
    logger.info({}, 'written');
    console.log(loaded() > 0);
    process.exit();`);
  assert.deepEqual([code, stdout], [0, 'true\ntrue\n']);
  assert.equal(JSON.parse(stderr).msg, 'written');
});
