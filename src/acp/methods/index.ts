/** The method table: one line per method. */
import type { Method } from '../method.ts';
import { authenticate } from './authenticate.ts';
import { initialize } from './initialize.ts';
import { logout } from './logout.ts';
import { directories } from './pixir-directories.ts';
import { attach } from './pixir-session-attach.ts';
import { detach } from './pixir-session-detach.ts';
import { files } from './pixir-session-files.ts';
import { history } from './pixir-session-history.ts';
import { info } from './pixir-session-info.ts';
import { log } from './pixir-session-log.ts';
import { permissions } from './pixir-session-permissions.ts';
import { permissionsRevoke } from './pixir-session-permissions-revoke.ts';
import { verify } from './pixir-session-verify.ts';
import { sessionsUnwatch } from './pixir-sessions-unwatch.ts';
import { sessionsWatch } from './pixir-sessions-watch.ts';
import { sessionCancel } from './session-cancel.ts';
import { sessionClose } from './session-close.ts';
import { sessionDelete } from './session-delete.ts';
import { sessionFork } from './session-fork.ts';
import { sessionList } from './session-list.ts';
import { sessionLoad } from './session-load.ts';
import { sessionNew } from './session-new.ts';
import { sessionPrompt } from './session-prompt.ts';
import { sessionResume } from './session-resume.ts';
import { sessionSetConfigOption } from './session-set-config-option.ts';
import { sessionSetMode } from './session-set-mode.ts';
import { sessionSetModel } from './session-set-model.ts';
import { sessionSetTitle } from './session-set-title.ts';

const TABLE = [
  initialize,
  authenticate,
  logout,
  sessionNew,
  sessionLoad,
  sessionResume,
  sessionList,
  sessionClose,
  sessionDelete,
  sessionFork,
  sessionSetTitle,
  sessionPrompt,
  sessionCancel,
  sessionSetMode,
  sessionSetConfigOption,
  sessionSetModel,
  attach,
  detach,
  history,
  permissions,
  permissionsRevoke,
  info,
  files,
  log,
  verify,
  directories,
  sessionsWatch,
  sessionsUnwatch,
];

export const METHODS: ReadonlyMap<string, Method> = new Map(TABLE.map((method) => [method.name, method]));
