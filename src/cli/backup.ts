/** `pixir backup FILE`: a consistent copy of the database, also while a server runs. It never overwrites a file. */
import { openReadOnly } from '../store/sqlite-reader.ts';
import { type Command, EXIT, readArgs, UsageError } from './command.ts';
import { databaseOptions } from './compose.ts';
import { loadConfig } from './config.ts';

export const backup: Command = {
  async run(args, io) {
    const { values, positionals } = readArgs(args, {
      allowPositionals: true,
      options: { 'data-dir': { type: 'string' } },
    });
    const [file, ...rest] = positionals;
    if (file === undefined || rest.length > 0) throw new UsageError('backup needs one file name');
    const config = loadConfig({ command: 'backup', flags: { dataDir: values['data-dir'] } }, io.env);
    const reader = openReadOnly(databaseOptions(config));
    try {
      await reader.backupTo(file);
      return EXIT.done;
    } finally {
      await reader.close();
    }
  },
};
