/** Ending a Turn before its time. */
import { codeOf } from '../client.ts';
import { expect, get, type Requirement, restingOn, show, skip } from '../requirement.ts';
import {
  askingTurn,
  busyTurn,
  cancel as cancelTurn,
  expectEnd,
  expectError,
  expectSilence,
  hasEnded,
  newSession,
  say,
  startTurn,
  stopReason,
  updates,
} from '../steps.ts';
import type { World } from '../world.ts';

const CANCELLED = { outcome: { outcome: 'cancelled' } };

export const cancel: Requirement[] = restingOn(
  'PROMPT-001',
  restingOn('EXT-001', [
    {
      id: 'CANCEL-001',
      level: 'MUST',
      title: 'a cancelled prompt is answered with the stop reason cancelled',
      cases: ['C073'],
      async run(world) {
        const client = await world.agent();
        const { sessionId } = await newSession(world, client);
        const turn = await busyTurn(world, client, sessionId);
        client.notify('session/cancel', { sessionId });
        const answer = await turn.answer;
        expect(
          stopReason(answer) === 'cancelled',
          `it was cancelled and answered with ${show(answer.error ?? answer.result)}`,
        );
      },
    },
    ...restingOn('CANCEL-001', [
      {
        id: 'CANCEL-002',
        level: 'MUST',
        title: 'no update of a cancelled Turn comes after its answer',
        cases: ['C073'],
        async run(world) {
          const client = await world.agent();
          const { sessionId } = await newSession(world, client);
          const turn = await busyTurn(world, client, sessionId);
          await cancelTurn(client, turn);
          await expectSilence(client, sessionId, (await turn.answer).at);
        },
      },
      {
        id: 'C062',
        level: 'MAY',
        title: 'a prompt while a Turn runs leaves that Turn alone',
        async run(world) {
          const client = await world.agent();
          const { sessionId } = await newSession(world, client);
          const turn = await busyTurn(world, client, sessionId);
          const second = say(client, sessionId, world.prompts.text);
          await client.fence();
          const reason = await cancelTurn(client, turn);
          expect(reason === 'cancelled', `the first Turn was cancelled and ended with ${show(reason)}`);
          const { answer } = await second;
          expect(
            get((await answer).result, 'stopReason') || codeOf(await answer),
            'the second prompt has no proper answer',
          );
        },
      },
      {
        id: 'C074',
        level: 'MUST',
        title: 'cancelled while a permission waits: what it was for is not done',
        async run(world) {
          const { client, turn, toolCallId } = await cancelledWhileAsking(world, true);
          const done = updates(client, turn.sessionId, turn.start).some(
            (update) => update.toolCallId === toolCallId && update.status === 'completed',
          );
          expect(!done, 'the tool call was completed');
        },
      },
      {
        id: 'C075',
        level: 'MAY',
        title: 'cancelled while a permission waits: the question is withdrawn, answered or not',
        async run(world) {
          const { client, request, turn } = await cancelledWhileAsking(world, false);
          const withdrawn = client.frames
            .slice(turn.start)
            .some(
              ({ message }) =>
                message?.method === '$/cancel_request' && get(message.params, 'requestId') === request.id,
            );
          expect(withdrawn, 'the question is not withdrawn');
        },
      },
      {
        id: 'C076',
        level: 'MAY',
        title: 'a cancel that follows its prompt at once is not lost; the prompt is answered once',
        async run(world) {
          const client = await world.agent();
          const { sessionId } = await newSession(world, client);
          const turn = startTurn(client, sessionId, world.prompts.busy);
          const reason = await cancelTurn(client, turn);
          expect(reason === 'cancelled', `it ended with ${show(reason)}`);
          await client.fence();
          const answers = client.frames.slice(turn.start).filter((frame) => frame.answers?.method === 'session/prompt');
          expect(answers.length === 1, `the prompt was answered ${answers.length} times`);
        },
      },
      {
        id: 'C077',
        level: 'MAY',
        title: 'a cancel without a Turn changes nothing for the next one',
        async run(world) {
          const client = await world.agent();
          const { sessionId } = await newSession(world, client);
          for (let n = 0; n < 2; n++) client.notify('session/cancel', { sessionId });
          const reason = stopReason(await (await say(client, sessionId, world.prompts.text)).answer);
          expect(reason !== 'cancelled', 'the next Turn was cancelled');
        },
      },
      {
        id: 'C077b',
        level: 'SHOULD',
        title: 'a cancel with an id is a request, and -32601',
        restsOn: ['JSONRPC-004'],
        async run(world) {
          const client = await world.agent();
          const { sessionId } = await newSession(world, client);
          expectError(await client.request('session/cancel', { sessionId }), -32601, 'session/cancel as a request');
        },
      },
      {
        id: 'C078',
        level: 'MUST',
        title: 'cancelling one Session leaves another one running',
        restsOn: ['SESSION-002'],
        async run(world) {
          const client = await world.agent();
          const [one, two] = [await newSession(world, client), await newSession(world, client)];
          const [first, second] = [
            await busyTurn(world, client, one.sessionId),
            await busyTurn(world, client, two.sessionId),
          ];
          await cancelTurn(client, first);
          await client.fence();
          expect(!hasEnded(client, second), 'the other Turn ended too');
          await cancelTurn(client, second);
        },
      },
      {
        id: 'C079',
        level: 'MUST',
        title: '$/cancel_request for a prompt ends it as cancelled, or with -32800, or does nothing',
        async run(world) {
          const client = await world.agent();
          const { sessionId } = await newSession(world, client);
          const turn = await busyTurn(world, client, sessionId);
          client.notify('$/cancel_request', { requestId: 'conformance-nobody' });
          client.notify('$/cancel_request', { requestId: turn.id });
          await client.fence();
          client.notify('session/cancel', { sessionId });
          const answer = await turn.answer;
          const isEnd = stopReason(answer) === 'cancelled' || codeOf(answer) === -32800;
          expect(isEnd, `the prompt was answered with ${show(answer.error ?? answer.result)}`);
        },
      },
      {
        id: 'C080',
        level: 'MAY',
        title: 'after a cancel the next prompt works',
        async run(world) {
          const client = await world.agent();
          const { sessionId } = await newSession(world, client);
          await cancelTurn(client, await busyTurn(world, client, sessionId));
          const next = await say(client, sessionId, world.prompts.text);
          await expectEnd(next);
          expect(stopReason(await next.answer) !== 'cancelled', 'the next Turn was cancelled as well');
        },
      },
    ]),
  ]),
);

async function cancelledWhileAsking(world: World, answers: boolean) {
  const client = await world.agent();
  const { sessionId } = await newSession(world, client);
  const { turn, request } = await askingTurn(world, client, sessionId);
  client.notify('session/cancel', { sessionId });
  if (answers) client.send({ jsonrpc: '2.0', id: request.id, result: CANCELLED });
  const reason = stopReason(await turn.answer);
  if (!answers && reason === undefined) skip('the Turn waits for the answer');
  expect(reason === 'cancelled', `the Turn ended with ${show(reason)}`);
  return { client, turn, request, toolCallId: get(request.params, 'toolCall.toolCallId') };
}
