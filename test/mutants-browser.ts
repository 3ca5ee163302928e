/** Defects of what a browser is given: the files of the UI, the list that it watches, the Log it reads, skills. Part of test/mutants.ts. */
import type { Mutant } from './mutants.ts';

const UI = { file: 'src/server/ui.ts', tests: 'test/server/ui.test.ts' };
const SKILL_FILES = { file: 'src/tools/skill-files.ts', tests: 'test/tools/skill-files.test.ts' };
const TIMELINE = 'test/acp/timeline.test.ts';

export const BROWSER_MUTANTS: readonly Mutant[] = [
  {
    ...UI,
    name: 'files beside the build are served',
    find: 'if (!names.has(name) || type === undefined) return refuse(reply, 404);',
    replace: 'if (type === undefined) return refuse(reply, 404);',
    rule: 'UI2',
  },
  {
    ...UI,
    name: 'the page may run what stands in it',
    find: '"script-src \'self\'",',
    replace: "\"script-src 'self' 'unsafe-inline'\",",
    rule: 'UI2',
  },
  {
    ...UI,
    name: 'the page may be framed',
    find: '"frame-ancestors \'none\'",',
    replace: '',
    rule: 'UI2',
  },
  {
    ...UI,
    name: 'a browser keeps for ever what is another file tomorrow',
    find: 'if (FOR_EVER.test(name)) reply.header',
    replace: 'reply.header',
    rule: 'UI1',
  },
  {
    ...UI,
    name: 'an encoding is sent that was not asked for',
    find: 'accepted.includes(coding) && names.has',
    replace: 'names.has',
    rule: 'UI1',
  },
  {
    ...SKILL_FILES,
    name: 'a skill of any size is read',
    find: 'if (stats.size > MAX_BYTES) throw',
    replace: 'if (stats.size < 0) throw',
    rule: 'SKILL2',
  },
  {
    ...SKILL_FILES,
    name: 'a symlink is taken for the directory of a skill',
    find: 'if (entry.isDirectory()) found.push(at);',
    replace: 'if (entry.isDirectory() || entry.isSymbolicLink()) found.push(at);',
    rule: 'SKILL2',
  },
  {
    name: 'a skill can end the element that holds it',
    file: 'src/core/skills.ts',
    find: ".replace(/<\\/(?=skill)/gi, '<\\\\/')",
    replace: '',
    rule: 'SKILL4',
    tests: 'test/core/skills.test.ts',
  },
  {
    name: 'the Log of others can be read',
    file: 'src/core/timeline.ts',
    find: "const { head } = await reachSession(runtime, principal, sessionId, 'observe');",
    replace: 'const head = (await runtime.log.session(sessionId))?.head ?? { seq: -1, epoch: "" };',
    rule: 'OWN1',
    tests: 'test/attack/owners.test.ts',
  },
  {
    name: 'whoever watches hears of the Sessions of others',
    file: 'src/core/session-list.ts',
    find: 'session ? reaches(principal, session.state) : !gone',
    replace: 'session !== undefined || !gone',
    rule: 'DIR5',
    tests: 'test/acp/list-watch.test.ts',
  },
  {
    name: 'verifying believes the last check value',
    file: 'src/store/verify.ts',
    find: "if (chainCheck(replayed.chk, event.id, stored.json) !== stored.chk) return 'the check value is wrong';",
    replace: '',
    rule: 'TL2',
    tests: TIMELINE,
  },
  {
    name: 'a folder outside what is allowed is offered',
    file: 'src/cli/workspaces.ts',
    find: 'mayEnter(place) && isAllowed(place)',
    replace: 'mayEnter(place)',
    rule: 'DIRS2',
    tests: 'test/acp/directories.test.ts',
  },
];
