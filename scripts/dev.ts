/** For development: the server starts again, and the UI is built again, whenever one of their files changes. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build } from 'vite';

const ROOT = join(import.meta.dirname, '..');

await build({ root: join(ROOT, 'web'), logLevel: 'warn', build: { watch: {} } });
const server = spawn(process.execPath, ['--watch', join(ROOT, 'bin', 'pixir'), 'serve', ...process.argv.slice(2)], {
  stdio: 'inherit',
});
server.on('exit', (code) => process.exit(code ?? 1));
