/** Frames as a client sends them, spoilt at random, and what a correct peer owes for each of them. */

/** What goes in where something else belongs. */
const JUNK = [
  ...['null', 'true', '-1', '1e400', '9007199254740993', '1.5', '""', '" "', '"\\ud800"', '[]', '{}', '[[[[]]]]'],
  ...['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}', '"__proto__"', '"constructor"'],
  ...['"../../etc/passwd"', '"\\u0000"', '"\\n{\\"level\\":60}"', '"$(id)"', '{"toString":1,"valueOf":null}', '1'],
];
const TOKENS = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\\',
  '\u0000',
  '\ufeff',
  '\ud800',
  '-',
  '0',
  'e',
  'null',
  '\n',
  '/**/',
];

/** One frame of each kind, as recorded. */
export function recordedFrames(sessionId: string, cwd: string): string[] {
  const prompt = [{ type: 'text', text: 'go' }];
  const requests: [string, Record<string, unknown>][] = [
    ['initialize', { protocolVersion: 1, clientCapabilities: { _meta: { pixir: { cursor: 1 } } } }],
    ['authenticate', { methodId: 'none' }],
    ['logout', {}],
    ['session/new', { cwd, mcpServers: [] }],
    ['session/load', { sessionId, cwd, mcpServers: [] }],
    ['session/resume', { sessionId, cwd }],
    ['session/prompt', { sessionId, prompt, _meta: { pixir: { promptKey: 'k1' } } }],
    ['session/set_mode', { sessionId, modeId: 'plan' }],
    ['session/set_config_option', { sessionId, configId: 'mode', value: 'build' }],
    ['session/set_model', { sessionId, modelId: 'm2' }],
    ['_pixir/session/attach', { sessionId, cursor: 'p1.x.1.y', role: 'observer' }],
    ['_pixir/session/history', { sessionId, limit: 5 }],
    ['_pixir/session/detach', { sessionId }],
  ];
  const others = [
    { method: 'session/cancel', params: { sessionId } },
    { method: '$/cancel_request', params: { requestId: 3 } },
    { id: -1, result: { outcome: { outcome: 'selected', optionId: 'allow' } } },
    { id: -2, error: { code: -32603, message: 'no' } },
  ];
  const numbered = requests.map(([method, params], n) => ({ id: n, method, params }));
  return [...numbered, ...others].map((frame) => JSON.stringify({ jsonrpc: '2.0', ...frame }));
}

export function spoil(frame: string, random: () => number): string {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const at = Math.floor(random() * frame.length);
  const end = at + Math.floor(random() * 12);
  /** A member or an element with something else for its value. */
  const replaced = () => {
    const values = [...frame.matchAll(/(?<=[:[,])(?:"[^"]*"|-?\d+|\{\}|\[\])/g)];
    const { index = 0, 0: value = '' } = pick(values) ?? {};
    return frame.slice(0, index) + pick(JUNK) + frame.slice(index + value.length);
  };
  const kinds = [
    () => frame.slice(0, at) + frame.slice(end),
    () => frame.slice(0, end) + frame.slice(at),
    () => frame.slice(0, at) + pick(TOKENS) + frame.slice(at),
    () => frame.slice(0, at),
    () => `[${frame}]`,
    () => frame.replace('{', `{"__proto__":${pick(JUNK)},`),
    () =>
      frame.replace(
        /\{(?="sessionId|"cwd)/,
        `{${pick(['"__proto__"', '"constructor"', '"sessionId"'])}:${pick(JUNK)},`,
      ),
    () => frame.replace(/("id":)-?\d+/, (_, key) => key + pick(JUNK)),
    () => frame.replace(/("method":)"[^"]*"/, (_, key) => key + pick(JUNK)),
    replaced,
    replaced,
    replaced,
  ];
  return pick(kinds)();
}

/** The id of the one answer that the frame has to get, as JSON; undefined for none. Asks nothing of the product. */
export function owed(text: string): string | undefined {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return 'null';
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return 'null';
  const { jsonrpc, id, method, result, error } = message as Record<string, unknown>;
  if (jsonrpc !== '2.0' || !isSound(id)) return 'null';
  if (method === undefined) return result === undefined && error === undefined ? 'null' : undefined;
  if (typeof method !== 'string') return 'null';
  // A cancel with a blank id is read as the notification that it was meant to be.
  const blank = typeof id === 'string' && id.trim() === '' && method === 'session/cancel';
  return id === undefined || blank ? undefined : JSON.stringify(id);
}

function isSound(id: unknown): boolean {
  if (id === undefined || id === null) return true;
  if (typeof id === 'string') return id.length <= 256;
  return typeof id === 'number' && id > -(2 ** 53) && id < 2 ** 53;
}
