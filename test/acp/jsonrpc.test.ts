import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decode, encodeError, encodeNotification, encodeRequest, encodeResult } from '../../src/acp/jsonrpc.ts';

const request = (fields: object) => decode(JSON.stringify({ jsonrpc: '2.0', ...fields }));

test('[J01] [J02] [RPC1] a request keeps its id, whatever valid id it is', () => {
  for (const id of [7, 'abc', 0, '', '  ', -1, 9007199254740991, 1.5, null]) {
    const expected = { type: 'request', id, method: 'initialize', params: { a: 1 } };
    assert.deepEqual(request({ id, method: 'initialize', params: { a: 1 } }), expected);
  }
});

test('[J03] [RPC2] absent and null params are none', () => {
  assert.deepEqual(request({ id: 1, method: 'm' }), { type: 'request', id: 1, method: 'm', params: {} });
  assert.deepEqual(request({ id: 1, method: 'm', params: null }), { type: 'request', id: 1, method: 'm', params: {} });
});

test('[J04] a method without an id is a notification', () => {
  assert.deepEqual(request({ method: 'm' }), { type: 'notification', method: 'm', params: {} });
});

test('[J06] what is not JSON is a parse error', () => {
  const expected = { type: 'invalid', error: { code: -32700, message: 'Parse error' } };
  for (const text of ['{not json', '', '\u0000', '{"a":1}{"b":2}']) assert.deepEqual(decode(text), expected);
});

test('[J07] [J08] [RPC3] what is not a 2.0 object is an invalid request, batches included', () => {
  const invalid = { type: 'invalid', error: { code: -32600, message: 'Invalid Request' } };
  const texts = ['42', '"x"', 'null', '[]', '[{"jsonrpc":"2.0","id":1,"method":"m"}]', '{}', '{"foo":"bar"}'];
  for (const text of texts) assert.deepEqual(decode(text), invalid, text);
  assert.deepEqual(decode('{"jsonrpc":"1.0","id":1,"method":"m"}'), invalid);
  for (const id of [{}, true, []]) assert.deepEqual(request({ id, method: 'm' }), invalid);
  assert.deepEqual(request({ id: 1, method: 5 }), invalid);
  assert.deepEqual(request({ id: 1 }), invalid);
});

test('[J11] [J12] [J13] responses: an error wins over a result, one without an id is ignored', () => {
  assert.deepEqual(request({ id: -1, result: { ok: 1 } }), { type: 'response', id: -1, result: { ok: 1 } });
  const error = { code: 1, message: 'no' };
  assert.deepEqual(request({ id: -1, error }), { type: 'error_response', id: -1, error });
  assert.deepEqual(request({ id: -1, error, result: {} }), { type: 'error_response', id: -1, error });
  assert.deepEqual(request({ result: {} }), { type: 'ignored' });
  assert.deepEqual(request({ id: null, result: {} }), { type: 'ignored' });
});

test('[J14] [J15] [J16] [J17] [J18] the encoders make one line of the right shape', () => {
  const lines = {
    result: encodeResult(1, { a: 1 }),
    empty: encodeResult('x', undefined),
    error: encodeError(null, { code: -32700, message: 'Parse error' }),
    withData: encodeError(1, { code: -32602, message: 'no', data: { field: 'cwd' } }),
    notification: encodeNotification('m', { a: '\n' }),
    request: encodeRequest(-1, 'm', {}),
  };
  for (const line of Object.values(lines)) assert.ok(!line.includes('\n'));
  const parsed = Object.fromEntries(Object.entries(lines).map(([name, line]) => [name, JSON.parse(line)]));
  assert.deepEqual(parsed, {
    result: { jsonrpc: '2.0', id: 1, result: { a: 1 } },
    empty: { jsonrpc: '2.0', id: 'x', result: {} },
    error: { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } },
    withData: { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no', data: { field: 'cwd' } } },
    notification: { jsonrpc: '2.0', method: 'm', params: { a: '\n' } },
    request: { jsonrpc: '2.0', id: -1, method: 'm', params: {} },
  });
});

test('[RPC4] decoding never throws, and what was encoded decodes to itself', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void decode(text)));
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string(), fc.json()), (method, params) => {
      // Own properties only, as JSON has them.
      const expected = { type: 'notification', method, params: JSON.parse(JSON.stringify(params)) };
      assert.deepEqual(decode(encodeNotification(method, params)), expected);
    }),
  );
});
