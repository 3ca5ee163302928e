/** What the person has chosen for this browser, and where it is connected to. Nothing here changes the server or a Session. */
import { type ReactNode, useId, useState } from 'react';
import { usePage } from '../page.tsx';
import { person, signOut } from '../server/account.ts';
import { atServer } from '../server/home.ts';
import { type Settings as Choices, choose, settings } from '../state/settings.ts';
import { show } from '../state/shell.ts';
import { useStore } from '../state/store.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import './settings.css';

export function Settings({ onClose }: { onClose(): void }) {
  const { theme, diff, enterSends } = useStore(settings);
  return (
    <Dialog title="Settings" onClose={onClose} className="settings">
      <Choice
        name="theme"
        label="Theme"
        value={theme}
        options={{ system: 'System', light: 'Light', dark: 'Dark' }}
        onChoose={(theme: Choices['theme']) => choose({ theme })}
      />
      <Choice
        name="diff"
        label="Diffs"
        value={diff}
        options={{ unified: 'Unified', split: 'Side by side' }}
        onChoose={(diff: Choices['diff']) => choose({ diff })}
      />
      <Switch
        label="Enter sends"
        note={`${enterSends ? 'Shift and' : 'Ctrl or Cmd with'} Enter ${enterSends ? 'begins a new line.' : 'sends; Enter alone begins a new line.'}`}
        checked={enterSends}
        onChange={(enterSends) => choose({ enterSends })}
      />
      <Notifications />
      <WhereAndWho />
      <Leave />
    </Dialog>
  );
}

interface ChoiceProps<T extends string> {
  name: string;
  label: string;
  value: T;
  options: Record<T, string>;
  onChoose(value: T): void;
}

function Choice<T extends string>({ name, label, value, options, onChoose }: ChoiceProps<T>) {
  return (
    <fieldset className="settings-row settings-choice">
      <legend>{label}</legend>
      <div className="settings-segments">
        {(Object.entries(options) as [T, string][]).map(([key, text]) => (
          <label key={key}>
            <input type="radio" name={name} value={key} checked={key === value} onChange={() => onChoose(key)} />
            <span>{text}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface SwitchProps {
  label: string;
  note: ReactNode;
  checked: boolean;
  disabled?: boolean;
  onChange(checked: boolean): void;
}

function Switch({ label, note, checked, disabled, onChange }: SwitchProps) {
  const id = useId();
  return (
    <label className="settings-row settings-switch">
      <span>
        <span id={`${id}-label`}>{label}</span>
        <span id={`${id}-note`} className="settings-note">
          {note}
        </span>
      </span>
      <input
        type="checkbox"
        aria-labelledby={`${id}-label`}
        aria-describedby={`${id}-note`}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
    </label>
  );
}

/** The browser is asked only when the person wants it: a question that comes by itself is refused for good. */
function Notifications() {
  const { notify } = useStore(settings);
  const [permission, setPermission] = useState(permissionNow);

  async function change(wanted: boolean): Promise<void> {
    const given = wanted && permission !== 'none' ? await Notification.requestPermission() : permission;
    setPermission(given);
    choose({ notify: wanted && given === 'granted' });
  }
  return (
    <Switch
      label="Notifications"
      note={<span aria-live="polite">{NOTES[permission]}</span>}
      checked={notify && permission === 'granted'}
      disabled={permission === 'none' || permission === 'denied'}
      onChange={(wanted) => void change(wanted)}
    />
  );
}

type Allowed = NotificationPermission | 'none';

const NOTES: Record<Allowed, string> = {
  default: 'When a Session needs you or a Turn has ended, and no tab of Pixir is in sight. The browser will ask.',
  granted: 'When a Session needs you or a Turn has ended, and no tab of Pixir is in sight.',
  denied: 'The browser refuses them for this page. Allow them in its settings of this site, then open this again.',
  none: 'This browser has none for pages like this one: it needs https, or localhost.',
};

function permissionNow(): Allowed {
  return 'Notification' in globalThis && isSecureContext ? Notification.permission : 'none';
}

const SANDBOXES: Record<string, string> = {
  bubblewrap: 'Commands run in a sandbox',
  none: 'Commands run without a sandbox',
};

function WhereAndWho() {
  const { client } = usePage();
  const { name, owner, scopes } = useStore(person) ?? {};
  const { agentInfo, agentCapabilities } = client.server ?? {};
  const { sandbox } = (agentCapabilities?._meta?.pixir ?? {}) as { sandbox?: string };
  return (
    <section className="settings-about" aria-label="Connection">
      <dl>
        <dt>Server</dt>
        <dd>{agentInfo ? `${agentInfo.name} ${agentInfo.version}` : 'Not connected yet'}</dd>
        <dt>Address</dt>
        <dd className="settings-address">{atServer('').href}</dd>
        {sandbox !== undefined && (
          <>
            <dt>Sandbox</dt>
            <dd>{SANDBOXES[sandbox] ?? sandbox}</dd>
          </>
        )}
        {name !== undefined && (
          <>
            <dt>Signed in</dt>
            <dd>
              {owner} <span className="settings-token">by token {name}</span>
            </dd>
          </>
        )}
        {scopes !== undefined && (
          <>
            <dt>May</dt>
            <dd>{scopes.join(', ')}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Leave() {
  const [state, setState] = useState<'idle' | 'busy' | 'failed'>('idle');
  async function leave(): Promise<void> {
    setState('busy');
    await signOut().catch(() => setState('failed'));
  }
  return (
    <div className="settings-foot">
      <Button look="quiet" onClick={(event) => showKeys(event.currentTarget.closest('dialog'))}>
        Keyboard help
      </Button>
      <Button look="danger" disabled={state === 'busy'} onClick={() => void leave()}>
        Sign out
      </Button>
      <p role="alert">
        {state === 'failed' && 'The server did not answer, so this browser is still signed in. Try again.'}
      </p>
    </div>
  );
}

/** After this dialog has closed, and has given the focus back: the next one returns it to the same place. */
function showKeys(dialog: HTMLDialogElement | null): void {
  dialog?.addEventListener('close', () => show({ dialog: 'keys' }), { once: true });
  dialog?.close();
}
