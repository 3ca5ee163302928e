/**
 * Who the person is to the server, and how they become it: launch link or token, cookie or ticket. A credential is kept
 * nowhere but, for a page of another origin, in this tab's storage: such a page gets no cookie.
 */
import { forgetAll, keptStore } from '../state/kept.ts';
import { createStore } from '../state/store.ts';
import { atServer, isElsewhere } from './home.ts';
import { forgetPrompts } from './prompt-storage.ts';
import { cut } from './wire-tap.ts';

export type Account =
  | { kind: 'in' }
  /** `why` is said to the person; `asking`: nobody knows yet. */
  | { kind: 'out'; why: Why };

type Why = Refusal | 'unanswered_link' | 'revoked' | 'signed_out' | 'never' | 'asking';
type Refusal = 'wrong_token' | 'used_link' | 'too_many' | 'unreachable';

/** What the server called the person when they signed in. */
export interface Person {
  name?: string;
  owner?: string;
  scopes?: string[];
}

const TOKEN = 'pixir.token';
const SIGNED_OUT = 'pixir.signed-out';
/** A page that waits for ever says nothing. */
const ANSWER_WITHIN_MS = 10_000;

/** Whoever signed in here; null: nobody, or somebody who signed out. It says who it was, and opens nothing. */
export const person = keptStore<Person | null>('person', null);

/** Whose drafts and queues lie in this browser. */
const owner = keptStore<string | null>('owner', null);

/** Believed until the server says otherwise. */
export const account = createStore<Account>(atFirst());

/** What became of the last launch link: one that met no server can be tried again. */
let link: { code: string; why: Why } | undefined;
let signedInTimes = 0;

/** Tells the other tabs, which have the same cookie. */
const tabs = new BroadcastChannel(`pixir.account ${atServer('').pathname}`);
tabs.onmessage = ({ data }: MessageEvent<Account['kind']>) => {
  if (isElsewhere || data === account.get().kind) return;
  if (data === 'out') leave();
  else {
    signedInTimes++;
    account.set({ kind: 'in' });
  }
};

/** Signs in by the launch link, where the page came by one. It belongs in no history, and is good for nothing any more. */
export async function redeemLaunchLink(): Promise<void> {
  const code = new URLSearchParams(location.hash.slice(1)).get('launch');
  if (code === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  // It makes a cookie, which is of no use to a page of another origin.
  if (!isElsewhere) await signInByLink(code);
}

/** Tries the launch link again that met no server; undefined where there is none. */
export function redeemAgain(): Promise<void> | undefined {
  return link?.why === 'unanswered_link' ? signInByLink(link.code) : undefined;
}

async function signInByLink(code: string): Promise<void> {
  const answer = await login({ code });
  const isUnanswered = answer.kind === 'out' && answer.why === 'unreachable';
  const next: Account = isUnanswered ? { kind: 'out', why: 'unanswered_link' } : answer;
  link = next.kind === 'out' ? { code, why: next.why } : undefined;
  // Whoever is signed in stays so, if the server agrees.
  if (next.kind === 'in' || account.get().kind === 'out') become(next);
}

export async function signIn({ token }: { token: string }): Promise<void> {
  become(await (isElsewhere ? tryTicket(token) : login({ token })));
}

function become(next: Account): void {
  if (next.kind === 'in') signedInTimes++;
  account.set(next);
  if (next.kind === 'in' && !isElsewhere) tabs.postMessage('in');
}

/** Counts up: what an older connection says of its credential is not about the newer one. */
export function signIns(): number {
  return signedInTimes;
}

/** The server has let this browser in. */
export function admitted(): void {
  if (account.get().kind !== 'in') account.set({ kind: 'in' });
  if (person.get() === null) person.set({});
}

/** The server does not accept what this browser has. @param before it did so earlier in the life of this page. */
export function notAdmitted(before: boolean): void {
  const now = account.get();
  const wasIn = now.kind === 'in' && (before || person.get() !== null);
  if (now.kind === 'in' || now.why === 'asking')
    account.set({ kind: 'out', why: (!before && link?.why) || (wasIn ? 'revoked' : 'never') });
  if (person.get() !== null) person.set(null);
}

async function login(by: { token: string } | { code: string }): Promise<Account> {
  const response = await post('api/login', by).catch(() => undefined);
  if (!response?.ok) return { kind: 'out', why: refusal(response?.status, 'code' in by ? 'used_link' : 'wrong_token') };
  becomes((await response.json().catch(() => ({}))) as Person);
  return { kind: 'in' };
}

async function tryTicket(token: string): Promise<Account> {
  const response = await askTicket(token).catch(() => undefined);
  if (!response?.ok) return { kind: 'out', why: refusal(response?.status, 'wrong_token') };
  sessionStorage.setItem(TOKEN, token);
  return { kind: 'in' };
}

function refusal(status: number | undefined, wrong: Refusal): Refusal {
  if (status === undefined || status >= 500) return 'unreachable';
  return status === 429 ? 'too_many' : wrong;
}

/** @throws when the server did not do it: then this browser is signed in still. */
export async function signOut(): Promise<void> {
  if (isElsewhere) sessionStorage.removeItem(TOKEN);
  else {
    const response = await post('api/logout', {});
    if (!response.ok && response.status !== 401) throw new Error('the server did not sign this browser out');
    tabs.postMessage('out');
  }
  leave();
}

/** What this device is like for everybody. */
const EVERYBODYS = ['settings', 'plainKeys'];

/** What somebody else has left in this browser, because they were not signed out but thrown out, is not for this person. */
function becomes(next: Person): void {
  const before = owner.get();
  owner.set(next.owner ?? null);
  person.set(next);
  if (before === null || before === owner.get()) return;
  forgetAll([...EVERYBODYS, 'owner', 'person']);
  forgetPrompts();
  location.reload();
}

/** Nothing of the person stays on this device or in memory, and the connection ends now and not when the server looks. */
function leave(): void {
  person.set(null);
  account.set({ kind: 'out', why: 'signed_out' });
  forgetAll(EVERYBODYS);
  forgetPrompts();
  sessionStorage.setItem(SIGNED_OUT, 'yes');
  cut();
  location.reload();
}

/** A single-use ticket for the next connection; only a page of another origin needs one. */
export const ticket: (() => Promise<string>) | undefined = isElsewhere ? takeTicket : undefined;

async function takeTicket(): Promise<string> {
  const token = sessionStorage.getItem(TOKEN) ?? (await tokenFromPerson());
  const response = await askTicket(token);
  if (response.status === 401) {
    sessionStorage.removeItem(TOKEN);
    account.set({ kind: 'out', why: 'revoked' });
  }
  if (!response.ok) throw new Error('no ticket');
  return ((await response.json()) as { ticket: string }).ticket;
}

/** Without one there is nothing to ask for: whoever connects waits until somebody has signed in. */
function tokenFromPerson(): Promise<string> {
  return new Promise((resolve) => {
    const stop = account.subscribe(() => {
      const token = sessionStorage.getItem(TOKEN);
      if (account.get().kind !== 'in' || token === null) return;
      stop();
      resolve(token);
    });
  });
}

function askTicket(token: string): Promise<Response> {
  return ask('api/tickets', { headers: { authorization: `Bearer ${token}` } });
}

function post(path: string, body: object): Promise<Response> {
  return ask(path, { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
}

function ask(path: string, request: RequestInit): Promise<Response> {
  return fetch(atServer(path), { method: 'POST', signal: AbortSignal.timeout(ANSWER_WITHIN_MS), ...request });
}

function atFirst(): Account {
  const hasSignedOut = sessionStorage.getItem(SIGNED_OUT) !== null;
  sessionStorage.removeItem(SIGNED_OUT);
  if (hasSignedOut) return { kind: 'out', why: 'signed_out' };
  if (isElsewhere) return sessionStorage.getItem(TOKEN) === null ? { kind: 'out', why: 'never' } : { kind: 'in' };
  return person.get() === null ? { kind: 'out', why: 'asking' } : { kind: 'in' };
}
