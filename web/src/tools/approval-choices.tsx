/** The choices of a question. What is remembered shows its whole rule first, and takes a second step. */
import type { PermissionOption } from '@agentclientprotocol/sdk';
import { useId, useState } from 'react';
import { Button } from '../ui/button.tsx';
import type { Choices } from './approval-words.ts';

interface ApprovalChoicesProps {
  choices: Choices;
  /** Not yet: what comes so quickly was meant for something else. */
  isReady: boolean;
  onAnswer(optionId: string): void;
}

export function ApprovalChoices({ choices, isReady, onAnswer }: ApprovalChoicesProps) {
  const { once, always, reject, never } = choices;
  const [asked, setAsked] = useState<'always' | 'never'>();
  const ruleId = useId();
  const rule = asked === 'always' ? always : asked === 'never' ? never : undefined;

  const disclose = (which: 'always' | 'never', label: string) => (
    <Button
      look="quiet"
      aria-expanded={asked === which}
      aria-controls={asked === which ? ruleId : undefined}
      onClick={() => setAsked(asked === which ? undefined : which)}
    >
      {label}
    </Button>
  );

  return (
    <footer className="approval-foot">
      <div className="approval-buttons">
        {once && (
          <Button look="primary" disabled={!isReady} aria-keyshortcuts="a" onClick={() => onAnswer(once.optionId)}>
            Allow once <kbd aria-hidden>a</kbd>
          </Button>
        )}
        {reject && (
          <Button disabled={!isReady} aria-keyshortcuts="r" onClick={() => onAnswer(reject.optionId)}>
            Reject <kbd aria-hidden>r</kbd>
          </Button>
        )}
        <span className="approval-remembered">
          {always && disclose('always', 'Always allow…')}
          {never && disclose('never', 'Always reject…')}
        </span>
      </div>
      {rule && (
        <Rule key={rule.optionId} id={ruleId} rule={rule} onAnswer={onAnswer} onCancel={() => setAsked(undefined)} />
      )}
    </footer>
  );
}

interface RuleProps {
  id: string;
  rule: PermissionOption;
  onAnswer(optionId: string): void;
  onCancel(): void;
}

function Rule({ id, rule, onAnswer, onCancel }: RuleProps) {
  return (
    <div id={id} className="approval-rule">
      <p>
        A rule of this Session, until you revoke it in the plan panel:
        <strong>{rule.name}</strong>
      </p>
      <div className="approval-buttons">
        <Button
          small
          look={rule.kind === 'allow_always' ? 'primary' : 'danger'}
          onClick={() => onAnswer(rule.optionId)}
        >
          {rule.kind === 'allow_always' ? 'Allow and remember' : 'Reject and remember'}
        </Button>
        <Button small look="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </div>
  );
}
