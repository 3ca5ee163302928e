/** What a person sees whom the server does not know: why, and what to do about it. What they type is sent to the server and kept nowhere else. */
import { Eye, EyeOff } from 'lucide-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { usePage } from '../page.tsx';
import { type Account, account, redeemAgain, signIn } from '../server/account.ts';
import { atServer, isElsewhere } from '../server/home.ts';
import { wire } from '../server/wire-tap.ts';
import { useStore } from '../state/store.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { explanation } from './status.ts';
import { isAlarm, steady } from './steady.ts';
import './sign-in.css';

type Why = Extract<Account, { kind: 'out' }>['why'];

export function SignIn() {
  const why = useStore(account, (now) => (now.kind === 'out' ? now.why : 'asking'));
  const { status } = useStore(steady);
  const isAsking = why === 'asking' && !isAlarm(status);
  return (
    <main className="sign-in">
      <div className="sign-in-column">
        <img className="sign-in-icon" src="./assets/icon.svg" alt="" width={44} height={44} />
        {!isAsking && (
          <>
            <h1>Sign in to Pixir</h1>
            <Unreachable />
            <TokenForm why={why} />
            <WaysIn />
          </>
        )}
      </div>
    </main>
  );
}

/** The connection tries by itself; a launch link that met no server is tried by hand. */
function Unreachable() {
  const { client } = usePage();
  const { status } = useStore(steady);
  const lastStatus = useStore(wire, ({ lastStatus }) => lastStatus);
  const why = useStore(account, (now) => (now.kind === 'out' ? now.why : undefined));
  if (!isAlarm(status) && why !== 'unanswered_link') return null;
  return (
    <div className="sign-in-notice" role="status">
      <p>{isAlarm(status) ? explanation(status, lastStatus) : `${atServer('').host} does not answer.`}</p>
      <Button small onClick={() => void (redeemAgain() ?? client.retry())}>
        Retry
      </Button>
    </div>
  );
}

/** The person's own doing was not at fault: said above the field. */
const NOTICES: Partial<Record<Why, string>> = {
  used_link: 'That launch link has been used, or is older than a minute. It works once.',
  revoked: 'You were signed in, but that is over: the token was revoked or has expired. Nothing is lost.',
  signed_out: 'You are signed out. Your Sessions go on at the server.',
};

/** Said at the field. */
const ERRORS: Partial<Record<Why, string>> = {
  wrong_token: 'The server does not know this token.',
  too_many: 'Too many wrong attempts from here. Check what you copied, wait a minute, and try again.',
  unreachable: isElsewhere
    ? 'The server did not answer, or does not allow pages from this address. Nothing was signed in.'
    : 'The server did not answer. Try again in a moment.',
};

function TokenForm({ why }: { why: Why }) {
  const field = useRef<HTMLInputElement>(null);
  const [isShown, setShown] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [hasTried, setTried] = useState(false);
  const error = hasTried && !isBusy ? ERRORS[why] : undefined;
  const notice = hasTried ? undefined : (NOTICES[why] ?? (why === 'too_many' ? ERRORS.too_many : undefined));
  useEffect(() => field.current?.focus(), []);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const token = field.current?.value.trim() ?? '';
    if (token === '' || isBusy) return;
    setTried(true);
    setBusy(true);
    await signIn({ token });
    setBusy(false);
    field.current?.select();
  }

  return (
    <form className="sign-in-form" onSubmit={(event) => void submit(event)}>
      {notice && (
        <p id="sign-in-notice" className="sign-in-notice">
          {notice}
        </p>
      )}
      <label className="field-label" htmlFor="sign-in-token">
        Token
      </label>
      <div className="sign-in-field">
        <input
          ref={field}
          id="sign-in-token"
          className="input"
          type={isShown ? 'text' : 'password'}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          required
          aria-invalid={error !== undefined}
          aria-describedby={error ? 'sign-in-error' : notice ? 'sign-in-notice' : undefined}
        />
        <IconButton
          icon={isShown ? EyeOff : Eye}
          label={isShown ? 'Hide the token' : 'Show the token'}
          onClick={() => setShown(!isShown)}
        />
      </div>
      <p id="sign-in-error" className="sign-in-error" role="alert">
        {error}
      </p>
      <Button type="submit" look="primary" aria-disabled={isBusy}>
        {isBusy && <span className="spinner" />}
        {isBusy ? 'Signing in…' : 'Sign in'}
      </Button>
    </form>
  );
}

function WaysIn() {
  return (
    <section className="sign-in-ways" aria-labelledby="sign-in-ways">
      <h2 id="sign-in-ways">How to get in</h2>
      {!isElsewhere && (
        <Way command="pixir serve">
          prints a link when it starts. Open it here: it signs this browser in, once, within a minute.
        </Way>
      )}
      <Way command="pixir token create browser">
        {isElsewhere
          ? `prints a token. Run it where ${atServer('').host} runs, and paste what it prints above.`
          : 'prints a token, beside a server that runs already. Paste it above.'}
      </Way>
    </section>
  );
}

function Way({ command, children }: { command: string; children: string }) {
  return (
    <div className="sign-in-way">
      <div className="sign-in-command">
        <code>{command}</code>
        <CopyButton text={command} label={`Copy ${command}`} />
      </div>
      <p>{children}</p>
    </div>
  );
}
