/** Defects of the front door: admission here, and what is spread below. Part of test/mutants.ts. */
import type { Mutant } from './mutants.ts';
import { BINDING_MUTANTS } from './mutants-binding.ts';
import { SIGN_IN_MUTANTS } from './mutants-sign-in.ts';

const ADMISSION = { file: 'src/server/admission.ts', tests: 'test/server/admission.test.ts' };
const SIGN_IN = 'test/server/sign-in.test.ts';
const TICKETS = 'test/server/tickets.test.ts';
const HOME = 'test/server/home.test.ts';
const ROUTES = 'test/server/routes.test.ts';

export const DOOR_MUTANTS: readonly Mutant[] = [
  {
    ...ADMISSION,
    name: 'a target with a second host name is served',
    find: "if (!request.url?.startsWith('/')) return refuse(403, 'target');",
    replace: '',
    rule: 'ADM2',
  },
  {
    ...ADMISSION,
    name: 'whoever finds the way around the proxy is served',
    find: "if (!homes.isExpected(request)) return refuse(403, 'peer');",
    replace: '',
    rule: 'PROXY1',
    tests: HOME,
  },
  {
    ...ADMISSION,
    name: 'any page of the web may ask',
    find: "if (origin !== home.origin && !(isGuest && isWelcome)) return refuse(403, 'origin');",
    replace: '',
    rule: 'ADM3',
  },
  {
    ...ADMISSION,
    name: 'a listed page may ask for everything',
    find: '!(isGuest && isWelcome)',
    replace: '!isGuest',
    rule: 'ADM3',
  },
  {
    ...ADMISSION,
    name: 'a listed page may ask for a plain answer of what is shared as a WebSocket',
    find: "(route?.shared === 'upgrade' && isUpgrade(request))",
    replace: "route?.shared === 'upgrade'",
    rule: 'ADM8',
    tests: ROUTES,
  },
  {
    ...ADMISSION,
    name: 'a listed page is told that it may ask for anything',
    find: "return findRoute(method, path)?.shared === 'cors'",
    replace: "return findRoute(method, path)?.shared !== 'nothing'",
    rule: 'TICKET2',
    tests: TICKETS,
  },
  {
    ...ADMISSION,
    name: 'an unknown path needs no credential',
    find: "route?.access.kind === 'anyone')",
    replace: "route?.access.kind !== 'credential')",
    rule: 'ADM1',
  },
  {
    ...ADMISSION,
    name: 'a wrong credential is as good as none was asked for',
    find: "if (shown.kind === 'wrong') return refuse(",
    replace: "if (shown.kind === 'wrong') return isUpgrade(request) ? { outcome: 'open', cookie } : refuse(",
    rule: 'ADM4',
  },
  {
    ...ADMISSION,
    name: 'wrong credentials at the door are not counted',
    find: 'failures.count(homes.clientAddress(request)) ? 429 : 401',
    replace: '401',
    rule: 'SIGN6',
    tests: SIGN_IN,
  },
  {
    ...ADMISSION,
    name: 'behind a proxy everybody is one client',
    find: 'failures.count(homes.clientAddress(request))',
    replace: "failures.count(request.socket.remoteAddress ?? '')",
    rule: 'PROXY1',
    tests: HOME,
  },
  {
    ...ADMISSION,
    name: 'any credential reads the metrics',
    find: "if (scope && !may(shown.credential.principal, scope)) return refuse(403, 'scope');",
    replace: '',
    rule: 'ADM8',
    tests: ROUTES,
  },
  {
    ...ADMISSION,
    name: 'a form of another site may sign in',
    find: "return /^application\\/json(; ?charset=utf-8)?$/i.test(only(request, 'content-type') ?? '');",
    replace: 'return true;',
    rule: 'SIGN5',
    tests: SIGN_IN,
  },
  {
    ...ADMISSION,
    name: 'a cookie of a sub-path claims the whole host',
    find: "path === '' ? '__Host-pixir' : '__Secure-pixir'",
    replace: "'__Host-pixir'",
    rule: 'PROXY2',
    tests: HOME,
  },
  {
    ...ADMISSION,
    name: 'the cookie goes to all that the host has',
    find: "'__Secure-pixir', path:",
    replace: "'__Secure-pixir', path: '/' ||",
    rule: 'PROXY2',
    tests: HOME,
  },
  {
    ...ADMISSION,
    name: 'behind TLS the cookie may travel without it',
    find: 'secure: true };',
    replace: 'secure: false };',
    rule: 'PROXY2',
    tests: HOME,
  },
  {
    ...ADMISSION,
    name: 'two servers of one machine share a cookie',
    find: 'name: `pixir_',
    replace: "name: 'pixir' || `pixir_",
    rule: 'SIGN1',
    tests: SIGN_IN,
  },
  ...SIGN_IN_MUTANTS,
  ...BINDING_MUTANTS,
];
