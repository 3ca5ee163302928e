/** Every tool of the table keeps the contract of tools. */
import { testTools } from '../contracts/tool.ts';
import { openWorkspace, tools } from './support.ts';

const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`many/${'x'.repeat(200)}${i}.txt`, '']));
const skill = { '.agents/skills/review/SKILL.md': '---\nname: review\ndescription: How we review.\n---\nLook.\n' };
const long = 'x needle\n'.repeat(5_000);
const huge = { ...many, ...skill, 'big.txt': long, '.agents/skills/review/big.txt': long };

testTools(
  tools,
  {
    apply_patch: {
      args: { patch: '*** Begin Patch\n*** Update File: a.txt\n-one\n+1\n*** Add File: b.txt\n+new\n*** End Patch' },
      outside: {
        patch: '*** Begin Patch\n*** Update File: a.txt\n-one\n+1\n*** Add File: ../b.txt\n+x\n*** End Patch',
      },
    },
    ask_user: { args: { question: 'Which one?' } },
    bash: { args: { command: 'echo hi > out.txt' }, huge: { command: 'cat big.txt' } },
    edit: {
      args: { path: 'a.txt', old_string: 'one', new_string: '1' },
      outside: { path: '../a.txt', old_string: 'one', new_string: '1' },
    },
    glob: { args: { pattern: '*.txt' }, outside: { pattern: '*', path: '/' }, huge: { pattern: 'many/**' } },
    grep: {
      args: { pattern: 'one' },
      outside: { pattern: 'root', path: '/etc/passwd' },
      huge: { pattern: 'needle', limit: 1000 },
    },
    list: { args: { path: '.' }, outside: { path: '..' }, huge: { path: 'many' } },
    read: { args: { path: 'a.txt' }, outside: { path: '../../etc/passwd' }, huge: { path: 'big.txt' } },
    skill: {
      args: { name: 'review' },
      outside: { name: 'review', path: '../../../a.txt' },
      huge: { name: 'review', path: 'big.txt' },
    },
    update_plan: { args: { entries: [{ content: 'Look', priority: 'high', status: 'in_progress' }] } },
    write: { args: { path: 'new/c.txt', content: 'hello' }, outside: { path: '/tmp/x', content: 'hello' } },
  },
  (size) => openWorkspace(size === 'huge' ? huge : { ...skill, 'a.txt': 'one\ntwo\n' }),
);
