/** Tests that wait for processes most of the time run side by side, or they would be most of the whole run. */
import { describe } from 'node:test';
import { bridging } from './processes/bridge.ts';
import { commands } from './processes/commands.ts';
import { killing } from './processes/kill.ts';
import { endlessOutput } from './processes/output.ts';
import { packaging } from './processes/package.ts';
import { sandboxing } from './processes/sandbox.ts';

describe('real processes', { concurrency: 4 }, () => {
  killing();
  packaging();
  endlessOutput();
  bridging();
  sandboxing();
  commands();
});
