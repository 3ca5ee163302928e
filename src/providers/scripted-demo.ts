/**
 * What the scripted provider says when nobody wrote it a script: a short true story about the sample project, and a few
 * prompts for checks. Each answer follows from the history alone; it never pretends to be a model.
 */
import type { Json, PlanEntry } from '../core/event.ts';
import { COMPACTION_PROMPT } from '../core/prompt.ts';
import type { HistoryItem, ProviderEvent, ProviderRequest } from '../core/provider.ts';
import { BUG, FAILED, MARK, MENDED, MODULE, PASSED, TEST } from './playground.ts';
import { call, deltas, finish, type ScriptStep, say, think } from './script.ts';

/** The current Turn, as the story needs it. */
interface Scene {
  prompt: string;
  /** How many images of the prompt were handed over. */
  images: number;
  /** Nothing was answered before in this Session. */
  first: boolean;
  /** What the calls of one tool have given so far. */
  outputs(name: string): string[];
  planIsComplete: boolean;
  offers(name: string): boolean;
  /** A call, where the Session has the tool; calls of one answer follow one another. */
  use(name: string, args: Json): ProviderEvent[];
}

const HOW_TO_SET_A_MODEL =
  'To talk to a real model, set `OPENAI_API_KEY` (or `OPENAI_BASE_URL` for another server that speaks its API) and start ' +
  'Pixir again; `PIXIR_PROVIDER` chooses between `openai`, `openai-chat` and `scripted`.';

const INTRODUCTION =
  '**This is a scripted demonstration: there is no model behind it.** The words are written in advance; the tools, and ' +
  `what they do to your files, are real. ${HOW_TO_SET_A_MODEL}\n\n`;

const STEPS = ['Look around', 'Read the module and run its test', 'Mend the bug', 'Run the test again'];

export function demonstrate(request: ProviderRequest): ScriptStep[] {
  if (request.instructions === COMPACTION_PROMPT) return [...say(summarise(request)), finish()];
  const scene = readScene(request);
  return check(scene) ?? [...story(scene), finish()];
}

/** @param request ends with the request for the summary. */
function summarise({ history }: ProviderRequest): string {
  const asked = history.slice(0, -1).flatMap((item) => (item.type === 'user' ? [firstLine(textOf(item))] : []));
  const used = new Set(history.flatMap((item) => (item.type === 'tool_call' ? [item.name] : [])));
  const prompts = asked.slice(-5).map((line) => `\n- ${line}`);
  return `There is no model here that could sum anything up.\n\nPrompts:${prompts.join('')}\n\nTools: ${[...used].join(', ')}`;
}

function textOf({ content }: Extract<HistoryItem, { type: 'user' }>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** Prompts that do one exact thing, for trying out a client. */
function check(scene: Scene): ScriptStep[] | null {
  const [, verb = '', rest = ''] = /^(\w+)(?: (.*))?$/s.exec(scene.prompt) ?? [];
  if (verb === 'hang' && !rest) return [...deltas('message', 'Waiting until you stop me'), { type: 'hang' }];
  if (scene.images > 0) return [...say(`I was shown ${imagesOf(scene)}; there is no model here that sees.`), finish()];
  if (verb === 'echo' && rest) return [...say(rest), finish()];
  if (verb === 'bash' && rest) {
    return useOnce(scene, 'bash', { command: rest }, (output) => `The command gave:\n\n${fenced(output)}`);
  }
  if (verb === 'read' && rest) {
    return useOnce(scene, 'read', { path: rest }, (output) => `The file holds:\n\n${fenced(output)}`);
  }
  if (verb === 'ask' && rest) {
    return useOnce(scene, 'ask_user', { question: rest }, (output) => `The answer: ${firstLine(output)}`);
  }
  const [, path, content] = /^(\S+) (.*)$/s.exec(rest) ?? [];
  if (verb !== 'write' || path === undefined || content === undefined) return null;
  return useOnce(scene, 'write', { path, content }, (output) => `Done: ${firstLine(output)}`);
}

function imagesOf({ images }: Scene): string {
  return images === 1 ? '1 image' : `${images} images`;
}

function useOnce(scene: Scene, tool: string, args: Json, report: (output: string) => string): ScriptStep[] {
  const [output] = scene.outputs(tool);
  if (output !== undefined) return [...say(report(output)), finish()];
  const use = scene.use(tool, args);
  return [...(use.length > 0 ? use : say(`This Session offers no tool \`${tool}\`.`)), finish()];
}

function story(scene: Scene): ProviderEvent[] {
  const [listing] = scene.outputs('list');
  if (listing === undefined) return lookAround(scene);
  if (!listing.includes(MODULE) || !listing.includes(TEST)) return nothingToMend(listing);
  const [code] = scene.outputs('read');
  if (code === undefined) return readModule(scene);
  if (!code.includes(MARK)) return say(`This \`${MODULE}\` is not mine, so I leave it alone. ${HOW_TO_SET_A_MODEL}`);
  return testAndMend(scene);
}

function testAndMend(scene: Scene): ProviderEvent[] {
  const [firstRun, secondRun] = scene.outputs('bash');
  const [edit] = scene.outputs('edit');
  if (firstRun === undefined) return runTest(scene, 'Now its test:');
  if (firstRun.includes(FAILED) && edit === undefined) return mend(scene);
  if (edit !== undefined && secondRun === undefined) return [...plan(scene, 3), ...runTest(scene, 'Once more:')];
  const lastRun = secondRun ?? firstRun;
  if (lastRun.includes(FAILED)) {
    return say(`The test still fails, so my edit did not get through. It answered: ${firstLine(edit ?? '')}`);
  }
  if (!lastRun.includes(PASSED)) {
    return say(
      `The test could not run. The shell answered: ${firstLine(lastRun)}\n\nPerhaps the Session is in plan mode, or the ` +
        'command was not allowed.',
    );
  }
  const completed = scene.planIsComplete ? [] : plan(scene, STEPS.length);
  return completed.length > 0 ? completed : summary(edit !== undefined);
}

function lookAround(scene: Scene): ProviderEvent[] {
  const opening = scene.first ? INTRODUCTION : 'Again without a model, word for word as written. ';
  if (!['list', 'read', 'bash', 'edit'].every(scene.offers)) {
    return say(`${opening}This Session offers me too few tools to show more.`);
  }
  return [
    ...think('Before I promise anything I should see what is in this directory.'),
    ...say(`${opening}Let me look around first.`),
    ...scene.use('list', { path: '.' }),
  ];
}

function nothingToMend(listing: string): ProviderEvent[] {
  const lines = listing.trimEnd().split('\n');
  const more = lines.length > 20 ? `\n… and ${lines.length - 20} more` : '';
  return say(
    `This is what I see here:\n\n${fenced(lines.slice(0, 20).join('\n') + more)}\n\nIt is not the sample project of this ` +
      'demonstration, and without a model I can do nothing useful with your files, so I leave them alone. ' +
      HOW_TO_SET_A_MODEL,
  );
}

function readModule(scene: Scene): ProviderEvent[] {
  return [
    ...say(`A module, \`${MODULE}\`, and a test for it. I make a plan and read the module.`),
    ...plan(scene, 1),
    ...scene.use('read', { path: MODULE }),
  ];
}

function runTest(scene: Scene, opening: string): ProviderEvent[] {
  return [...say(opening), ...scene.use('bash', { command: `node ${TEST}` })];
}

function mend(scene: Scene): ProviderEvent[] {
  return [
    ...think('The sum of 1, 2, 3 lacks exactly the first number. Where does the loop start?'),
    ...say(
      `The test fails, and rightly: the loop starts at the *second* number.\n\n\`\`\`diff\n- for (${BUG} i < numbers.length; ` +
        `i += 1) {\n+ for (${MENDED} i < numbers.length; i += 1) {\n\`\`\`\n\nI mend that line.`,
    ),
    ...plan(scene, 2),
    ...scene.use('edit', { path: MODULE, old_string: BUG, new_string: MENDED }),
  ];
}

function summary(mended: boolean): ProviderEvent[] {
  const found = mended ? `\`${MODULE}\` skipped the first number; one character mended it` : 'nothing to mend';
  return say(
    `## Done\n\n- **Found:** ${found}.\n- **Checked:** \`node ${TEST}\` passes.\n\nWhat you can try now:\n\n` +
      '1. Send another prompt and reload the page in the middle of the answer: it goes on where it was.\n' +
      '2. Set the permission mode to `ask` and send `write note.txt hello`: I will have to ask you.\n' +
      `3. Send \`bash ls\`, \`echo some text\`, or \`hang\` and then stop me.\n\n${HOW_TO_SET_A_MODEL}`,
  );
}

/** The plan with its first steps completed. */
function plan(scene: Scene, completed: number): ProviderEvent[] {
  const entries: PlanEntry[] = STEPS.map((content, step) => {
    const status = step < completed ? 'completed' : step === completed ? 'in_progress' : 'pending';
    return { content, priority: 'medium', status };
  });
  return scene.use('update_plan', { entries });
}

function readScene({ history, blobs, tools }: ProviderRequest): Scene {
  const start = history.findLastIndex((item) => item.type === 'user');
  const asked = history[start];
  const prompt = asked?.type === 'user' ? asked : { type: 'user' as const, content: [] };
  const turn = history.slice(start + 1);
  const calls = turn.filter((item) => item.type === 'tool_call');
  const results = new Map(
    turn.flatMap((item) => (item.type === 'tool_result' ? [[item.callId, item.output] as const] : [])),
  );
  const offers = (name: string) => tools.some((tool) => tool.name === name);
  let used = 0;
  return {
    prompt: textOf(prompt).trim(),
    images: prompt.content.filter((block) => block.type === 'image' && blobs.has(block.hash)).length,
    first: !history.slice(0, Math.max(start, 0)).some((item) => item.type === 'assistant'),
    outputs: (name) => calls.flatMap((made) => (made.name === name ? (results.get(made.callId) ?? []) : [])),
    planIsComplete: calls.some(({ name, args }) => name === 'update_plan' && isComplete(args)),
    offers,
    use(name, args) {
      if (!offers(name)) return [];
      used += 1;
      // The history only grows, but for a compaction: what it makes come twice, the Executor renames.
      return [call(`scripted_${history.length}_${used}`, name, args)];
    },
  };
}

function isComplete(plan: Json): boolean {
  return !JSON.stringify(plan).includes('"in_progress"');
}

/** A code block that the text inside cannot close. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.trimEnd()}\n${fence}`;
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}
