/** What the keyboard does, drawn from the same table that runs it. */
import { useStore } from '../state/store.ts';
import { Dialog } from '../ui/dialog.tsx';
import { keycaps } from './combos.ts';
import { isApple, KEYS, type Key, plainKeys } from './keys.ts';
import './keys-dialog.css';

/** What its own place listens for. */
const ELSEWHERE: readonly { where: string; keys: readonly Key[] }[] = [
  {
    where: 'In the prompt',
    keys: [
      { combos: ['Enter'], what: 'Send (see Settings)' },
      { combos: ['Shift+Enter'], what: 'New line' },
      { combos: ['/'], what: 'Commands, at the beginning' },
      { combos: ['@'], what: 'Files' },
      { combos: ['Escape Escape'], what: 'Stop the Turn' },
      { combos: ['Escape'], what: 'Leave it, when nothing runs' },
    ],
  },
  {
    where: 'On a question',
    keys: [
      { combos: ['a'], what: 'Allow once' },
      { combos: ['r'], what: 'Reject' },
    ],
  },
];

export function KeysDialog({ onClose }: { onClose(): void }) {
  const isOn = useStore(plainKeys);
  return (
    <Dialog title="Keyboard" onClose={onClose} className="keys-dialog">
      <div className="keys-groups">
        {[...KEYS, ...ELSEWHERE].map(({ where, keys }) => (
          <section key={where}>
            <h3>{where}</h3>
            <dl>
              {keys.map((key) => (
                <div key={key.what}>
                  <dt>{key.what}</dt>
                  <dd>
                    <Combos combos={key.combos} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <label className="keys-choice">
        <input type="checkbox" checked={isOn} onChange={(event) => plainKeys.set(event.target.checked)} />
        Also use keys without {isApple ? '⌘ or ⌥' : 'Ctrl or Alt'}
      </label>
    </Dialog>
  );
}

function Combos({ combos }: { combos: readonly string[] }) {
  const [first, last] = [combos[0] ?? '', combos.at(-1) ?? ''];
  const isRange = combos.length > 2;
  return (isRange ? [first, last] : combos).map((combo, index) => (
    <span key={combo} className="keys-combo">
      {index > 0 && <span className="keys-or">{isRange ? 'to' : 'or'}</span>}
      {keycaps(combo, isApple).map((cap, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they never change, and two may be the same.
        <kbd key={place}>{cap}</kbd>
      ))}
    </span>
  ));
}
