/** The rules of a Session: what is decided without asking. Each can be revoked; the server's list is the truth. */
import { ShieldCheck, ShieldX } from 'lucide-react';
import { useCallback, useEffect, useState } from 'react';
import { usePage } from '../page.tsx';
import type { Client } from '../server/client.ts';
import type { OpenSession } from '../state/open-session.ts';
import { useStore } from '../state/store.ts';
import { announce } from '../ui/announce.ts';
import { Button } from '../ui/button.tsx';
import { visible } from './plain-text.ts';

type Rules = Awaited<ReturnType<typeof requestRules>>['rules'];

const requestRules = (client: Client, sessionId: string) => client.request('_pixir/session/permissions', { sessionId });

export function RememberedDecisions({ session }: { session: OpenSession }) {
  const { rules, problem, revoke } = useRules(session);
  return (
    <section className="plan-section">
      <h3>Remembered decisions</h3>
      {problem !== undefined && <p className="plan-problem">{problem}</p>}
      {rules?.length === 0 && <p className="plan-empty">None. What you always allow or reject is listed here.</p>}
      {rules && rules.length > 0 && (
        <ul className="rules">
          {rules.map((rule) => (
            <Rule key={rule.ruleId} rule={rule} onRevoke={() => revoke(rule)} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Rule({ rule: { decision, text, by, at }, onRevoke }: { rule: Rules[number]; onRevoke(): void }) {
  const Icon = decision === 'allow' ? ShieldCheck : ShieldX;
  const when = new Date(at);
  return (
    <li className="rule">
      <Icon size={16} className={decision === 'allow' ? 'rule-allow' : 'rule-deny'} aria-hidden />
      <div>
        <p className="rule-text">{visible(text)}</p>
        <p className="rule-origin" title={at}>
          {visible(by)}, {when.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })}
        </p>
      </div>
      <Button small look="quiet" aria-label={`Revoke: ${visible(text)}`} onClick={onRevoke}>
        Revoke
      </Button>
    </li>
  );
}

/** Read when they are first shown, and when something was decided since. */
function useRules({ sessionId, view }: OpenSession) {
  const { client } = usePage();
  const [rules, setRules] = useState<Rules>();
  const [problem, setProblem] = useState<string>();
  const waiting = useStore(view, ({ permissions }) => permissions);

  const read = useCallback(async () => {
    try {
      setRules((await requestRules(client, sessionId)).rules);
      setProblem(undefined);
    } catch {
      setProblem('The list could not be read.');
    }
  }, [client, sessionId]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what was decided may have become a rule.
  useEffect(() => void read(), [read, waiting]);

  async function revoke({ ruleId, text }: Rules[number]): Promise<void> {
    try {
      await client.request('_pixir/session/permissions/revoke', { sessionId, ruleId });
      announce(`Revoked: ${text}`);
    } catch {
      // Revoked twice, or by somebody else: the list says it.
      announce('It was not revoked');
    }
    await read();
  }

  return { rules, problem, revoke: (rule: Rules[number]) => void revoke(rule) };
}
