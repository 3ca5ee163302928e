/** What a person can choose for a Session: modes and options. */
import { type Client, codeOf } from '../client.ts';
import { expect, get, isObject, list, type Requirement, restingOn, show, skip } from '../requirement.ts';
import { expectError, newSession, updates } from '../steps.ts';
import type { World } from '../world.ts';

const METHODS = ['session/new', 'session/load', 'session/resume'];

export const mode: Requirement[] = restingOn('SESSION-001', [
  {
    id: 'MODES-001',
    level: 'MUST',
    title: 'the current mode is one of the available ones',
    cases: ['C037'],
    needs: 'modes',
    observe(clients) {
      for (const modes of chosen(clients, 'modes')) {
        const ids = list(get(modes, 'availableModes')).map((available) => get(available, 'id'));
        const current = get(modes, 'currentModeId');
        expect(ids.includes(current), `the current mode is ${show(current)}, and there are ${ids.join(', ')}`);
      }
    },
  },
  {
    id: 'MODES-002',
    level: 'MUST',
    title: 'every mode can be set, and a change is told as currentModeId',
    needs: 'modes',
    async run(world) {
      const client = await world.agent();
      const { sessionId, modes } = await newSession(world, client);
      const start = client.frames.length;
      for (const modeId of list(get(modes, 'availableModes')).map((available) => get(available, 'id'))) {
        const { error } = await client.request('session/set_mode', { sessionId, modeId });
        expect(error === undefined, `the mode ${show(modeId)} cannot be set: ${show(error)}`);
      }
      for (const update of updates(client, sessionId, start)) {
        if (update.sessionUpdate !== 'current_mode_update') continue;
        expect(typeof update.currentModeId === 'string', `a change of the mode without currentModeId: ${show(update)}`);
      }
    },
  },
  {
    id: 'CONFIG-001',
    level: 'MUST',
    title: 'every option has a value that it offers',
    cases: ['C037'],
    needs: 'configOptions',
    observe(clients) {
      for (const option of chosen(clients, 'configOptions').flatMap(list)) {
        const { type, currentValue } = option as Record<string, unknown>;
        const isOffered =
          type === 'boolean' ? typeof currentValue === 'boolean' : valuesOf(option).includes(currentValue);
        expect(
          isOffered,
          `the option ${show(get(option, 'id'))} has the value ${show(currentValue)}, which it does not offer`,
        );
      }
    },
  },
  {
    id: 'CONFIG-002',
    level: 'MUST',
    title: 'setting an option returns all of them, with the new value',
    cases: ['C069'],
    needs: 'configOptions',
    run: setsEveryOption,
  },
  {
    id: 'CONFIG-003',
    level: 'MUST',
    title: 'no boolean option is offered to a client that cannot show one',
    cases: ['C038', 'C103'],
    needs: 'configOptions',
    observe(clients) {
      const plain = clients.filter(({ capabilities }) => !get(capabilities, 'session.configOptions.boolean'));
      const boolean = chosen(plain, 'configOptions')
        .flatMap(list)
        .find((option) => get(option, 'type') === 'boolean');
      expect(!boolean, `offered: ${show(boolean)}`);
    },
  },
  {
    id: 'C069',
    level: 'MAY',
    title: 'a mode, an option or a value that there is not is -32602',
    async run(world) {
      const client = await world.agent();
      const { sessionId, modes, configOptions } = await newSession(world, client);
      if (!modes && !configOptions) skip('it offers neither modes nor options');
      const value = 'conformance-unknown';
      if (modes)
        expectError(await client.request('session/set_mode', { sessionId, modeId: value }), -32602, 'an unknown mode');
      for (const option of [...list(configOptions).slice(0, 1), ...(configOptions ? [{ id: value }] : [])]) {
        const params = { sessionId, configId: get(option, 'id'), value };
        expectError(await client.request('session/set_config_option', params), -32602, 'an unknown option or value');
      }
    },
  },
  {
    id: 'C069b',
    level: 'MAY',
    title: 'the mode and the option `mode` change together',
    needs: 'modes',
    restsOn: ['MODES-002', 'EXT-001'],
    run: keepsModeInStep,
  },
  {
    id: 'C070',
    level: 'SHOULD',
    title: 'session/set_model, which is gone, is -32601 or works',
    restsOn: ['JSONRPC-004'],
    async run(world) {
      const client = await world.agent();
      const { sessionId } = await newSession(world, client);
      const answer = await client.request('session/set_model', { sessionId, modelId: 'conformance-unknown' });
      // Who still offers it says that this model is unknown.
      const isProper = answer.error === undefined || codeOf(answer) === -32601 || codeOf(answer) === -32602;
      expect(isProper, `session/set_model was answered with ${show(answer.error)}`);
    },
  },
]);

async function setsEveryOption(world: World): Promise<void> {
  const client = await world.agent();
  const { sessionId, configOptions } = await newSession(world, client);
  const ids = list(configOptions).map((option) => get(option, 'id'));
  for (const option of list(configOptions).filter((candidate) => get(candidate, 'type') === 'select')) {
    const [configId, current] = [get(option, 'id'), get(option, 'currentValue')];
    const value = valuesOf(option).find((other) => other !== current) ?? current;
    const { result, error } = await client.request('session/set_config_option', { sessionId, configId, value });
    expect(error === undefined, `${show(configId)} cannot be set to ${show(value)}: ${show(error)}`);
    const after = list(get(result, 'configOptions'));
    const missing = ids.find((id) => !after.some((other) => get(other, 'id') === id));
    expect(missing === undefined || after.length >= ids.length, `the option ${show(missing)} is missing in the answer`);
    const now = get(
      after.find((other) => get(other, 'id') === configId),
      'currentValue',
    );
    expect(now === value, `${show(configId)} was set to ${show(value)} and is ${show(now)}`);
  }
}

async function keepsModeInStep(world: World): Promise<void> {
  const client = await world.agent();
  const { sessionId, modes, configOptions } = await newSession(world, client);
  const option = list(configOptions).find((candidate) => get(candidate, 'category') === 'mode');
  const other = list(get(modes, 'availableModes'))
    .map((available) => get(available, 'id'))
    .find((id) => id !== get(modes, 'currentModeId'));
  if (!option || other === undefined) skip('it has no option for the mode, or only one mode');
  const start = client.frames.length;
  await client.request('session/set_mode', { sessionId, modeId: other });
  await client.fence();
  const told = updates(client, sessionId, start).findLast(
    ({ sessionUpdate }) => sessionUpdate === 'config_option_update',
  );
  const now = list(told?.configOptions).find((candidate) => get(candidate, 'id') === get(option, 'id'));
  expect(
    get(now, 'currentValue') === other,
    `the mode is ${show(other)}, the option ${show(get(now, 'currentValue'))}`,
  );
}

/** What Sessions were offered, in every answer that says so. */
function chosen(clients: readonly Client[], member: 'modes' | 'configOptions'): unknown[] {
  return clients.flatMap((client) =>
    client.said.flatMap(({ answers, message }) => {
      const value = answers && METHODS.includes(answers.method) ? get(message?.result, member) : undefined;
      return isObject(value) || Array.isArray(value) ? [value] : [];
    }),
  );
}

/** The values of an option, in groups or not. */
function valuesOf(option: unknown): unknown[] {
  return list(get(option, 'options')).flatMap((entry) =>
    isObject(entry) && 'options' in entry ? valuesOf(entry) : [get(entry, 'value')],
  );
}
